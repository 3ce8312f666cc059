"""Evaluate expressions over tables of hostile values, on real PyFlink and on flintstream."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.table.conformance.harness import columns_of, essence, plain
from tests.table.hostile.tables import query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.table.conformance.harness import Side
    from tests.table.hostile.tables import Hostile

GOLDENS = Path(__file__).parent / "goldens"
CONFIG = {"table.local-time-zone": "UTC", "collect-sink.batch-size.max": "64mb"}
_AS_THEY_ARE = ("BIGINT", "INT", "SMALLINT", "TINYINT", "DOUBLE", "BOOLEAN", "STRING", "VARCHAR", "CHAR", "BYTES")
_LONGEST = 60
"""The characters of a text that are recorded; of a longer one, a digest."""

ERROR = {"error": True}
OMITS = "FLINK_OMITS" in os.environ


@contextlib.contextmanager
def table(hostile: Hostile, side: Side, skipped: Sequence[Sequence[int]] = ()) -> Iterator[Any]:
    """Yield an environment that has the table.

    With ``skipped``, its last column has the numbers of the expressions that are not computed for a row, in commas.
    """
    with tempfile.TemporaryDirectory() as directory:
        texts = [f",{''.join(f'{number},' for number in numbers)}" for numbers in skipped]
        if texts:
            rows = tuple((*row, text) for row, text in zip(hostile.rows, texts, strict=True))
            hostile = replace(hostile, columns=(*hostile.columns, "skipped STRING"), rows=rows)
        hostile.write(Path(directory))
        t_env = side.make("BATCH", CONFIG, python=False)[1]
        for statement in hostile.statements(Path(directory)):
            t_env.execute_sql(statement)
        yield t_env


def wrapped(expression: str, t_env: Any) -> str:
    """Return the expression with a type that PyFlink can bring to Python without a loss."""
    kind = type_of(expression, t_env)
    if kind == "FLOAT":
        return f"CAST({expression} AS DOUBLE)"
    return expression if kind.partition("(")[0] in _AS_THEY_ARE else f"CAST({expression} AS STRING)"


def type_of(expression: str, t_env: Any) -> str:
    """Return the type of an expression, without NOT NULL."""
    column = columns_of(t_env.sql_query(query([expression])).get_schema())[1]
    return str(column).partition(": ")[2].removesuffix(" NOT NULL")


def evaluated(t_env: Any, expressions: Sequence[str], condition: str = "") -> dict[int, list[Any]]:
    """Return the results by the number of the row."""
    with t_env.sql_query(query(expressions, condition)).execute().collect() as rows:
        return {row[0]: [short(value) for value in list(row)[1:]] for row in rows}


def short(value: Any) -> Any:
    """Return a value as JSON that keeps its type; a long text becomes its length and a digest."""
    if isinstance(value, (str, bytes, bytearray)) and len(value) > _LONGEST:
        raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
        return {"length": len(value), "md5": hashlib.md5(raw, usedforsecurity=False).hexdigest()[:12]}
    return plain(value)


def column(t_env: Any, expression: str, numbers: Sequence[int]) -> list[Any]:
    """Return the results of one expression, some of which may be errors: halves are tried, down to single rows."""
    first, last = numbers[0], numbers[-1]
    try:
        found = evaluated(t_env, [expression], f" WHERE id BETWEEN {first} AND {last}")
        if OMITS:
            return [found.get(number, [ERROR])[0] for number in numbers]
    except Exception:  # noqa: BLE001 - the error is the result
        if first == last:
            return [ERROR]
        middle = len(numbers) // 2
        return column(t_env, expression, numbers[:middle]) + column(t_env, expression, numbers[middle:])
    return [found[number][0] for number in numbers]


def columns(t_env: Any, expressions: Sequence[str], count: int) -> dict[str, list[Any]]:
    """Return the results of expressions, by expression."""
    if not expressions:
        return {}
    try:
        found = evaluated(t_env, expressions)
        if OMITS and len(found) < count and len(expressions) > 1:
            return {expression: column(t_env, expression, range(count)) for expression in expressions}
        return {item: [found[row][number] for row in range(count)] for number, item in enumerate(expressions)}
    except Exception:  # noqa: BLE001 - one of them fails: halves are tried
        if len(expressions) == 1:
            return {expressions[0]: column(t_env, expressions[0], range(count))}
        middle = len(expressions) // 2
        return columns(t_env, expressions[:middle], count) | columns(t_env, expressions[middle:], count)


def packed(results: dict[str, list[Any]]) -> dict[str, Any]:
    """Return results in few characters: the different values of an expression, and which of them each row has."""
    found = {}
    for expression, values in results.items():
        texts = [json.dumps(value, ensure_ascii=True) for value in values]
        different = list(dict.fromkeys(texts))
        found[expression] = {
            "values": [json.loads(text) for text in different],
            "rows": _runs([different.index(text) for text in texts]),
        }
    return found


def _runs(numbers: Sequence[int]) -> str:
    """Return numbers as text, with repetitions counted: ``0*3 1 2``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][0] == number:
            parts[-1][1] += 1
        else:
            parts.append([number, 1])
    return " ".join(f"{number}*{count}" if count > 1 else f"{number}" for number, count in parts)


def unpacked(column: dict[str, Any]) -> list[Any]:
    """Return the results of an expression, by row."""
    found = []
    for part in column["rows"].split():
        number, _, count = part.partition("*")
        found += [column["values"][int(number)]] * int(count or 1)
    return found


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal: floats up to the last digits, in which libraries of mathematics differ."""
    if isinstance(one, dict) and isinstance(other, dict) and set(one) == set(other) == {"float"}:
        a, b = float(one["float"]), float(other["float"])
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=4e-16)
    if isinstance(one, str) and isinstance(other, str) and one[:1] == other[:1] == "{":  # a map has no order
        return sorted(one.strip("{}").split(", ")) == sorted(other.strip("{}").split(", "))
    return type(one) is type(other) and one == other


def message(error: BaseException) -> str:
    """Return an error in one line."""
    return str(essence(error))[:300]
