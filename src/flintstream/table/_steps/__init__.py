"""Tables between two calls, such as `group_by()` and `select()`, and the names of their columns."""
