"""Values and types as texts, the same for PyFlink's and ours."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any


def text_of(value: Any) -> str:
    """Return an expression that :func:`value_of` evaluates to an equal value."""
    if isinstance(value, dt.datetime):
        return f"datetime({', '.join(map(str, value.timetuple()[:6]))}, {value.microsecond})"
    if isinstance(value, dt.date):
        return f"date({value.year}, {value.month}, {value.day})"
    if isinstance(value, dt.time):
        return f"time({value.hour}, {value.minute}, {value.second}, {value.microsecond})"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, tuple):
        return f"({''.join(text_of(part) + ', ' for part in value)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{text_of(key)}: {text_of(part)}' for key, part in value.items())}}}"
    kind = type(value).__name__
    if kind == "Row":
        return f"Row({', '.join(map(text_of, value))})"
    if kind == "Instant":
        return f"Instant({value.seconds}, {value.nanos})"
    return repr(value)


def value_of(text: str, names: dict[str, Any]) -> Any:
    """Evaluate ``text``, in which ``Row``, ``Instant`` and ``Types`` are those of ``names``."""
    own = {"Decimal": Decimal, "nan": float("nan"), "inf": float("inf")}
    times = {"date": dt.date, "time": dt.time, "datetime": dt.datetime}
    return eval(text, {**own, **times, **names})  # noqa: S307 - written in this directory
