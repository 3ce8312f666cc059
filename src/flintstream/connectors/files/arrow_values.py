"""Convert Arrow columns to lists of the values that programs see, and back, column by column and without loss.

A struct becomes a ``Row`` with names, a map a dict, a list a list. A timestamp with a time zone becomes an
``Instant``, and a timestamp without one a ``datetime``.
"""

from __future__ import annotations

from importlib import import_module
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, Any

from flintstream.common._text.leaving import write_whole
from flintstream.common.time import Instant
from flintstream.common.types import _make_row
from flintstream.errors import FlintstreamError, optional_module, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import ModuleType

    from pyarrow import Array, DataType, RecordBatch

    from flintstream.common.types import Row

_MICROS = 1_000_000
_UNITS = {"s": "second", "ms": "millisecond", "us": "microsecond", "ns": "nanosecond"}
_ORDER = tuple(_UNITS)


def arrow() -> Any:
    """Return the module ``pyarrow``.

    Raises:
        MissingDependencyError: pyarrow is not installed.
    """
    return optional_module("pyarrow", extra="dataframes", purpose="exchanging data with DataFrames")


def arrow_compute() -> ModuleType:
    """Return the module ``pyarrow.compute``."""
    return import_module("pyarrow.compute")


# -- from Arrow ------------------------------------------------------------------------------------------------------


def rows_of(batch: Any, names: tuple[str, ...]) -> list[Row]:
    """Return the rows of a record batch, with the given field names.

    >>> import pyarrow as pa
    >>> rows_of(pa.RecordBatch.from_pydict({"a": [1, None], "b": [["x"], []]}), ("a", "b"))
    [Row(a=1, b=['x']), Row(a=None, b=[])]
    """
    return _rows(map(values_of, batch.columns), names, len(batch))


def values_of(array: Any) -> list[Any]:
    """Return the values of an array."""
    convert = _FROM.get(_kind(array.type))
    return array.to_pylist() if convert is None else convert(array)


def _rows(columns: Iterable[list[Any]], names: tuple[str, ...], length: int) -> list[Row]:
    if not names:
        return [_make_row(names, []) for _ in range(length)]
    return list(map(_make_row, repeat(names), map(list, zip(*columns, strict=True))))


def _present(array: Any, values: list[Any]) -> list[Any]:
    """Set None where the array has no value."""
    if not array.null_count:
        return values
    return [value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)]


