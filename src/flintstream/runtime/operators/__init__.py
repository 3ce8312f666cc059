"""Operators: what runs a function of the user, a source or a sink inside a subtask."""
