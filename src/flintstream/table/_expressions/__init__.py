"""Expressions of tables: their types, their meaning, and the Python code they become."""
