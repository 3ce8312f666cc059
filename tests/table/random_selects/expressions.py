"""Random tables and expressions whose meaning Flink and DuckDB share, as text in both dialects.

Left out, since the two differ: division and remainders of zero, AVG of integers (Flink's is an integer), casts of floats
to integers (Flink truncates) and of floats or Booleans to texts (other forms), CONCAT (DuckDB skips NULL), padding,
positions below 1 in texts, MIN and MAX of Booleans, dates with intervals (a timestamp in DuckDB), products of decimals
(other precisions), and integers that could overflow. Floats are multiples of a quarter, so that sums are exact in any
order.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

INT, LONG, FLOAT, DECIMAL, TEXT, BOOL, DATE, TIME = (
    "INT", "BIGINT", "DOUBLE", "DECIMAL(8, 2)", "STRING", "BOOLEAN", "DATE", "TIMESTAMP(3)",
)  # fmt: skip
KINDS = (INT, LONG, FLOAT, DECIMAL, TEXT, BOOL, DATE, TIME)
MOMENT = dt.datetime(2024, 2, 28, 23, 59, 50)  # a leap day follows
VALUES: dict[str, Sequence[Any]] = {
    INT: (0, 1, 2, 3, 7, -1, -2),
    LONG: (0, 1, 2, 5, 40, -3),
    FLOAT: (0.0, 0.25, 1.0, 2.5, -1.75, 100.0),
    DECIMAL: (Decimal("0.00"), Decimal("0.50"), Decimal("1.25"), Decimal("-3.10"), Decimal("20.00")),
    TEXT: ("", "a", "b", "ab", "Ba", " a ", "12", "-3", "a_%"),
    BOOL: (True, False),
    DATE: (dt.date(2024, 2, 28), dt.date(2024, 2, 29), dt.date(2023, 12, 31)),
    TIME: tuple(MOMENT + dt.timedelta(seconds=s, milliseconds=ms) for s, ms in ((0, 0), (3, 5), (10, 0), (3700, 0))),
}


class Chance(Protocol):
    """A source of random choices: hypothesis, or random numbers."""

    def below(self, count: int) -> int:
        """Return a number from 0 to below ``count``."""


def pick(chance: Chance, options: Sequence[Any]) -> Any:
    """Return one of the options; the first ones are the simplest."""
    return options[chance.below(len(options))]


def often(chance: Chance, of: int) -> bool:
    """Return True one time of so many; False is simpler."""
    return chance.below(of) == of - 1


class Code(NamedTuple):
    """A part of a statement, for Flink and for DuckDB."""

    flink: str
    duck: str


def code(text: str, *parts: Code, duck: str | None = None) -> Code:
    """Return a text with parts in it."""
    return Code(
        text.format(*(part.flink for part in parts)),
        (text if duck is None else duck).format(*(part.duck for part in parts)),
    )


@dataclass(frozen=True)
class Column:
    """A column in reach of an expression."""

    name: str
    kind: str


@dataclass(frozen=True)
class Table:
    """A table and its rows."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]


def table(chance: Chance, name: str) -> Table:
    """Return a random table. The first column is an INT, so that tables can be joined."""
    kinds = [INT, *(pick(chance, KINDS) for _ in range(1 + chance.below(4)))]
    columns = tuple(Column(f"c{i}", kind) for i, kind in enumerate(kinds))
    rows = tuple(
        tuple(None if often(chance, 4) else pick(chance, VALUES[kind]) for kind in kinds)
        for _ in range(1 + chance.below(8))
    )
    return Table(name, columns, rows)


def literal(value: Any) -> Code:
    """Return the code of a value."""
    if isinstance(value, bool):
        return code(str(value).upper())
    if isinstance(value, float):
        return Code(f"CAST({value} AS DOUBLE)", f"{value}::DOUBLE")
    if isinstance(value, str):
        return code("'" + value.replace("'", "''") + "'")
    if isinstance(value, dt.datetime):
        return code(f"TIMESTAMP '{value.isoformat(' ', 'milliseconds')}'")
    return code(f"DATE '{value}'" if isinstance(value, dt.date) else f"({value})")


