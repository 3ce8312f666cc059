"""Checks of arguments: a wrong type is a TypeError, a wrong value of the right type a ValueError."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

INT_MAX = (1 << 31) - 1
"""The most rows that a limit can have, as in Flink."""


def require_int(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number within bounds.

    >>> require_int(3, "n", 1)
    3

    Raises:
        TypeError: It is none, or a bool.
        ValueError: It is outside the bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer")
    _require_range(value, name, least, most)
    return value


def require_number(
    value: object, name: str, least: float | None = None, most: float | None = None, *, above: float | None = None
) -> float:
    """Return a finite number within bounds; it must be greater than ``above``.

    Raises:
        TypeError: It is none, or a bool.
        ValueError: It is outside the bounds, or not finite.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number")
    if not isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    if above is not None and value <= above:
        raise ValueError(f"{name} must be greater than {above}, got {value}")
    _require_range(value, name, least, most)
    return value


def _require_range(value: float, name: str, least: float | None, most: float | None) -> None:
    if least is not None and value < least:
        wanted = "non-negative" if least == 0 and name == "n" else f"at least {least}"
        raise ValueError(f"{name} must be {wanted}, got {value}")
    if most is not None and value > most:
        raise ValueError(f"{name} must be less than or equal to {most}, got {value}")


def require_rows(value: object) -> int:
    """Return a number of rows.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is negative, or more than Flink's limits can be.
    """
    return require_int(value, "n", 0, INT_MAX)


def require_text(value: object, name: str) -> str:
    """Return a text that is not empty.

    Raises:
        TypeError: It is not a text.
        ValueError: It is empty.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string")
    if not value:
        raise ValueError(f"{name} must not be empty")
    return value


def require_bool(value: object, name: str) -> bool:
    """Return a bool.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a boolean")
    return value


def require_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """Return one of some texts.

    Raises:
        ValueError: It is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {list(choices)}, got {value!r}")
    return value


def texts_of(value: object, name: str) -> list[str] | None:
    """Return the names that an argument gives: a text, or a list of them; None if there is none.

    Raises:
        TypeError: It is neither.
        ValueError: It is an empty list.
    """
    if value is None:
        return None
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, (list, tuple)):
        raise TypeError(f"{name} must be a string or a list of strings")
    if not found:
        raise ValueError(f"{name} must not be empty")
    names = [item for item in found if isinstance(item, str)]
    if len(names) != len(found):
        raise TypeError(f"{name} must be a string or a list of strings")
    return names
