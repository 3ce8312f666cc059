"""Types of values: their classes, and conversion to them."""
