"""Tables of Python values: what ``from_elements`` and ``from_pandas`` make."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.common._types.inference import infer_schema, named_fields
from flintstream.common._types.user_defined import UserDefinedType, sql_type_of
from flintstream.common.types import Row
from flintstream.table._expressions.expr import Column
from flintstream.table._expressions.helpers import fit
from flintstream.table._expressions.python_values import converter_of, simple_converter_of
from flintstream.table._expressions.times.helpers import from_instant
from flintstream.table._logical.nodes import Scan
from flintstream.table._logical.planned import Elements
from flintstream.table._plan.instants import instant_converter
from flintstream.table._session.verifying import check_of
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import INTEGERS, IntervalType, is_nullable, sql_name
from flintstream.table.expression import Expression, syntax_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flintstream.table._expressions.python_values import Convert


def rows_of_elements(
    elements: Iterable[object], schema: t.DataType | Sequence[object] | None, *, verify: bool = False
) -> tuple[list[tuple[object, ...]], t.RowType]:
    """Return the values of rows, and their type: the given one, or one that is inferred.

    A schema may be the type of a row, that of the only column, names, or types.

    Raises:
        TypeError: It is to ``verify`` values, and one is of another class than the given type has.
        ValueError: A text or bytes have another length, or None is in a column that is NOT NULL.
    """
    plain = list(map(_evaluate, elements))
    if isinstance(schema, t.DataType):
        kind = schema if isinstance(schema, t.RowType) else t.RowType([t.RowField("value", schema)])
    else:
        kind = infer_schema(plain, list(schema or []))
    rows = [_values(element, kind.names) for element in plain]
    if verify and isinstance(schema, t.DataType):
        _check_rows(rows, kind)
    return rows, kind


def _evaluate(element: object) -> object:
    """Return the values of an expression ``row(...)`` of literals; anything else as it is."""
    syntax = syntax_of(element) if isinstance(element, Expression) else None
    if isinstance(syntax, s.Apply) and syntax.function == "ROW":
        return tuple(item.value if isinstance(item, s.Value) else item for item in syntax.arguments)
    return element


def _values(element: object, names: Sequence[str]) -> tuple[object, ...]:
    """Return the values of a row: by name, if the element has these names; else by position.

    What is neither a row, a tuple, a list, a dict nor an object with attributes is a row of one value.
    """
    pairs = named_fields(element)
    if pairs is None:
        return tuple(element) if isinstance(element, (tuple, list, Row)) else (element,)
    fields = dict(pairs)
    if isinstance(element, (tuple, list, Row)):
        return tuple(fields[name] for name in names) if set(fields) >= set(names) else tuple(element)
    return tuple(fields.get(name) for name in names) if set(fields) & set(names) else (element,)


def _check_rows(rows: Sequence[tuple[object, ...]], schema: t.RowType) -> None:
    """Check that values are those of their columns, as PyFlink does if a program passes types."""
    checks = [(field.name, check_of(field.data_type)) for field in schema.fields]
    for number, row in enumerate(rows):
        for (name, check), value in zip(checks, row, strict=False):
            try:
                check(value)
            except (TypeError, ValueError) as error:
                raise type(error)(f"from_elements(): row {number}, column '{name}': {error}") from error


def table_of_elements(rows: Sequence[tuple[object, ...]], schema: t.RowType, zone: str) -> Scan:
    """Return the table of rows; a ``datetime`` in a TIMESTAMP_LTZ column is local time of ``zone`` if it has none.

    Raises:
        TypeError: A value does not fit its column.
        ValueError: A value is out of the range of its column, or None in a column that is NOT NULL.
    """
    convert = [converter_of(kind, partial(_simple, zone)) for kind in schema.field_types()]
    made = [_row(schema, convert, i, row) for i, row in enumerate(rows)]
    columns = tuple(Column(field.name, type_in_plans(sql_type_of(field.data_type))) for field in schema.fields)
    return scan_elements(Elements(columns, made))


def scan_elements(elements: Elements) -> Scan:
    """Return the table of rows."""
    return Scan(elements.columns, "from_elements", elements)


def _row(
    schema: t.RowType, convert: Sequence[Convert | None], number: int, row: tuple[object, ...]
) -> tuple[object, ...]:
    if len(row) != len(convert):
        raise ValueError(f"from_elements(): row {number}, {row!r}, has {len(row)} values for {len(convert)} columns")
    made: list[object] = []
    for field, function, value in zip(schema.fields, convert, row, strict=True):
        place = f"from_elements(): row {number}, column '{field.name}'"
        if value is None and not is_nullable(field.data_type):
            raise ValueError(f"{place}: {sql_name(field.data_type)} is not nullable, but got None")
        try:
            made.append(value if value is None or function is None else function(value))
        except OverflowError as error:
            raise ValueError(f"{place}: {error}") from error
        except TypeError as error:
            raise TypeError(f"{place}: {error}") from error
    return tuple(made)


def type_in_plans(kind: t.DataType) -> t.DataType:
    """Return a type of SQL: lengths of time are numbers of ms there."""
    if isinstance(kind, t.DayTimeIntervalType):
        return IntervalType(False, is_nullable(kind))
    if isinstance(kind, t.ArrayType):
        return t.ArrayType(type_in_plans(kind.element_type), is_nullable(kind))
    if isinstance(kind, t.MapType):
        return t.MapType(type_in_plans(kind.key_type), type_in_plans(kind.value_type), is_nullable(kind))
    if isinstance(kind, t.RowType):
        parts = [t.RowField(field.name, type_in_plans(field.data_type)) for field in kind.fields]
        return t.RowType(parts, is_nullable(kind))
    return kind


def _duration(value: object) -> object:
    if not isinstance(value, timedelta):
        raise TypeError(f"INTERVAL can not accept object {value!r} in type {type(value).__name__}")
    return value // timedelta(milliseconds=1)


def _simple(zone: str, kind: t.DataType) -> Convert | None:
    if isinstance(kind, UserDefinedType):
        return partial(_object, kind, converter_of(kind.sql_type(), partial(_simple, zone)))
    if isinstance(kind, t.LocalZonedTimestampType):
        return partial(_point, instant_converter(kind, zone))
    if isinstance(kind, t.DayTimeIntervalType):
        return _duration
    if isinstance(kind, t.DecimalType):
        return partial(_decimal, kind)
    if type(kind) in INTEGERS:
        return partial(_integer, sql_name(kind), simple_converter_of(kind))
    return simple_converter_of(kind)


def _point(convert: Convert | None, value: object) -> object:
    return from_instant(convert(value) if convert is not None and isinstance(value, datetime) else value)


def _object(kind: UserDefinedType[object], convert: Convert | None, value: object) -> object:
    found = kind.to_sql_type(value)
    return found if convert is None else convert(found)


def _decimal(kind: t.DecimalType, value: object) -> object:
    if not isinstance(value, Decimal):
        raise TypeError(f"{sql_name(kind)} can not accept object {value!r} in type {type(value).__name__}")
    return fit(value, kind.precision, kind.scale)


def _integer(kind: str, convert: Convert | None, value: object) -> object:
    if isinstance(value, float):
        raise TypeError(f"{kind} can not accept object {value!r} in type {type(value).__name__}")
    return value if convert is None else convert(value)
