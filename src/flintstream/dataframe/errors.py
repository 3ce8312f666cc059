"""Errors of the layer below as the errors of Python that this one promises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from flintstream.table._errors import ModeError, SqlError, UnsupportedClauseError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__: list[str] = []


@contextmanager
def as_value_errors(prefix: str = "") -> Iterator[None]:
    """Raise a plain ValueError in the words of Flink for what a statement or descriptor has wrong; its cause says more.

    >>> with as_value_errors():
    ...     raise SqlError("no such table")
    Traceback (most recent call last):
    ValueError: no such table

    Raises:
        ValueError: The block raised an error of a statement.
    """
    try:
        yield
    except ModeError:  # as PyFlink, whose error of Java it is
        raise
    except SqlError as error:
        raise ValueError(f"{prefix}{error.java_exception.getMessage()}") from error
    except UnsupportedClauseError as error:  # PyFlink raises a Py4JJavaError for it
        raise ValueError(f"{prefix}{error}") from SqlError(str(error))
