"""The commands for SQL."""
