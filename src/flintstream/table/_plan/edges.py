"""Between tuples of tables and the records of streams: rows, texts, instants."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.runtime.times import MIN_TIMESTAMP
from flintstream.table._errors import SqlError
from flintstream.table._expressions.codegen import Source
from flintstream.table._expressions.times.helpers import millis
from flintstream.table._types.rules import has_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.expr import Column

KIND = "r.get_row_kind().value"
"""The code of the kind of change of a row."""


def _loop(body: str, where: str, *, stamped: bool) -> str:
    head = "def run(records, append, stamp):" if stamped else "def run(records, append):"
    loop = "    for r, t in records:" if stamped else "    for r in records:"
    skip = [f"        if not ({where}): continue"] if where else []
    return "\n".join([head, loop, *skip, f"        append({body})", *(["        stamp(t)"] if stamped else [])])


def both(body: str, where: str = "", known: Mapping[str, object] | None = None) -> tuple[Source, Source]:
    """Return the code that converts each record ``r``, for records without timestamps and with them.

    Args:
        body: The expression for the result.
        where: The condition for a record to have one; all have by default.
        known: What names in the code stand for.
    """
    with_and_without = [Source(_loop(body, where, stamped=stamped), dict(known or {}), ()) for stamped in (False, True)]
    return with_and_without[0], with_and_without[1]


def at_rowtime(columns: Sequence[Column], body: str) -> tuple[Source, Source]:
    """Return the code that converts each record ``r`` and gives it the time of its rowtime column.

    Without one, or if it is NULL, a record gets the time of those without any, as in Flink.

    Raises:
        SqlError: There are several.
    """
    times = [(i, column.name) for i, column in enumerate(columns) if column.time == "ROWTIME"]
    if len(times) > 1:
        raise SqlError(
            f"the query has more than one rowtime attribute column, [{', '.join(name for _, name in times)}], for the "
            "time of a stream's records: cast all but one, CAST(... AS TIMESTAMP(3))"
        )
    time = f"(millis(r[{times[0][0]}]) if r[{times[0][0]}] is not None else NO_TIME)" if times else "NO_TIME"
    plain, stamped = both(body, known={"millis": millis, "NO_TIME": MIN_TIMESTAMP})
    return plain, replace(stamped, text=stamped.text.replace("stamp(t)", f"stamp({time})"))


def each_of_lists() -> tuple[Source, Source]:
    """Return the code that takes records apart, each of which is a list of others."""
    head, loop = "def run(records, append", "        for row in r: append(row)"
    return (
        Source(f"{head}):\n    for r in records:\n{loop}", {}, ()),
        Source(f"{head}, stamp):\n    for r, t in records:\n{loop}; stamp(t)", {}, ()),
    )


def outward(data_type: DataType, name: str, *, precise: bool = True) -> str:
    """Return the code for a value of a stream; only times differ from those within a plan.

    Unless it is ``precise``, timestamps lose nanoseconds, which Python programs do not get.
    """
    return _convert_code(data_type, name, "to_instant", precise=precise)


def inward(data_type: DataType, name: str) -> str:
    """Return the code for a value within a plan; a decimal gets the digits of its type."""
    return _convert_code(data_type, name, "from_instant")


def _convert_code(data_type: DataType, name: str, function: str, *, precise: bool = True) -> str:
    decimals = function == "from_instant"
    if not precise and has_nanoseconds(data_type):
        return f"to_microseconds({name})"
    if not differs(data_type, decimals=decimals, precise=precise):
        return name
    if isinstance(data_type, t.LocalZonedTimestampType):
        return f"{function}({name})"
    if isinstance(data_type, t.DecimalType):
        return f"(None if {name} is None else fit({name}, {data_type.precision}, {data_type.scale}))"
    if isinstance(data_type, t.ArrayType):
        item = _convert_code(data_type.element_type, "e", function, precise=precise)
        return f"(None if {name} is None else [{item} for e in {name}])"
    if isinstance(data_type, t.MapType):
        value = _convert_code(data_type.value_type, "v", function, precise=precise)
        return f"(None if {name} is None else {{k: {value} for k, v in {name}.items()}})"
    if isinstance(data_type, t.RowType):
        kinds = data_type.field_types()
        parts = [_convert_code(kind, f"{name}[{i}]", function, precise=precise) for i, kind in enumerate(kinds)]
        return f"(None if {name} is None else named_row({tuple(data_type.names)!r}, [{', '.join(parts)}]))"
    return name


def differs(data_type: DataType, *, decimals: bool = False, precise: bool = True) -> bool:
    """Return whether a type contains ``TIMESTAMP_LTZ``, or DECIMAL if asked for, or nanoseconds that go."""
    if isinstance(data_type, t.RowType):
        return any(differs(kind, decimals=decimals, precise=precise) for kind in data_type.field_types())
    if isinstance(data_type, t.MapType):
        return differs(data_type.value_type, decimals=decimals, precise=precise)
    if isinstance(data_type, t.ArrayType):
        return differs(data_type.element_type, decimals=decimals, precise=precise)
    if isinstance(data_type, t.LocalZonedTimestampType) or (decimals and isinstance(data_type, t.DecimalType)):
        return True
    return not precise and has_nanoseconds(data_type)


def rows_of(columns: Sequence[Column], *, changelog: bool, precise: bool = True) -> str:
    """Return the code that makes a row of a tuple."""
    values = ", ".join(outward(item.type, f"r[{i}]", precise=precise) for i, item in enumerate(columns))
    plain = not any(differs(column.type, precise=precise) for column in columns)
    listed = ("list(r[:-1])" if changelog else "list(r)") if plain else f"[{values}]"
    return (
        f"changed_row({names(columns)!r}, {listed}, r[-1])" if changelog else f"named_row({names(columns)!r}, {listed})"
    )


def tuples_of(columns: Sequence[Column], kind: str = "") -> str:
    """Return the code that makes a tuple of a row or tuple; ``kind`` is the code of a last element."""
    if not kind and not any(differs(column.type, decimals=True) for column in columns):
        return "tuple(r)"
    parts = [inward(item.type, f"r[{i}]") for i, item in enumerate(columns)]
    return f"({', '.join([*parts, *([kind] if kind else [])])},)"


def texts_of(columns: Sequence[Column], *, changelog: bool) -> str:
    """Return the code that formats a tuple as Java's ``Row.toString`` does."""
    parts = [text_of(item.type, f"r[{i}]") for i, item in enumerate(columns)]
    kind = "KINDS[r[-1]]" if changelog else "'+I'"
    listed = " + ', ' + ".join(parts)
    return f"{kind} + '[' + {listed} + ']'" if parts else f"{kind} + '[]'"


def text_of(data_type: DataType, name: str) -> str:
    """Return the code that formats a value within a row."""
    if isinstance(data_type, t.FloatType):
        return f"('null' if {name} is None else float_to_text({name}))"
    if isinstance(data_type, t.LocalZonedTimestampType):
        return f"('null' if {name} is None else instant_to_text({name}))"
    return f"row_text({outward(data_type, name)})"


def names(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(column.name for column in columns)
