"""Compiled plans: statements with what they need, as JSON, and back."""
