"""The texts of all systems. Imports only the standard library."""


def text_of(number: int) -> str:
    """Return the text of a number: the number, and again as a count, which tables have in another column."""
    return f"{number} {number}"
