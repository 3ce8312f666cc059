"""The state of a subtask between epochs: logged, written for checkpoints, restored."""
