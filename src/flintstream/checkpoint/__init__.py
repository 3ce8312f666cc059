"""The file formats and settings of checkpoints and savepoints."""
