"""Logical plans of tables, and the transformations of streams they become."""
