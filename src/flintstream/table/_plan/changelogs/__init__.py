"""Changes as rows, rows as changes, and what changes ask of functions."""
