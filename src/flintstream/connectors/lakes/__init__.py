"""Sinks of Delta Lake and Iceberg: tasks write files, and the driver adds those of a checkpoint to the table."""
