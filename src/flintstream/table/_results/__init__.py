"""Tables on their way to a result, and results as text and as data of pandas."""
