"""Joins: what they keep of both sides, and what they emit for each row."""
