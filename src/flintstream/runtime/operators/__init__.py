"""Operators, which run user functions, sources and sinks inside a subtask."""
