"""The window operator, and its faster ways through the common cases."""
