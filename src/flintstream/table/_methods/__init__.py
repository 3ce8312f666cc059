"""The methods of expressions."""
