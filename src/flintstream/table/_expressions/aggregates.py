"""Aggregate functions: their types, and the code that adds, takes back and combines.

The state of a group is a list ``a``. Its first element counts the rows; each function has elements of its own after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.runtime.copies import copy_mutable
from flintstream.table._errors import SqlError, at
from flintstream.table._expressions.aggregation.bitmaps import BITMAP_AGGREGATES, NAMES, ON_INTEGERS
from flintstream.table._expressions.python_values import converter_of
from flintstream.table._types.objects import BitmapType, VariantType
from flintstream.table._types.rules import INTEGERS, TEXTS, is_nullable, sql_name, with_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._errors import Place

AGGREGATES = (
    "ARRAY_AGG", "AVG", "COLLECT", "COUNT", "FIRST_VALUE", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "LAST_VALUE", "LISTAGG",
    "MAX", "MIN", "PERCENTILE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUM", "SINGLE_VALUE", "SUM0", "VARIANCE",
    "VAR_POP", "VAR_SAMP", *BITMAP_AGGREGATES,
)  # fmt: skip


@dataclass(frozen=True)
class AggregateCall:
    """A use of an aggregate function: the positions of its argument and filter in the record, None if it has none."""

    name: str
    argument: int | None
    argument_type: DataType
    type: DataType
    distinct: bool = False
    condition: int | None = None
    option: str | None = None
    """The separator of LISTAGG, or NULL or ABSENT for the values that JSON leaves out."""

    function: Any = None
    """What the program holds, if the function is not one of the catalog."""
    more: tuple[int, ...] = ()
    """The positions of further arguments."""

    def after(self, count: int) -> AggregateCall:
        """Return the call for records that have more columns before the argument."""
        argument, condition = (None if item is None else item + count for item in (self.argument, self.condition))
        more = tuple(item + count for item in self.more)
        return replace(self, argument=argument, condition=condition, more=more)


@dataclass
class Part:
    """The code of one function. ``{0}``, ``{1}``, ... are its elements of the state, and ``v`` is the argument."""

    start: Sequence[str]
    add: Sequence[str]
    remove: Sequence[str]
    result: str
    merge: Sequence[str]
    counts_none: bool = field(default=False)
    names: dict[str, Any] = field(default_factory=dict)
    counts: bool = field(default=False)
    """Whether the first element is a dictionary that counts values."""


def result_type(name: str, kind: DataType, place: Place | None, *, grouped: bool) -> DataType:
    """Return the type of a function's result.

    Raises:
        SqlError: The function does not take such an argument.
    """
    if name == "COUNT":
        return t.BigIntType(False)
    nullable = is_nullable(kind) or not grouped
    if name in {"MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "SINGLE_VALUE"}:
        if isinstance(kind, (t.ArrayType, t.MapType, t.RowType, VariantType, BitmapType)) and name in {"MIN", "MAX"}:
            raise SqlError(f"{name}({sql_name(kind)}){at(place)}: values of this type have no order")
        return with_null(kind, nullable)
    if name in BITMAP_AGGREGATES:
        taken = (t.IntType, t.SmallIntType, t.TinyIntType) if name in ON_INTEGERS else BitmapType
        if not isinstance(kind, taken):
            word = "INT" if name in ON_INTEGERS else "BITMAP"
            raise SqlError(f"{name}({sql_name(kind)}){at(place)} has arguments of the wrong type: it takes ({word})")
        return t.BigIntType() if "CARDINALITY" in name else BitmapType()
    if name == "LISTAGG":
        if not isinstance(kind, TEXTS):
            raise SqlError(f"LISTAGG({sql_name(kind)}){at(place)} has arguments of the wrong type: it takes (STRING)")
        return kind
    if name in {"JSON_ARRAYAGG", "JSON_OBJECTAGG"}:
        return t.VarCharType(2000, False)
    if name == "ARRAY_AGG":
        return t.ArrayType(kind, is_nullable(kind))
    if name == "COLLECT":
        return t.MultisetType(kind, False)
    if not isinstance(kind, t.NumericType):
        raise SqlError(f"{name}({sql_name(kind)}){at(place)} has arguments of the wrong type: it takes (number)")
    if isinstance(kind, t.DecimalType):
        if name in {"SUM", "SUM0"}:
            return t.DecimalType(38, kind.scale, nullable and name == "SUM")
        return t.DecimalType(38, max(kind.scale, 6), nullable)
    return with_null(kind, nullable and name != "SUM0")


def _plus(kind: DataType, a: str, b: str, sign: str = "+") -> str:
    if isinstance(kind, t.DecimalType):
        return f"WIDE.{'add' if sign == '+' else 'subtract'}({a}, {b})"
    if type(kind) in INTEGERS:
        bits = INTEGERS[type(kind)]
        half = 1 << (bits - 1)
        return f"(s if {-half} <= (s := {a} {sign} {b}) < {half} else wrap(s, {bits}))"
    return f"narrow({a} {sign} {b})" if isinstance(kind, t.FloatType) else f"{a} {sign} {b}"


def _zero(kind: DataType) -> str:
    return "ZERO" if isinstance(kind, t.DecimalType) else "0" if type(kind) in INTEGERS else "0.0"


def _sum(call: AggregateCall) -> Part:
    kind, otherwise = call.type, _zero(call.type) if call.name == "SUM0" else "None"
    total = f"fit({{0}}, {kind.precision}, {kind.scale})" if isinstance(kind, t.DecimalType) else "{0}"
    return Part(
        [_zero(kind), "0"],
        [f"{{0}} = {_plus(kind, '{0}', 'v')}", "{1} += 1"],
        [f"{{0}} = {_plus(kind, '{0}', 'v', '-')}", "{1} -= 1"],
        f"({total} if {{1}} else {otherwise})",
        [f"{{0}} = {_plus(kind, '{0}', '{b0}')}", "{1} += {b1}"],
    )


def _average(call: AggregateCall) -> Part:
    kind = call.type
    total: DataType = t.BigIntType() if type(kind) in INTEGERS else kind
    total = t.DoubleType() if isinstance(kind, t.FloatType) else total
    if isinstance(kind, t.DecimalType):
        quotient = f"divide_decimals({{0}}, Decimal({{1}}), 38, {kind.scale})"
    elif type(kind) in INTEGERS:
        quotient = "({0} // {1} if {0} >= 0 else -(-{0} // {1}))"
        if not isinstance(kind, t.BigIntType):
            quotient = f"wrap({quotient}, {INTEGERS[type(kind)]})"
    else:
        quotient = "narrow({0} / {1})" if isinstance(kind, t.FloatType) else "{0} / {1}"
    return Part(
        [_zero(total), "0"],
        [f"{{0}} = {_plus(total, '{0}', 'v')}", "{1} += 1"],
        [f"{{0}} = {_plus(total, '{0}', 'v', '-')}", "{1} -= 1"],
        f"({quotient} if {{1}} else None)",
        [f"{{0}} = {_plus(total, '{0}', '{b0}')}", "{1} += {b1}"],
    )


def _extreme(call: AggregateCall, number: int, *, retracts: bool) -> Part:
    sign = "<" if call.name == "MIN" else ">"
    if retracts:  # the extreme is known until it is retracted
        place = number + call.distinct
        return Part(
            ["{}", "None"],
            ["count({0}, v)", f"if {{1}} is not None and v {sign} {{1}} and v in {{0}}: {{1}} = v"],
            ["uncount({0}, v)", "if {1} is not None and v == {1} and v not in {0}: {1} = None"],
            f"extreme(a, {place}, {call.name.lower()})",
            ["for v, n in {b0}.items(): count({0}, v, n)", "{1} = None"],
            counts=True,
        )
    return Part(
        ["None"],
        [f"if {{0}} is None or v {sign} {{0}}: {{0}} = v"],
        [],
        "{0}",
        [f"if {{b0}} is not None and ({{0}} is None or {{b0}} {sign} {{0}}): {{0}} = {{b0}}"],
    )


def _count_part(result: str) -> Part:
    """Return the code of a function that keeps the number of each value."""
    return Part(
        ["{}"],
        ["count({0}, v)"],
        ["uncount({0}, v)"],
        result,
        ["for v, n in {b0}.items(): count({0}, v, n)"],
        counts=True,
    )


def _list(result: str) -> Part:
    """Return the code of a function that keeps the values in order."""
    return Part(["[]"], ["{0}.append(v)"], ["unlist({0}, v)"], result, ["{0} += {b0}"])


def _edge(call: AggregateCall, *, retracts: bool) -> Part:
    first = call.name == "FIRST_VALUE"
    if retracts:
        return _list(f"({{0}}[{0 if first else -1}] if {{0}} else None)")
    add = "if not {1}: {0}, {1} = v, True" if first else "{0}, {1} = v, True"
    merge = "if not {1}: {0}, {1} = {b0}, {b1}" if first else "if {b1}: {0}, {1} = {b0}, {b1}"
    return Part(["None", "False"], [add], [], "{0}", [merge])


def _spread(call: AggregateCall) -> Part:
    """Return the code of a variance: the count, the mean, and the sum of the squares of the distances from it."""
    sample = call.name not in {"STDDEV_POP", "VAR_POP"}
    code = f"spread({{0}}, {{2}}, {sample}, {call.name.startswith('STDDEV')})"
    if isinstance(call.type, t.DecimalType):
        code = f"as_decimal({code}, {call.type.scale})"
    elif isinstance(call.type, t.FloatType):
        code = f"as_float({code})"
    elif type(call.type) in INTEGERS:
        code = f"as_whole({code}, {INTEGERS[type(call.type)]})"
    state = "{0}, {1}, {2}"
    return Part(
        ["0", "0.0", "0.0"],
        [f"{state} = more_spread({state}, v)"],
        [f"{state} = less_spread({state}, v)"],
        code,
        [f"{state} = both_spread({state}, {{b0}}, {{b1}}, {{b2}})"],
    )


def _own(call: AggregateCall, name: str) -> Part:
    """Return the code of a function of the program. It sees None, and its state may be any object."""
    arguments = ", *v" if call.more else ", v" if call.argument is not None else ""
    names = {name: call.function.implementation, f"{name}_result": OwnResult(call.type)}
    return Part(
        [f"{name}.create_accumulator()"],
        [f"{name}.accumulate({{0}}{arguments})"],
        [f"{name}.retract({{0}}{arguments})"],
        f"{name}_result({name}.get_value({{0}}))",
        [f"{name}.merge({{0}}, [{{b0}}])"],
        counts_none=True,
        names=names,
    )


def _percentile(call: AggregateCall) -> Part:
    """Return the code of PERCENTILE: the number of each value, and the last percentage."""
    share, *frequency = call.more
    times = f"(r[{frequency[0]}] or 0)" if frequency else "1"
    count = f"count_times({{0}}, v, {times})" if frequency else "{0}[v] = {0}.get(v, 0) + 1"
    return Part(
        ["{}", "None"],
        [f"{{1}} = r[{share}]", count],
        [f"uncount_times({{0}}, v, {times})"],
        "percentile({0}, {1})",
        ["for v, n in {b0}.items(): {0}[v] = {0}.get(v, 0) + n", "{1} = {b1} if {1} is None else {1}"],
    )


def _bitmap(call: AggregateCall) -> Part:
    """Return the code of an aggregate of bitmaps: in how many rows each number is, and the number of rows."""
    values = f"(v & {0xFFFFFFFF},)" if call.name in ON_INTEGERS else "v.values"
    function = "size_of" if "CARDINALITY" in call.name else "members_of"
    return Part(
        ["{}", "0"],
        [f"count_values({{0}}, {values}, 1)", "{1} += 1"],
        [f"count_values({{0}}, {values}, -1)", "{1} -= 1"],
        f"{function}({call.name!r}, {{0}}, {{1}})",
        ["add_counts({0}, {b0})", "{1} += {b1}"],
        names=dict(NAMES),
    )


class OwnResult:
    """Converts what a function of the program returns to its declared type; what may still change is copied."""

    def __init__(self, kind: DataType) -> None:
        self.convert = converter_of(kind)

    def __call__(self, value: object) -> Any:
        if value is None:
            return None
        return copy_mutable(value if self.convert is None else self.convert(value))


def part_of(call: AggregateCall, number: int, *, retracts: bool) -> Part:
    """Return the code of one function; ``number`` tells it from others of the program."""
    name = call.name
    if call.function is not None or name in BITMAP_AGGREGATES:
        return _own(call, f"own{number}") if call.function is not None else _bitmap(call)
    if name == "COUNT":
        return Part(["0"], ["{0} += 1"], ["{0} -= 1"], "{0}", ["{0} += {b0}"], counts_none=call.argument is None)
    if name in {"SUM", "SUM0"}:
        return _sum(call)
    if name == "AVG":
        return _average(call)
    if name in {"MIN", "MAX"}:
        return _extreme(call, number, retracts=retracts)
    if name in {"FIRST_VALUE", "LAST_VALUE"}:
        return _edge(call, retracts=retracts)
    if name == "SINGLE_VALUE":
        part = _list("single({0})")
        part.counts_none = True
        return part
    if name == "LISTAGG":
        return _list(f"({(',' if call.option is None else call.option)!r}.join({{0}}) if {{0}} else None)")
    if name == "ARRAY_AGG":
        part = _list("(list({0}) or None)")
        part.counts_none = True
        return part
    if name == "JSON_OBJECTAGG":
        code = f"json_object({{0}}, {call.option == 'ABSENT'})"
        return Part(["{}"], ["json_member({0}, *v)"], ["{0}.pop(v[0], None)"], code, ["{0}.update({b0})"])
    if name == "JSON_ARRAYAGG":
        part = _list("json_array({0})")
        part.counts_none = call.option == "NULL"
        return part
    if name == "COLLECT":
        return _count_part("dict({0}.items())")
    return _percentile(call) if name == "PERCENTILE" else _spread(call)
