"""Functions of expressions and of users."""
