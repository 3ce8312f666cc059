"""Patterns of LIKE, SIMILAR and regular expressions, as Java reads them."""
