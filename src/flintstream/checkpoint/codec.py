"""State as bytes: Python objects that keep their value and type.

Plain data (numbers, strings, collections, times, rows, windows, members of importable enums) is written by content, in
MessagePack with a few extension codes. All other objects are pickled one by one and marked as pickled, so that a reader
can do without pickle. An object that two values share becomes two objects.

There are two entry points. :func:`encode` takes a block of values and works on columns, with one check and one call for
thousands of values; :func:`encode_all` takes several. :func:`encode_one` takes a single value.
``docs/reference/state-format.md`` describes the bytes.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain, islice
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, cast

from flintstream.checkpoint.key_codec import encode_key
from flintstream.checkpoint.registry import BY_TYPE, Opaque, register
from flintstream.checkpoint.values import (
    ATOMS,
    all_atoms,
    corrupt,
    decode_one,
    encode_one,
    extension_of,
    pack,
    plain,
    plain_or_pickled,
    unpack,
)
from flintstream.compiled import load
from flintstream.errors import CorruptDataError, PickleRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    Known: TypeAlias = dict[int, tuple[list[object], bytes]]
    """By depth: the last tuples that were written, and their bytes."""

__all__ = [
    "CorruptDataError",
    "Opaque",
    "decode",
    "decode_one",
    "encode",
    "encode_all",
    "encode_key",
    "encode_one",
    "register",
]

# Forms of columns. Files contain them, so never change the meaning of a number.
PLAIN, SAME, TUPLES, LISTS, EXTENSION, MIXED, OPTIONAL = range(7)

_MAX_SAME = 1 << 20
_FREE_OBJECTS = 1 << 25
"""How many objects a block may describe in addition to those that it holds: a few bytes can stand for a million."""
_COLUMN_DEPTH = 6
_compiled_columns = getattr(load("exchange"), "columns_of", None)
_EXACT = frozenset({type(None), bool, int, str, bytes})  # equal values of one of these types are the same value


def encode(values: Sequence[Any]) -> bytes:
    """Return a block of values as bytes. Optimized for thousands of values of one type.

    Raises:
        CheckpointError: A value can be neither written by content nor pickled.

    >>> decode(encode([("a", 1), ("b", 2)]))
    [('a', 1), ('b', 2)]
    """
    return _column(list(values), 0)


def encode_all(blocks: Iterable[Sequence[object]]) -> list[bytes]:
    """Return blocks of values as bytes, each as :func:`encode` does.

    It takes less time for tuples that several of them have in the same order: joins have rows as keys and as values.

    Raises:
        CheckpointError: A value can be neither written by content nor pickled.

    >>> row = ("a", 1)
    >>> encode_all([[(7, row)], [(row, 1)]]) == [encode([(7, row)]), encode([(row, 1)])]
    True
    """
    known: Known = {}
    return [_column(list(values), 0, known) for values in blocks]


def decode(data: bytes, *, allow_pickle: bool = True) -> list[Any]:
    """Return the values of a block.

    Args:
        data: the result of :func:`encode`.
        allow_pickle: whether code may run, which means unpickling and importing the modules of enums. If not, such
            values are :class:`Opaque`.

    Raises:
        CorruptDataError: The bytes are not a block of values, or need a class that cannot be imported.
    """
    try:
        return _Columns(_FREE_OBJECTS + 16 * len(data)).values(unpack(data, allow_pickle))
    except (CorruptDataError, PickleRefusedError):
        raise
    except Exception as error:
        raise corrupt(error) from error


def _column(values: list[Any], depth: int, known: Known | None = None) -> bytes:
    if values:
        first = values[0]
        cls = type(first)
        if cls in ATOMS:
            return _atoms(values, first, cls, depth)
        if cls is tuple and depth < _COLUMN_DEPTH and (packed := _tuples(values, depth, known)) is not None:
            return packed
        if depth < _COLUMN_DEPTH and list(map(type, values)).count(cls) == len(values):
            packed = _collections(values, cls, depth + 1)
            if packed is not None:
                return packed
        elif (packed := _optional(values, depth)) is not None:
            return packed
    return _parts(MIXED, pack(list(map(plain_or_pickled, values))))


def _atoms(values: list[Any], first: object, cls: type, depth: int) -> bytes:
    last = values[-1]
    equal = cls in _EXACT and type(last) is cls and last == first and 1 < len(values) <= _MAX_SAME
    if equal and values.count(first) == len(values) and list(map(type, values)).count(cls) == len(values):
        return _parts(SAME, pack(len(values)), pack(plain(first, ())))
    packed = _if_plain(values, lambda: values)
    if packed is not None:
        return packed
    packed = _optional(values, depth) if first is None else None
    return packed or _parts(MIXED, pack(list(map(plain_or_pickled, values))))


def _optional(values: list[Any], depth: int) -> bytes | None:
    """Write values of which only some are None. Return None if all of them are, or none is."""
    others = [value for value in values if value is not None]
    if depth >= _COLUMN_DEPTH or not 0 < len(others) < len(values):
        return None
    missing = [position for position, value in enumerate(values) if value is None]
    return _parts(OPTIONAL, pack(missing), _column(others, depth + 1))


def _tuples(values: list[object], depth: int, known: Known | None) -> bytes | None:
    """Write tuples. Return None if some values are not, or differ in length."""
    if known is not None and depth in known:
        last, packed = known[depth]
        if len(last) == len(values) and all(map(is_, last, values)):
            return packed
    columns = _columns_of(values)
    if columns is None:
        return None
    parts = b"".join(_column(column, depth + 1, known) for column in columns)
    packed = _parts(TUPLES, pack(len(values)), b"\xdd" + len(columns).to_bytes(4, "big") + parts)
    if known is not None:
        known[depth] = values, packed
    return packed


def _columns_of(values: list[object]) -> list[list[object]] | None:
    if _compiled_columns is not None:
        return _compiled_columns(values)  # type: ignore[no-any-return]
    rows = cast("list[tuple[object, ...]]", values)
    width = len(rows[0])
    if list(map(type, rows)).count(tuple) < len(rows) or list(map(len, rows)).count(width) < len(rows):
        return None
    # Avoid zip(*rows): its many iterators would trigger the garbage collector, which then walks all state.
    return [list(map(itemgetter(i), rows)) for i in range(width)]


def _collections(values: list[Any], cls: type, depth: int) -> bytes | None:
    """Write values of one type that is not an atom. Return None if the type has no special form."""
    if cls is list:
        return _if_plain(values, lambda: chain.from_iterable(values)) or _parts(
            LISTS, pack(list(map(len, values))), _column(list(chain.from_iterable(values)), depth)
        )
    if cls is dict:
        if all_atoms(set(map(type, chain.from_iterable(values)))):
            return _if_plain(values, lambda: chain.from_iterable(map(dict.values, values)))
    elif cls in BY_TYPE:
        extension = BY_TYPE[cls]
        return _parts(EXTENSION, pack(extension.tag), _column(list(map(extension.to_plain, values)), depth))
    return None


def _if_plain(values: list[Any], parts: Callable[[], Iterable[Any]]) -> bytes | None:
    """Write values directly if all their ``parts`` are atoms of at most 64 bits."""
    if not _proven(parts):
        return None
    try:
        return _parts(PLAIN, pack(values))
    except (TypeError, ValueError, OverflowError):
        return None


def _proven(parts: Callable[[], Iterable[Any]]) -> bool:
    """Return whether the strict packer either keeps the types of all parts or refuses them.

    It would write a bytearray as bytes, for example. Only numbers can be summed and only strings joined, which takes a
    fraction of the time of checking every type. The packer itself refuses subclasses.
    """
    first = next(iter(parts()), None)
    try:
        if isinstance(first, int | float):
            sum(parts())
            return True
        if isinstance(first, str):
            "".join(parts())
            return True
    except Exception:  # noqa: BLE001, S110 - other objects may raise anything, and then nothing is proven
        pass
    return all_atoms(set(map(type, parts())))


def _parts(form: int, *packed: bytes) -> bytes:
    """Return an array of a form (a small number) and packed items."""
    return bytes((0x91 + len(packed), form)) + b"".join(packed)


class _Columns:
    """Reads columns, up to a number of objects: each takes up to 64 bytes."""

    def __init__(self, left: int) -> None:
        self._left = left

    def _take(self, objects: int) -> None:
        self._left -= objects
        if self._left < 0:
            raise CorruptDataError("a block that would take too much memory")

    def values(self, column: list[Any]) -> list[Any]:
        """Return the values of a column."""
        form = column[0]
        if form in {PLAIN, MIXED}:
            _, values = column
            return _check_column(values)
        if form == SAME:
            _, count, value = column
            return self._repeat(count, value)
        if form == TUPLES:
            _, count, columns = column
            if not columns:
                return self._repeat(count, ())
            parts = list(map(self.values, columns))
            self._take(4 * len(parts[0]))
            rows = list(zip(*parts, strict=True))
            if len(rows) != count:
                raise CorruptDataError(f"{len(rows)} tuples instead of {count}")
            return rows
        if form == LISTS:
            _, lengths, part = column
            flat = self.values(part)
            if sum(lengths) != len(flat) or min(lengths, default=0) < 0:
                raise CorruptDataError("lists whose lengths do not match their elements")
            items = iter(flat)
            return [list(islice(items, length)) for length in lengths]
        if form == EXTENSION:
            _, tag, part = column
            plain_values = self.values(part)
            self._take(4 * len(plain_values))
            return list(map(extension_of(tag).from_plain, plain_values))
        if form == OPTIONAL:
            _, missing, part = column
            found = self.values(part)
            self._take(len(missing))
            gaps, items = set(missing), iter(found)
            if len(gaps) != len(missing) or not gaps <= set(range(len(found) + len(gaps))):
                raise CorruptDataError("values that are missing where there are none")
            return [None if position in gaps else next(items) for position in range(len(found) + len(gaps))]
        raise CorruptDataError(f"a column of the unknown form {form!r}")

    def _repeat(self, count: int, value: Any) -> list[Any]:
        if not 0 <= count <= _MAX_SAME or not isinstance(value, Hashable):
            raise CorruptDataError(f"{count!r} equal values")
        self._take(count * (1 + (len(value) >> 10 if isinstance(value, (str, bytes)) else 0)))
        return [value] * count


def _check_column(values: Any) -> list[Any]:
    if type(values) is not list:
        raise CorruptDataError("a column without values")
    return values