class Expressions:
    """Random expressions over columns."""

    def __init__(self, chance: Chance, columns: Sequence[Column]) -> None:
        self.chance, self.columns = chance, columns

    def any(self, kind: str, depth: int = 2) -> Code:
        """Return an expression of a kind."""
        own = [column for column in self.columns if column.kind == kind]
        choice = self.chance.below(6)
        if own and (choice < 2 or depth <= 0):
            return code(pick(self.chance, own).name)
        if depth <= 0 or choice == 2:
            return self.constant(kind)
        if choice == 3:
            return self.conditional(kind, depth - 1)
        return getattr(self, "_" + {DECIMAL: "decimal", TIME: "time"}.get(kind, kind.lower()))(depth - 1)

    def constant(self, kind: str) -> Code:
        """Return a literal, or NULL."""
        if often(self.chance, 8):
            return Code(f"CAST(NULL AS {kind})", f"CAST(NULL AS {duck_type(kind)})")
        value = literal(pick(self.chance, VALUES[kind]))
        if kind in {LONG, DECIMAL, TEXT}:  # else a literal has another type
            return Code(f"CAST({value.flink} AS {kind})", f"CAST({value.duck} AS {duck_type(kind)})")
        return value

    def conditional(self, kind: str, depth: int) -> Code:
        """Return a choice between expressions."""
        first, second = self.any(kind, depth), self.any(kind, depth)
        choice = self.chance.below(4)
        if choice == 0:
            return code("COALESCE({0}, {1})", first, second)
        if choice == 1:
            return code("NULLIF({0}, {1})", first, second)
        if choice == 2:
            return code("CASE WHEN {0} THEN {1} ELSE {2} END", self.condition(depth), first, second)
        return code("CASE WHEN {0} THEN {1} WHEN {2} THEN {3} END", self.condition(depth), first,
                    self.condition(depth), second)  # fmt: skip

    def condition(self, depth: int = 2) -> Code:
        """Return a condition."""
        return self.any(BOOL, depth)

    def _numbers(self, kind: str, depth: int, signs: str) -> Code:
        sign = pick(self.chance, signs)
        return code(f"({{0}} {sign} {{1}})", self.any(kind, depth), self.any(kind, depth))

    def _int(self, depth: int) -> Code:
        choice = self.chance.below(5)
        if choice == 0:
            return self._numbers(INT, depth, "+-*")
        if choice == 1:
            return code("CHAR_LENGTH({0})", self.any(TEXT, depth), duck="CAST(length({0}) AS INT)")
        if choice == 2:
            return code("TRY_CAST({0} AS INT)", self.any(TEXT, depth), duck="TRY_CAST({0} AS INT)")
        if choice == 3:
            return code("CAST({0} AS INT)", self.any(BOOL, depth))
        return code("MOD({0}, 3)", self.any(INT, depth))

    def _bigint(self, depth: int) -> Code:
        choice = self.chance.below(4)
        if choice == 0:
            return self._numbers(LONG, depth, "+-")
        if choice == 1:
            return code("CAST({0} AS BIGINT)", self.any(INT, depth))
        if choice == 2:
            field = pick(self.chance, ("YEAR", "MONTH", "DAY"))
            return code(f"EXTRACT({field} FROM {{0}})", self.any(pick(self.chance, (DATE, TIME)), depth))
        return code(f"EXTRACT({pick(self.chance, ('HOUR', 'MINUTE'))} FROM {{0}})", self.any(TIME, depth))

    def _double(self, depth: int) -> Code:
        choice = self.chance.below(4)
        if choice == 0:
            return self._numbers(FLOAT, depth, "+-*")
        if choice == 1:
            return code("CAST({0} AS DOUBLE)", self.any(pick(self.chance, (INT, LONG)), depth))
        return code(pick(self.chance, ("ABS({0})", "FLOOR({0})", "CEIL({0})")), self.any(FLOAT, depth))

    def _decimal(self, depth: int) -> Code:
        sum_ = self._numbers(DECIMAL, min(depth, 0), "+-")
        return Code(f"CAST({sum_.flink} AS {DECIMAL})", f"CAST({sum_.duck} AS {DECIMAL})")

    def _string(self, depth: int) -> Code:
        text = self.any(TEXT, depth)
        choice = self.chance.below(6)
        if choice == 0:
            return code("({0} || {1})", text, self.any(TEXT, depth))
        if choice == 1:
            return code(pick(self.chance, ("UPPER({0})", "LOWER({0})", "TRIM({0})", "REVERSE({0})")), text)
        if choice == 2:
            first, count = 1 + self.chance.below(3), self.chance.below(3)
            return code(f"SUBSTRING({{0}} FROM {first} FOR {count})", text)
        if choice == 3:
            return code("REPLACE({0}, 'a', 'xy')", text)
        if choice == 4:
            return code("CAST({0} AS STRING)", self.any(pick(self.chance, (INT, LONG, DATE)), depth),
                        duck="CAST({0} AS VARCHAR)")  # fmt: skip
        return code(f"LEFT({{0}}, {self.chance.below(3)})", text)

    def _date(self, depth: int) -> Code:
        return code("CAST({0} AS DATE)", self.any(TIME, depth))

    def _time(self, depth: int) -> Code:
        moment = self.any(TIME, depth)
        choice = self.chance.below(3)
        if choice == 0:
            unit = pick(self.chance, ("DAY", "HOUR", "MINUTE"))
            return code(f"({{0}} + INTERVAL '2' {unit})", moment)
        if choice == 1:
            unit = pick(self.chance, ("DAY", "HOUR", "MINUTE"))
            return code(f"FLOOR({{0}} TO {unit})", moment, duck=f"date_trunc('{unit}', {{0}})")
        return code("CAST({0} AS TIMESTAMP(3))", self.any(DATE, depth), duck="CAST({0} AS TIMESTAMP)")

    def _boolean(self, depth: int) -> Code:
        choice = self.chance.below(8)
        if choice == 0:
            return code(pick(self.chance, ("({0} AND {1})", "({0} OR {1})")), self.condition(depth),
                        self.condition(depth))  # fmt: skip
        if choice == 1:
            return code("(NOT {0})", self.condition(depth))
        if choice == 2:
            test = pick(self.chance, ("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"))
            if test.endswith("TRUE"):
                return code(f"({{0}} {test})", self.condition(depth))
            than = "IS NOT DISTINCT FROM" if test == "IS FALSE" else "IS DISTINCT FROM"
            return code(f"({{0}} {test})", self.condition(depth), duck=f"({{0}} {than} FALSE)")
        kind = pick(self.chance, KINDS)
        first = self.any(kind, depth)
        if choice == 3:
            return code(pick(self.chance, ("({0} IS NULL)", "({0} IS NOT NULL)")), first)
        if choice == 4:
            return code(pick(self.chance, ("({0} IS DISTINCT FROM {1})", "({0} IS NOT DISTINCT FROM {1})")), first,
                        self.any(kind, depth))  # fmt: skip
        if choice == 5 and kind in {INT, TEXT, DATE}:
            values = [literal(pick(self.chance, VALUES[kind])) for _ in range(2)]
            not_ = pick(self.chance, ("", "NOT "))
            return code(f"({{0}} {not_}IN ({{1}}, {{2}}))", first, *values)
        if choice == 6:
            pattern = pick(self.chance, ("a%", "%a", "_", "%b%"))
            return code(f"({{0}} LIKE '{pattern}')", self.any(TEXT, depth))
        sign = pick(self.chance, ("=", "<>", "<", "<=", ">", ">=") if kind != BOOL else ("=", "<>"))
        return code(f"({{0}} {sign} {{1}})", first, self.any(kind, depth))


def duck_type(kind: str) -> str:
    """Return DuckDB's name of a type."""
    return {TEXT: "VARCHAR", TIME: "TIMESTAMP"}.get(kind, kind)
