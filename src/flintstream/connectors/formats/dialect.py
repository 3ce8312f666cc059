"""CSV dialects."""

from __future__ import annotations

from dataclasses import dataclass

from flintstream.errors import PlanError


@dataclass(frozen=True)
class CsvDialect:
    """The special characters of a CSV text."""

    delimiter: str = ","
    """Between columns."""
    quote: str | None = '"'
    """Around values that contain special characters; None to quote nothing."""
    escape: str | None = None
    """Makes the next character literal; None for no escape character."""
    null_literal: str | None = None
    """The text that represents None. If None, None is written as an empty string, and no string is read as None."""
    array_delimiter: str = ";"
    """Between the elements of an array, unless the column has its own delimiter."""
    line_delimiter: str = "\n"
    """Written after each row. Reading accepts any line ending."""
    allow_comments: bool = False
    """Whether to skip lines that start with ``#``."""


def one_character(value: object, what: str) -> str:
    """Return ``value`` if it is a single character.

    Raises:
        PlanError: It is not a single character.
    """
    if not isinstance(value, str) or len(value) != 1:
        raise PlanError(f"{what} must be a single character, but got {value!r}")
    return value
