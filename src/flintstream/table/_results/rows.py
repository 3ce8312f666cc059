"""Rows of results, as programs collect them."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import MICROSECONDS, plain_datetime
from flintstream.common.types import Row
from flintstream.table._expressions.helpers import float_to_text, zone_of
from flintstream.table._expressions.times.helpers import from_instant, to_microseconds
from flintstream.table._types.objects import python_lacks
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from flintstream.common.types import RowKind
    from flintstream.table._expressions.expr import Column
    from flintstream.table._functions.arrow_values import Converter

    Leaf = Callable[[t.DataType], Converter | None]
    """Returns what converts values of a type without parts; None if they stay as they are."""


class CollectedRow(Row):
    """A row without names, as PyFlink collects it, whose values can also be read by the names of the columns.

    >>> row = CollectedRow(("id", "name"), [1, "pear"])
    >>> row, row == Row(1, "pear"), row.name, row["id"]
    (<Row(1, 'pear')>, True, 'pear', 1)
    >>> type(row).__name__
    'Row'
    """

    __slots__ = ("_names",)

    _names: tuple[str, ...]

    def __init__(self, names: tuple[str, ...], values: list[object], kind: RowKind | None = None) -> None:
        super().__init__(*values)
        self._names = names
        if kind is not None:
            self._row_kind = kind

    def to_named(self) -> Row:
        """Return the row with its names."""
        row = Row(*self._values)
        row.set_field_names(self._names)
        row.set_row_kind(self._row_kind)
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the values by the names of the columns."""
        return self.to_named().as_dict(recursive)

    def __getitem__(self, item: int | str | slice) -> Any:
        return self._values[item] if isinstance(item, (int, slice)) else self.to_named()[item]

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self._values[self._names.index(name)]
        return super().__getattr__(name)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self._names, self._values, self._row_kind)

    def __copy__(self) -> CollectedRow:
        return CollectedRow(self._names, self._values, self._row_kind)

    __hash__ = Row.__hash__


CollectedRow.__name__ = CollectedRow.__qualname__ = Row.__name__  # some programs ask for the name of the type


def _restore(names: tuple[str, ...], values: list[object], kind: RowKind) -> CollectedRow:
    return CollectedRow(names, values, kind)


def refuse_lacking(columns: Sequence[Column]) -> None:
    """Refuse columns whose values PyFlink cannot bring to Python.

    Raises:
        TypeError: There is one.
    """
    for column in columns:
        lacking = python_lacks(column.type)
        if lacking is not None:
            what = "row data type" if isinstance(lacking, t.RowType) else "type"
            raise TypeError(
                f"Unsupported {what}: {sql_name(lacking)}, it is not supported yet in current python type system: "
                "print() shows it; JSON_STRING, BITMAP_TO_ARRAY or its fields can be collected"
            )


def collect_rows(rows: Iterable[Row], columns: Sequence[Column], zone: str, *, precise: bool = False) -> Iterator[Row]:
    """Return rows as programs collect them: without names, floats in their shortest form, instants in a time zone.

    Timestamps have microseconds, unless they are ``precise``.
    """
    local = partial(_local, zone_of("UTC"), zone_of(zone), precise)

    def leaf(kind: t.DataType) -> Converter | None:
        if isinstance(kind, t.FloatType):
            return _shortest
        if isinstance(kind, t.LocalZonedTimestampType):
            return local
        cut = isinstance(kind, t.TimestampType) and kind.precision > MICROSECONDS and not precise
        return to_microseconds if cut else None

    return map(_of_row([(column.name, column.type) for column in columns], leaf), rows)


def rows_by_clock(rows: Iterable[Row], columns: Sequence[Column], zone: str) -> Iterator[Row]:
    """Return rows for printing: an instant is what the clocks of a time zone show then."""
    clock = partial(_clock, zone_of("UTC"), zone_of(zone))
    convert = _of_row(
        [(column.name, column.type) for column in columns],
        lambda kind: clock if isinstance(kind, t.LocalZonedTimestampType) else None,
    )
    return map(convert, rows)


def _converter(kind: t.DataType, leaf: Leaf) -> Converter | None:
    """Return what converts values of a type, whose parts a leaf converts; None if they stay as they are."""
    if isinstance(kind, t.RowType):
        return _of_row([(field.name, field.data_type) for field in kind.fields], leaf)
    if isinstance(kind, t.ArrayType):
        inner = _converter(kind.element_type, leaf)
        return None if inner is None else partial(_of_array, inner)
    if isinstance(kind, t.MapType):
        of_key, of_value = _converter(kind.key_type, leaf), _converter(kind.value_type, leaf)
        return partial(_of_map, of_key or _same, of_value or _same) if of_key or of_value else None
    if isinstance(kind, t.MultisetType):
        element = _converter(kind.element_type, leaf)
        return None if element is None else partial(_of_map, element, _same)
    return leaf(kind)


def _shortest(value: float | None) -> float | None:
    return None if value is None else float(float_to_text(value))


def _local(utc: tzinfo, zone: tzinfo, precise: bool, value: object) -> object:
    moment = from_instant(value)
    if moment is None:
        return None
    return (moment if precise else plain_datetime(moment)).replace(tzinfo=utc).astimezone(zone)


def _clock(utc: tzinfo, zone: tzinfo, value: object) -> object:
    moment = from_instant(value)
    if not isinstance(moment, datetime):
        return moment
    return moment.replace(tzinfo=utc).astimezone(zone).replace(tzinfo=None)


def _of_array(inner: Converter, values: list[object] | None) -> list[object] | None:
    return None if values is None else list(map(inner, values))


def _same(value: object) -> object:
    return value


def _of_map(
    of_key: Converter, of_value: Converter, pairs: Mapping[object, object] | None
) -> dict[object, object] | None:
    return None if pairs is None else {of_key(key): of_value(value) for key, value in pairs.items()}


def _of_row(fields: Sequence[tuple[str, t.DataType]], leaf: Leaf) -> Converter:
    names = tuple(name for name, _ in fields)
    parts = [(i, part) for i, (_, kind) in enumerate(fields) if (part := _converter(kind, leaf)) is not None]

    def convert(row: Row | None) -> Row | None:
        if row is None:
            return None
        values = list(row)
        for index, part in parts:
            values[index] = part(values[index])
        return CollectedRow(names, values, row.get_row_kind())

    return convert
