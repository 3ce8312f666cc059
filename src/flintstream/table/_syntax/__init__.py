"""Expressions as programs write them, and literals."""
