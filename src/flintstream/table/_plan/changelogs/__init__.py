"""Changes as rows, and rows as changes."""
