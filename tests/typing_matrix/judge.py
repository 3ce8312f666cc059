# mypy: disable-error-code="import-not-found,import-untyped"
"""Describe a received value, and judge whether it is equal to the sent one."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import struct
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from types import GeneratorType
from typing import Any

import numpy as np
from tests.typing_matrix.api import Instant, Row


def describe(value: Any) -> str:  # noqa: C901, PLR0911 - one rule after the other
    """Return the type and the contents of a value, the same text on every engine."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, Row):
        names = getattr(value, "_fields", None) or [""] * len(value)
        parts = [f"{name}=" * bool(name) + describe(part) for name, part in zip(names, value, strict=True)]
        return f"Row{value.get_row_kind()}[{', '.join(parts)}]"
    if isinstance(value, Mapping):
        return f"{kind} {{{', '.join(f'{describe(k)}: {describe(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"{kind} [{', '.join(map(describe, value))}]"
    if isinstance(value, (set, frozenset)):
        return f"{kind} {sorted(map(describe, value))}"
    if isinstance(value, enum.Enum):
        return f"{kind} {value.name}"
    if isinstance(value, str):
        return f"{kind} {str.__repr__(value)}"
    if isinstance(value, int):
        return f"{kind} {int.__repr__(value)}"
    if isinstance(value, float):
        return f"{kind} {float.__repr__(value)}"
    if isinstance(value, Instant):
        return f"Instant {value.seconds}.{value.nanos:09d}"
    if isinstance(value, np.generic):
        return f"np.{kind} {value.item()!r}"
    if isinstance(value, memoryview):
        return f"{kind} {bytes(value)!r}"
    if isinstance(value, GeneratorType):
        return kind
    if isinstance(value, np.ndarray):
        return f"{kind} {value.tolist()!r}"
    if dataclasses.is_dataclass(value) or not hasattr(value, "__dict__") or isinstance(value, type):
        return f"{kind} {value!r}"
    return f"{kind} {describe(vars(value))}" if vars(value) else kind


def survives(type_name: str, sent: Any, got: Any) -> bool:
    """Return whether ``got`` is the sent value, unchanged or in an obvious, lossless conversion to the type."""
    try:
        return _survives(type_name, sent, got)
    except (TypeError, ValueError, OverflowError, ArithmeticError, AttributeError):
        return False


def _survives(type_name: str, sent: Any, got: Any) -> bool:  # noqa: C901, PLR0911, PLR0912 - one rule after the other
    if sent is None or got is None:
        return sent is got
    if isinstance(sent, np.generic) and not isinstance(got, np.generic):
        sent = sent.item()
    if isinstance(sent, Row) and isinstance(got, Row) and sent.get_row_kind() != got.get_row_kind():
        return False
    if isinstance(got, bool) and isinstance(sent, (int, float, Decimal)):
        return got == bool(sent)  # BOOLEAN uses the truth value of a number
    if isinstance(sent, Fraction) and not isinstance(got, Fraction):
        sent = float(sent)
    if isinstance(sent, str) and isinstance(got, Decimal):
        return Decimal(str.__str__(sent)) == got
    if isinstance(sent, (int, float, Decimal)) and isinstance(got, (int, float, Decimal)):
        return _same_number(type_name, sent, got)
    if isinstance(got, str):
        return _same_text(sent, got)
    if isinstance(sent, (bytes, bytearray, memoryview)):
        return isinstance(got, (bytes, bytearray, memoryview)) and bytes(sent) == bytes(got)
    if isinstance(sent, (dt.date, dt.time)):
        return _same_time(sent, got)
    if isinstance(sent, Instant):
        return isinstance(got, Instant) and (sent.seconds, sent.nanos) == (got.seconds, got.nanos)
    names = _names(got)
    parts = _fields(sent)
    if parts == {} and isinstance(got, Row):
        return all(part is None for part in got)
    if parts is not None and names is not None:
        if isinstance(sent, Row) and not set(parts) & set(names):  # other names: by position
            return len(parts) == len(names) and all(map(_survives, [""] * len(parts), sent, got))
        return set(parts) <= set(names) and all(_survives("", parts.get(n), v) for n, v in names.items())
    if parts is not None and isinstance(got, Mapping):
        return len(parts) == len(got) and all(
            any(_survives("", k, other) and _survives("", v, part) for other, part in got.items())
            for k, v in parts.items()
        )
    if isinstance(sent, np.ndarray):
        sent, got = sent.tolist(), got.tolist() if isinstance(got, np.ndarray) else got
    if isinstance(sent, AbstractSet) and isinstance(got, (list, tuple)):
        return len(sent) == len(got) and all(any(_survives("", part, other) for other in got) for part in sent)
    if isinstance(got, (Sequence, Row)) and _is_sequence(sent):
        ours, theirs = list(sent), list(got)
        return len(ours) == len(theirs) and all(map(_survives, [""] * len(ours), ours, theirs))
    return bool(type(sent) is type(got) and sent == got)


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, bytearray, Mapping, AbstractSet))


def _names(value: Any) -> dict[str, Any] | None:
    """Return the fields of a row with the program's names."""
    names = getattr(value, "_fields", None) if isinstance(value, Row) else None
    if not names or all(name == f"f{i}" for i, name in enumerate(names)):
        return None
    return dict(zip(names, value, strict=True))


def _fields(value: Any) -> dict[Any, Any] | None:
    """Return the values of names in a mapping, a row or an object."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Row):
        return _names(value)
    if isinstance(value, (str, int, float, tuple, list, dt.date, dt.time)):
        return None
    return dict(vars(value)) if hasattr(value, "__dict__") else None


def _same_number(type_name: str, sent: Any, got: Any) -> bool:
    if isinstance(sent, Decimal) and isinstance(got, Decimal):
        return str(sent) == str(got) or (not sent.is_nan() and sent == got)
    if math.isnan(sent):
        return math.isnan(got)
    if type_name == "FLOAT":  # which has 32 bits by definition
        return bool(struct.unpack("f", struct.pack("f", sent))[0] == got)
    if isinstance(sent, Decimal) and isinstance(got, float):
        return float(sent) == got  # the nearest value of 64 bits
    if isinstance(sent, float) and isinstance(got, Decimal):
        return float(got) == sent
    return bool(sent == got)


def _same_text(sent: Any, got: str) -> bool:
    if isinstance(sent, str):
        return str.__eq__(sent, got)
    if isinstance(sent, bool):
        return got.lower() == str(sent).lower()
    if isinstance(sent, (int, float, Decimal)):
        plain = int(sent) if isinstance(sent, int) else sent if isinstance(sent, Decimal) else float(sent)
        return _same_number("", Decimal(str(plain)), Decimal(got)) if got.lower() != "nan" else math.isnan(sent)
    return False


def _same_time(sent: Any, got: Any) -> bool:
    if isinstance(sent, dt.datetime) and isinstance(got, dt.datetime):
        if (sent.tzinfo is None) != (got.tzinfo is None):  # the same instant, in UTC
            sent, got = ((v if v.tzinfo else v.replace(tzinfo=dt.timezone.utc)) for v in (sent, got))
        return sent == got
    if isinstance(sent, dt.datetime):
        return type(got) is dt.date and sent == dt.datetime.combine(got, dt.time())
    if isinstance(got, dt.datetime):
        return type(sent) is dt.date and got == dt.datetime.combine(sent, dt.time())
    if isinstance(sent, dt.time):
        return isinstance(got, dt.time) and sent.replace(tzinfo=None) == got.replace(tzinfo=None)
    return type(sent) is type(got) and bool(sent == got)
