"""Dates, times and timestamps in expressions, and their texts."""
