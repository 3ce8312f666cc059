"""What the hints of a SELECT say about its tables: how long their state is kept, and how they are looked up again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from flintstream.options.types import FLAG, count, duration, names
from flintstream.table._errors import SqlError, at, nearest
from flintstream.table._syntax import queries as q

if TYPE_CHECKING:
    from flintstream.options.types import OptionType

T = TypeVar("T")

_RETRIES = ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")
_DELAY, _ATTEMPTS = duration(1), count(1)
_LOOKUP: dict[str, OptionType[object]] = {
    "async": FLAG,
    "output-mode": names("ordered", "allow_unordered"),
    "capacity": count(1),
    "timeout": duration(1),
    "retry-predicate": names("lookup_miss"),
    "retry-strategy": names("fixed_delay"),
    "fixed-delay": _DELAY,
    "max-attempts": _ATTEMPTS,
    "shuffle": FLAG,
}
"""The options of LOOKUP beside its table. Those that are not about another try change no result."""
_TTL = duration(0)


@dataclass(frozen=True)
class Hints:
    """The hints of a SELECT, by the names of its tables in FROM."""

    state_ttls_ms: dict[str, int]
    retries: dict[str, tuple[int, int]]
    """How long a lookup that found nothing waits until it asks again (ms), and how often it does so."""


def read_hints(query: q.Select, *, batch: bool) -> Hints:
    """Return the hints of a SELECT.

    Raises:
        SqlError: A hint names a table that is not in FROM, or a value is wrong.
    """
    sources = [query.source, *(item.right if isinstance(item, q.Join) else item for item in query.joins)]
    tables = [source.name for source in sources if source is not None]
    ttls: dict[str, int] = {}
    retries: dict[str, tuple[int, int]] = {}
    for hint in query.hints:
        if hint.name == "STATE_TTL":
            given = {_table(hint, name, tables): _value(hint, name, text, _TTL) for name, text in hint.options.items()}
            ttls = {**given, **ttls}
        elif hint.name == "LOOKUP":
            table, retry = _lookup(hint, tables)
            if retry is not None:
                retries.setdefault(table, retry)
        elif hint.name == "OPTIONS":
            warnings.warn(
                f"OPTIONS{at(hint.place)} have no effect after SELECT: write them right after the name of a table in "
                "FROM",
                stacklevel=2,
            )
        elif hint.name == "MULTI_JOIN" and batch:
            raise SqlError(f"MULTI_JOIN{at(hint.place)} is a hint for streams: leave it out in BATCH mode")
        for table in hint.names:
            _table(hint, table, tables)
    return Hints(ttls, retries)


def _table(hint: q.Hint, name: str, tables: list[str]) -> str:
    """Return the name that a table has in FROM."""
    found = name.rpartition(".")[2]
    if found not in tables:
        raise SqlError(f"{hint.name}{at(hint.place)}: FROM has no table or view named '{name}'{nearest(found, tables)}")
    return found


def _lookup(hint: q.Hint, tables: list[str]) -> tuple[str, tuple[int, int] | None]:
    """Return the table of a hint LOOKUP, and how lookups in it are tried again."""
    options = dict(hint.options)
    name = options.pop("table", None)
    if name is None:
        raise SqlError(f"LOOKUP{at(hint.place)} needs 'table', the name of a table in FROM")
    for key in options:
        if key not in _LOOKUP:
            raise SqlError(f"LOOKUP{at(hint.place)} has no option '{key}'{nearest(key, _LOOKUP)}")
    for key, text in options.items():
        _value(hint, key, text, _LOOKUP[key])
    absent = [key for key in _RETRIES if key not in options]
    if 0 < len(absent) < len(_RETRIES):
        raise SqlError(f"LOOKUP{at(hint.place)} needs {', '.join(map(repr, absent))} to retry lookups")
    return _table(hint, name, tables), None if absent else (
        _DELAY.read(options["fixed-delay"]),
        _ATTEMPTS.read(options["max-attempts"]),
    )


def _value(hint: q.Hint, key: str, text: str, kind: OptionType[T]) -> T:
    try:
        return kind.read(text)
    except ValueError:
        raise SqlError(f"{hint.name}{at(hint.place)}: '{key}' must be {kind.accepted}, but is '{text}'") from None
