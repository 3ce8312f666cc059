"""Types of values: their classes, and the conversion of values to them."""
