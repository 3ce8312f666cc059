"""Conditions for retrying an async function (PyFlink's ``async_retry_predicates``)."""

from __future__ import annotations

from typing import Any

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]


def empty_result_predicate(result: list[Any] | None) -> bool:
    """Return whether there is no result.

    >>> empty_result_predicate([]), empty_result_predicate([None])
    (True, False)
    """
    return result is None or len(result) == 0


def has_exception_predicate(error: BaseException | None) -> bool:
    """Return whether there was an exception.

    >>> has_exception_predicate(OSError("timeout")), has_exception_predicate(None)
    (True, False)
    """
    return error is not None


def exception_type_predicate(error: BaseException | None, expected_error_type: type[BaseException]) -> bool:
    """Return whether the exception has a type. Bind ``expected_error_type`` with ``functools.partial``.

    >>> exception_type_predicate(KeyError("k"), LookupError)
    True
    """
    return isinstance(error, expected_error_type)
