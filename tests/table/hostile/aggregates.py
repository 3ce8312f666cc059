"""Aggregates over hostile values, of groups of records: what they are, and how they are evaluated."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.table.hostile import running

if TYPE_CHECKING:
    from tests.table.conformance.harness import Side

GOLDEN = running.GOLDENS / "aggregates.json"

_NUMBERS = ("SUM", "AVG", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "SUM(DISTINCT", "AVG(DISTINCT")
_ALL = ("MIN", "MAX", "COUNT", "COUNT(DISTINCT", "FIRST_VALUE", "LAST_VALUE", "COLLECT")
_FINE = ("9" * 20 + "." + "9" * 18, "0." + "0" * 17 + "1")

GROUPS: dict[str, tuple[tuple[str | None, ...], ...]] = {
    "TINYINT": ((None,), ("127", "1"), ("-128", "-1", None), ("127", "127", "127"), ("1", "2", "2")),
    "SMALLINT": ((None,), ("32767", "1"), ("-32768", "-1"), ("1", "2", "2")),
    "INT": ((None, None), ("2147483647", "1"), ("-2147483648", "-1", None), ("2147483647",) * 3, ("1", "2", "2"), ("-1", "2")),
    "BIGINT": (
        *((None,), ("9223372036854775807", "1"), ("-9223372036854775808", "-1"), ("9223372036854775807",) * 2),
        *(("4294967296", "-4294967296"), ("3037000500", "1"), ("1", "2", None)),
    ),
    "FLOAT": ((None,), ("3.4e38", "3.4e38"), ("NaN", "1"), ("1", "NaN"), ("Infinity", "-Infinity"), ("0.1", "0.2"), ("-0.0", "0.0"), ("0.0", "-0.0")),
    "DOUBLE": (
        *((None,), ("1e308", "1e308"), ("NaN", "1"), ("1", "NaN"), ("NaN", "NaN"), ("NaN", None), ("Infinity", "1"), ("1", "-Infinity")),
        *(("Infinity", "-Infinity"), ("5e-324", "5e-324"), ("-0.0", "0.0"), ("0.0", "-0.0"), ("1e308", "-1e308"), ("1", "2", "4")),
    ),
    "DECIMAL(38,0)": ((None,), ("9" * 38, "1"), ("-" + "9" * 38, "-1", "2"), ("9" * 38, "1", "-1"), ("9" * 38,), ("1", "2", "2")),
    "DECIMAL(38,18)": ((None,), (_FINE[0], "1"), (_FINE[0], _FINE[1], "-1"), (_FINE[0],), (_FINE[1], "0"), ("1", "2", "2.5")),
    "DECIMAL(10,2)": ((None,), ("99999999.99", "0.01"), ("99999999.99", "-99999999.99"), ("1", "2", "2.5")),
    "STRING": ((None,), ("", None), ("\0", "a"), ("\U0001f600", "\uffff"), ("a" * 3000, "b"), ("a", "A", "a")),
    "BOOLEAN": ((None,), ("true", "false"), ("false", None)),
    "DATE": ((None,), ("0001-01-01", "9999-12-31"), ("1969-12-31", None)),
    "TIMESTAMP(3)": ((None,), ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999"), ("1969-12-31 23:59:59.999", None)),
}  # fmt: skip
"""Groups of values, by the type of the column."""


def aggregates(kind: str) -> list[str]:
    """Return the aggregates of a column ``x``, as PyFlink can bring them to Python."""
    names = (*(() if kind.split("(", maxsplit=1)[0] in {"STRING", "BOOLEAN", "DATE", "TIMESTAMP"} else _NUMBERS), *_ALL)
    if kind in {"DATE", "TIMESTAMP(3)", "BOOLEAN"}:
        names = tuple(name for name in names if name != "COLLECT")
    calls = [f"{name} x)" if "(" in name else f"{name}(x)" for name in names]
    calls.append(f"{calls[0]} FILTER (WHERE x IS NULL)")
    if kind == "STRING":
        calls += ["LISTAGG(x)", "LISTAGG(DISTINCT x, '|')"]
    as_text = kind.startswith(("DATE", "TIMESTAMP", "DECIMAL"))
    shown = "STRING" if as_text else "DOUBLE" if kind == "FLOAT" else ""
    return [
        f"CAST({call} AS {'STRING' if call.startswith('COLLECT') else shown})" if shown or "COLLECT" in call else call
        for call in calls
    ]


def evaluated(kind: str, calls: list[str], side: Side, *, empty: bool = False) -> list[list[Any]]:
    """Return the results of aggregates, by group; with ``empty``, over no records at all."""
    with tempfile.TemporaryDirectory() as directory:
        lines = [
            json.dumps({"id": number, **({} if value is None else {"x": value})})
            for number, values in enumerate(GROUPS[kind])
            for value in values
        ]
        Path(directory, "rows.json").write_text("\n".join(lines) + "\n", encoding="utf-8")
        t_env = side.make("BATCH", running.CONFIG, python=False)[1]
        t_env.execute_sql(
            "CREATE TEMPORARY TABLE given (id BIGINT, x STRING) WITH "
            f"('connector' = 'filesystem', 'path' = '{directory}', 'format' = 'json')"
        )
        t_env.execute_sql(f"CREATE TEMPORARY VIEW t AS SELECT id, CAST(x AS {kind}) AS x FROM given")
        columns = ", ".join(f"{call} AS e{number}" for number, call in enumerate(calls))
        text = f"SELECT {columns} FROM t WHERE id < 0" if empty else f"SELECT id, {columns} FROM t GROUP BY id"
        with t_env.sql_query(text).execute().collect() as rows:
            found = [[running.short(value) for value in row] for row in rows]
    return found if empty else [row[1:] for row in sorted(found, key=lambda row: row[0])]


def results(kind: str, side: Side, calls: list[str] | None = None) -> dict[str, list[Any]]:
    """Return the results by aggregate: of each group, and of no records. An aggregate that fails has an error."""
    if calls is None:
        averages = [call for call in aggregates(kind) if "AVG(" in call]  # beside SUM, AVG has its sum, which wraps
        others = [call for call in aggregates(kind) if call not in averages]
        return results(kind, side, others) | (results(kind, side, averages) if averages else {})
    try:
        rows = [*evaluated(kind, calls, side), *evaluated(kind, calls, side, empty=True)]
    except Exception as error:  # noqa: BLE001 - one of them fails
        if len(calls) == 1:
            return {calls[0]: [{"error": running.message(error)}]}
        middle = len(calls) // 2
        return results(kind, side, calls[:middle]) | results(kind, side, calls[middle:])
    return {call: [row[number] for row in rows] for number, call in enumerate(calls)}


def recorded() -> dict[str, dict[str, list[Any]]]:
    """Return what PyFlink gave, by type and aggregate."""
    found: dict[str, dict[str, list[Any]]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def record(side: Side) -> None:
    """Record what PyFlink gives."""
    found = {kind: results(kind, side) for kind in GROUPS}
    lines = [
        f" {json.dumps(kind)}: {{\n" + ",\n".join(f"  {json.dumps(call)}: {json.dumps(row)}" for call, row in calls.items()) + "\n }"
        for kind, calls in found.items()
    ]  # fmt: skip
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
