"""Functions of programs: what they are, and how tasks run them."""
