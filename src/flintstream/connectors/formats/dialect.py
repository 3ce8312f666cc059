"""What a text of separated values looks like."""

from __future__ import annotations

from dataclasses import dataclass

from flintstream.errors import PlanError


@dataclass(frozen=True)
class CsvDialect:
    """The characters of a text of separated values."""

    delimiter: str = ","
    """Between columns."""
    quote: str | None = '"'
    """Around values that contain special characters; None if nothing is quoted."""
    escape: str | None = None
    """Before a character that is to be taken as it is; None if there is no such."""
    null_literal: str | None = None
    """What None is written as, and read from. If None, it is written as nothing, and nothing read as None."""
    array_delimiter: str = ";"
    """Between the elements of an array whose column has no delimiter of its own."""
    line_delimiter: str = "\n"
    """After a row that is written. Rows that are read may end as they like."""
    allow_comments: bool = False
    """Whether lines that begin with ``#`` are passed over."""


def one_character(value: object, what: str) -> str:
    """Return ``value`` if it is one character.

    Raises:
        PlanError: It is not.
    """
    if not isinstance(value, str) or len(value) != 1:
        raise PlanError(f"{what} must be a single character, got {value!r}")
    return value
