"""Catalogs as programs see them."""
