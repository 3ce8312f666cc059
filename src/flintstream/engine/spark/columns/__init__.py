"""Columns of DataFrames: how our types and values become those of Spark, and back."""
