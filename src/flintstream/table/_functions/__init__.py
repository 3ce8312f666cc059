"""Functions of the Table API: methods of expressions, and functions that users write."""
