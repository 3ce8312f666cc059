"""Checkpoints and savepoints as files: their format, and where they are kept."""
