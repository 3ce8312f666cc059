"""What the statements of a program share, and how declared tables are read and written."""
