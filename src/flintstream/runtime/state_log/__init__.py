"""State of a subtask between epochs: the log, its part of checkpoints, and restoring."""
