"""From a program to a job plan: pure functions over plain data, no Spark."""
