"""The code of aggregates: what they do with each row, with a block of rows, and with partial results."""
