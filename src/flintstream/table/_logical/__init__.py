"""Logical plans."""
