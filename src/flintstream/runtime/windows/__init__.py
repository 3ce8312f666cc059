"""The window operator, and fast paths for its common cases."""
