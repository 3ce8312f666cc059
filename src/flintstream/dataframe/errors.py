"""Errors of the layer below as the errors of Python that this one promises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from flintstream.table._errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__: list[str] = []


@contextmanager
def as_value_errors() -> Iterator[None]:
    """Raise a plain ValueError for what a statement or descriptor has wrong.

    >>> with as_value_errors():
    ...     raise SqlError("no such table")
    Traceback (most recent call last):
    ValueError: no such table

    Raises:
        ValueError: The block raised an error of a statement.
    """
    try:
        yield
    except SqlError as error:
        raise ValueError(str(error)) from error
