"""Statements about what a catalog holds beside tables: models, statistics, and how a table is described."""
