"""The parts of the environment, and the way from a program to its job."""