def _from_instants(array: Any) -> list[Any]:
    micros = array.cast(arrow().timestamp("us", array.type.tz)).cast(arrow().int64()).to_pylist()
    return [None if m is None else Instant(m // _MICROS, m % _MICROS * 1000) for m in micros]


def _from_structs(array: Any) -> list[Any]:
    names = tuple(field.name for field in array.type)
    return _present(array, _rows(map(values_of, array.flatten()), names, len(array)))


def _slices(array: Any, values: list[Any]) -> list[list[Any]]:
    """Cut ``values``, which begin at the array's first offset, into the lists that the offsets describe."""
    offsets = array.offsets.to_pylist()
    first = offsets[0]
    return [values[start - first : end - first] for start, end in pairwise(offsets)]


def _inside(array: Any, inner: Any) -> list[Any]:
    """Return the values of ``inner`` that belong to ``array``, which may be a slice of a longer array."""
    start, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return values_of(inner[start:end])


def _from_lists(array: Any) -> list[Any]:
    return _present(array, _slices(array, _inside(array, array.values)))


def _from_maps(array: Any) -> list[Any]:
    pairs = list(zip(_inside(array, array.keys), _inside(array, array.items), strict=True))
    return _present(array, [dict(entries) for entries in _slices(array, pairs)])


# -- to Arrow --------------------------------------------------------------------------------------------------------


def batch_of(rows: Sequence[Any], schema: Any) -> Any:
    """Return a record batch of rows or tuples, which must have as many fields as the schema.

    >>> import pyarrow as pa
    >>> from flintstream.common import Row
    >>> batch_of([Row(a=1), Row(a=None)], pa.schema({"a": pa.int8()})).to_pylist()
    [{'a': 1}, {'a': None}]

    Raises:
        FlintstreamError: A value does not fit its column; the message names the column.
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return arrow().record_batch(
        [_column(list(values), field) for values, field in zip(columns, schema, strict=True)], schema=schema
    )


def _column(values: list[Any], field: Any) -> Any:
    try:
        return write_whole(lambda column: array_of(column, field.type), values)
    except (arrow().ArrowException, TypeError, ValueError, OverflowError) as error:
        wrong = next((value for value in values if not _fits(value, field.type)), None)
        raise FlintstreamError(f"column '{field.name}': {shorten(wrong)} does not fit {field.type}: {error}") from error


def _fits(value: Any, kind: Any) -> bool:
    try:
        array_of([value], kind)
    except (arrow().ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True


def array_of(values: list[Any], kind: Any) -> Any:
    """Return an array of the given Arrow type with these values."""
    convert = _TO.get(_kind(kind))
    return arrow().array(values, kind) if convert is None else convert(values, kind)


def _to_instants(values: list[Any], kind: Any) -> Any:
    second = 1000 ** _ORDER.index(kind.unit)
    nanos = 1000 ** (len(_ORDER) - 1) // second
    counts = [None if v is None else v.seconds * second + v.nanos // nanos for v in values]
    return arrow().array(counts, kind)


def _mask(values: list[Any]) -> Any:
    return arrow().array([value is None for value in values], arrow().bool_())


def _to_structs(values: list[Any], kind: Any) -> Any:
    empty = (None,) * kind.num_fields
    parts = zip(*(empty if value is None else value for value in values), strict=True) if values else [()] * len(empty)
    fields = list(kind)
    arrays = [array_of(list(part), field.type) for part, field in zip(parts, fields, strict=True)]
    return arrow().StructArray.from_arrays(arrays, fields=fields, mask=_mask(values))


def _offsets(values: list[Any]) -> Any:
    """Return the offset of each value; None for a missing one."""
    offsets: list[int | None] = []
    end = 0
    for value in values:
        offsets.append(None if value is None else end)
        end += 0 if value is None else len(value)
    return arrow().array([*offsets, end], arrow().int32())


def _to_lists(values: list[Any], kind: Any) -> Any:
    inner = array_of(list(chain.from_iterable(value for value in values if value is not None)), kind.value_type)
    return arrow().ListArray.from_arrays(_offsets(values), inner, type=kind)


def _to_maps(values: list[Any], kind: Any) -> Any:
    present = [value for value in values if value is not None]
    keys = array_of(list(chain.from_iterable(present)), kind.key_type)
    items = array_of(list(chain.from_iterable(value.values() for value in present)), kind.item_type)
    return arrow().MapArray.from_arrays(_offsets(values), keys, items, type=kind)


def _kind(arrow_type: Any) -> str:
    types = arrow().types
    if types.is_timestamp(arrow_type):
        return "instant" if arrow_type.tz is not None else ""
    return next((name for name in ("struct", "map", "list") if getattr(types, f"is_{name}")(arrow_type)), "")


_FROM: dict[str, Callable[[Any], list[Any]]] = {
    "instant": _from_instants,
    "struct": _from_structs,
    "list": _from_lists,
    "map": _from_maps,
}
_TO: dict[str, Callable[[list[Any], Any], Any]] = {
    "instant": _to_instants,
    "struct": _to_structs,
    "list": _to_lists,
    "map": _to_maps,
}


# -- the digits and zones of timestamps, also within lists, maps and structs -------------------------------------------


def cast_times(array: Array, wanted: DataType) -> Array:
    """Return an array in a type, without the digits that its timestamps do not have.

    Digits are cut as ``datetime`` would be, to the past. Arrow cuts to 1970, or refuses.

    >>> pa = arrow()
    >>> cast_times(pa.array([-1, 1_999], pa.timestamp("us")), pa.timestamp("ms")).cast("int64").to_pylist()
    [-1, 1]

    Raises:
        ArrowException: A value does not fit.
    """
    if array.type == wanted:
        return array
    found = cut_times(array, wanted)
    return found if found.type == wanted else found.cast(wanted)


def cut_times(array: Array, wanted: DataType) -> Array:
    """Return an array whose timestamps have no zone, and no more digits than those of a type, which may have more.

    >>> pa = arrow()
    >>> cut_times(pa.array([1_999], pa.timestamp("us", "UTC")), pa.timestamp("ms")).type
    TimestampType(timestamp[ms])
    >>> cut_times(pa.array([1], pa.timestamp("s")), pa.timestamp("ns")).type
    TimestampType(timestamp[s])
    """
    return change_times(array, wanted, _cut)


def change_times(array: Array, wanted: DataType, change: Callable[[Array, DataType], Array]) -> Array:
    """Return an array in which a function has changed those that hold timestamps, as it does for those of a type.

    >>> pa = arrow()
    >>> given = pa.array([[1, None], None, []], pa.list_(pa.timestamp("s")))
    >>> change_times(given, given.type, lambda times, _: times.cast("int64")).to_pylist()
    [[1, None], None, []]
    """
    pa, kind = arrow(), array.type
    if pa.types.is_timestamp(kind):
        return change(array, wanted)
    if not _holds_times(kind):
        return array
    if _are(pa.types.is_struct, kind, wanted) and [f.name for f in kind] == [f.name for f in wanted]:
        fields = zip(array.flatten(), wanted, strict=True)
        parts = [change_times(part, field.type, change) for part, field in fields]
        return pa.StructArray.from_arrays(parts, names=[field.name for field in kind], mask=array.is_null())
    if _are(pa.types.is_map, kind, wanted):
        keys = change_times(array.keys, wanted.key_type, change)
        return pa.MapArray.from_arrays(_list_offsets(array), keys, change_times(array.items, wanted.item_type, change))
    if _are(pa.types.is_list, kind, wanted):
        return pa.ListArray.from_arrays(_list_offsets(array), change_times(array.values, wanted.value_type, change))
    return array  # of a type with another form, which Arrow casts, or refuses


def _are(has_form: Callable[[DataType], bool], kind: DataType, wanted: DataType) -> bool:
    return has_form(kind) and has_form(wanted)


def _holds_times(kind: DataType) -> bool:
    if arrow().types.is_timestamp(kind):
        return True
    if kind.num_fields == 0:
        return False
    return any(_holds_times(kind.field(i).type) for i in range(kind.num_fields))


def _list_offsets(array: Array) -> Array:
    """Return where values begin, NULL for those that are NULL, and where the last one ends."""
    pa, count = arrow(), len(array)
    begins = arrow_compute().if_else(array.is_valid(), array.offsets.slice(0, count), pa.scalar(None, pa.int32()))
    return pa.concat_arrays([begins, array.offsets.slice(count)])


def _cut(array: Array, wanted: DataType) -> Array:
    unit = array.type.unit
    if array.type.tz is not None:
        array = array.cast(arrow().timestamp(unit))
    if not arrow().types.is_timestamp(wanted) or _ORDER.index(unit) <= _ORDER.index(wanted.unit):
        return array
    floor = arrow_compute().floor_temporal(array, 1, _UNITS[wanted.unit])
    return floor.cast(arrow().timestamp(wanted.unit))


# -- batches as records ----------------------------------------------------------------------------------------------


class ArrowBatch:
    """Rows in columns. Pickled, it has its own rows only: Arrow would pickle what a slice was cut from, too.

    >>> import pickle
    >>> import pyarrow as pa
    >>> numbers = pa.RecordBatch.from_pydict({"n": list(range(100_000))})
    >>> len(pickle.dumps(ArrowBatch(numbers.slice(5, 2)))) < 2_000
    True
    >>> pickle.loads(pickle.dumps(ArrowBatch(numbers.slice(5, 2)))).batch.to_pydict()
    {'n': [5, 6]}
    """

    __slots__ = ("batch",)

    def __init__(self, batch: RecordBatch) -> None:
        """Hold a record batch."""
        self.batch = batch

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        """Write the batch in Arrow's format for messages."""
        pa = arrow()
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, self.batch.schema) as writer:
            writer.write_batch(self.batch)
        return _read, (stream.getvalue().to_pybytes(),)

    def __repr__(self) -> str:
        return f"<{len(self.batch)} rows of {', '.join(self.batch.schema.names)}>"

    def pieces(self, size: int) -> Iterator[RecordBatch]:
        """Yield the rows in record batches of a size, without copying them."""
        for start in range(0, len(self.batch), size):
            yield self.batch.slice(start, size)


def _read(data: bytes) -> ArrowBatch:
    with arrow().ipc.open_stream(data) as stream:
        return ArrowBatch(stream.read_next_batch())
