"""Checkpoints and savepoints, output until it is committed, and recovery."""
