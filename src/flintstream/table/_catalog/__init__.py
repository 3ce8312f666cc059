"""What the statements of a program share: tables, views, functions and settings."""
