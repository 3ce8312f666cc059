"""The layout of state in RocksDB: one table of rows, ordered by key group, then by state, then by key.

=====================  ===========================================================================================
bytes of a row's key
=====================  ===========================================================================================
2                      key group, big endian
2                      number of the state in the catalogue, big endian
rest                   encoded parts: the key, the namespace if there is one, the map key of a map. Each part except
                       the last follows its length (4). In a list, all parts follow their length, and an increasing
                       8-byte number at the end keeps elements in the order in which they were added
=====================  ===========================================================================================

=====================  ===========================================================================================
bytes of its value
=====================  ===========================================================================================
1                      1 if the original parts follow, else 0
8                      with a time-to-live, except for lists: the time of the last access in ms, big endian
4, key                 only if the first byte is 1: the original parts, each after its length, all after their total
                       length. Encoded keys do not distinguish 1 from 1.0, which are the same key
rest                   the encoded value; for a list any number of elements, each after its length (4) and, with a
                       time-to-live, its time (8)
=====================  ===========================================================================================
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import repeat
from operator import add
from struct import Struct
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.codec import decode_one, encode_one
from flintstream.checkpoint.key_codec import encode_key, encode_plain_keys
from flintstream.compiled import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flintstream.state.backend import TableInfo

LAST_GROUP = 0xFFFF
"""The pseudo key group of the catalogue, after all key groups."""

_HEAD = Struct(">HH")
_LENGTH = Struct(">I")
_NUMBER = Struct(">Q")
_TIME = Struct(">q")
_ELEMENT = Struct(">Iq")

_compiled = load("rows")

ATOMS = frozenset({int, str, bytes, bool, float, type(None)})
_all_atoms = ATOMS.issuperset


class Packed:
    """A mutable value, kept as bytes so that only an update changes it."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        """Keep ``data``, the output of the codec."""
        self.data = data


def is_fixed(value: Any) -> bool:
    """Return whether a value is immutable: an atom, or a tuple of immutable values.

    >>> is_fixed((1, ("a", None))), is_fixed(([],))
    (True, False)
    """
    cls = type(value)
    if cls in ATOMS:
        return True
    return cls is tuple and (_all_atoms(map(type, value)) or all(map(is_fixed, value)))


def pack(value: Any) -> Any:
    """Return an immutable value itself, and any other value as :class:`Packed`."""
    return value if type(value) in ATOMS or is_fixed(value) else Packed(encode_one(value))


def unpack(value: Any) -> Any:
    """Return the value itself, or a fresh copy of a :class:`Packed` one."""
    return decode_one(value.data) if type(value) is Packed else value


def to_bytes(value: Any) -> bytes:
    """Return a value, or a :class:`Packed` one, as bytes."""
    return value.data if type(value) is Packed else encode_one(value)


class Layout:
    """Turns entries of one state into rows and back."""

    def __init__(self, info: TableInfo, number: int, key_group: Callable[[Any], int]) -> None:
        """Lay out the state ``info`` under ``number``. ``key_group`` returns that of a key without namespace."""
        self.info = info
        self.number = number
        self._key_group = key_group
        groups = getattr(key_group, "groups", None)
        single = _compiled is not None and groups is not None and not info.namespaced and info.kind != "map"
        self._groups: int | None = groups if single else None
        """Number of key groups, if the compiled code makes the rows."""

    # -- keys of rows ------------------------------------------------------------------------------------------------

    def head(self, group: int) -> bytes:
        """Return the common prefix of all rows of a key group."""
        return _HEAD.pack(group, self.number)

    def single(self, key: Any) -> tuple[bytes, bytes | None]:
        """Return the row of a key with a single value, and its original parts if the row does not determine them."""
        if self._groups is not None:
            made: bytes | None = _compiled.row(key, self.number, self._groups)
            if made is not None:
                return made, None
        if self.info.namespaced:
            return self._row(key, _parts(key), last_open=True)
        code, own = _encode_key(key)
        row = _HEAD.pack(self._key_group(key), self.number) + code
        return row, None if own is None else _LENGTH.pack(len(own)) + own

    def place(self, key: Any) -> bytes:
        """Return the row of a key with a single row; for a map, of a pair of key and map key."""
        if self._groups is not None:
            made: bytes | None = _compiled.row(key, self.number, self._groups)
            if made is not None:
                return made
        if self.info.kind == "map":
            return self.entry(key)[0]
        if self.info.namespaced:
            return self.single(key)[0]
        return _HEAD.pack(self._key_group(key), self.number) + encode_key(key)

    def prefix(self, key: Any) -> tuple[bytes, bytes | None]:
        """Return the prefix of a key in a state with several rows per key, and the parts as :meth:`single` does."""
        return self._row(key, _parts(key) if self.info.namespaced else [_encode_key(key)], last_open=False)

    def entry(self, pair: tuple[Any, Any]) -> tuple[bytes, bytes | None]:
        """Return the row of a map entry, where ``pair`` is key and map key, and the parts as :meth:`single` does."""
        key, map_key = pair
        parts = _parts(key) if self.info.namespaced else [_encode_key(key)]
        return self._row(key, [*parts, _encode_key(map_key)], last_open=True)

    def _row(self, key: Any, parts: list[tuple[bytes, bytes | None]], *, last_open: bool) -> tuple[bytes, bytes | None]:
        group = self._key_group(key[0] if self.info.namespaced else key)
        pieces = [_HEAD.pack(group, self.number)]
        given = False
        for code, own in parts:
            pieces += (_LENGTH.pack(len(code)), code)
            given = given or own is not None
        if last_open:
            del pieces[-2]
        if not given:
            return b"".join(pieces), None
        owns = [code if own is None else own for code, own in parts]
        return b"".join(pieces), b"".join(_LENGTH.pack(len(own)) + own for own in owns)

    def key_of(self, row: bytes, value: bytes, decode: Callable[[bytes], Any] = decode_one) -> Any:
        """Return the original key of a row; for a map, the pair of key and map key."""
        if value[0]:
            start = 9 if self.stamped else 1
            parts = _split(value[start + 4 : _body(value, start)])
        else:
            parts, at = [], 4
            for _ in range(self.depth):
                (length,) = _LENGTH.unpack_from(row, at)
                parts.append(row[at + 4 : at + 4 + length])
                at += 4 + length
            if self.info.kind != "list":
                parts.append(row[at:])
        found = list(map(decode, parts))
        key = (found[0], found[1]) if self.info.namespaced else found[0]
        return (key, found[-1]) if self.info.kind == "map" else key

    @property
    def depth(self) -> int:
        """Number of parts that follow their length."""
        return self.info.namespaced + (self.info.kind in {"map", "list"})

    def prefix_end(self, row: bytes) -> int:
        """Return where the key ends in the row of a list or map."""
        at = 4
        for _ in range(1 + self.info.namespaced):
            at += 4 + int(_LENGTH.unpack_from(row, at)[0])
        return at

    # -- values of rows ----------------------------------------------------------------------------------------------

    @property
    def stamped(self) -> bool:
        """Whether each row has one time, rather than one per element."""
        return self.info.ttl and self.info.kind != "list"

    def write(self, own: bytes | None, value: Any) -> bytes:
        """Return the value of a row. With a time-to-live, ``value`` is a pair of value and time."""
        stamp = b""
        if self.info.ttl:
            value, time = value
            stamp = _TIME.pack(time)
        return _lead(stamp, own) + to_bytes(value)

    def rows(self, keys: list[Any], values: Iterable[Any]) -> Iterator[tuple[bytes, bytes]]:
        """Return the row of each key, or pair of key and map key, and its value, as :meth:`write` does."""
        info, write = self.info, self.write
        places = None if info.namespaced or info.kind == "map" else self._plain_places(keys)
        if places is None:
            place = self.entry if info.kind == "map" else self.single
            return ((row, write(own, value)) for (row, own), value in zip(map(place, keys), values, strict=True))
        coded = (write(None, value) for value in values) if info.ttl else map(_without_stamp, map(to_bytes, values))
        return zip(places, coded, strict=True)

    def _plain_places(self, keys: list[Any]) -> Iterable[bytes] | None:
        """Return the rows of keys that the rows determine, if values encode alike, or None."""
        if self._groups is not None:
            places = list(map(_compiled.row, keys, repeat(self.number), repeat(self._groups)))
            if None not in places:
                return places
        codes = encode_plain_keys(keys)
        if codes is None:
            return None
        return map(add, map(_HEAD.pack, map(self._key_group, keys), repeat(self.number)), codes)

    def write_list(self, own: bytes | None, elements: list[Any]) -> bytes:
        """Return the value of a row with some elements of a list."""
        parts = [_lead(b"", own)]
        for element in elements:
            if self.info.ttl:
                code = to_bytes(element[0])
                parts += (_ELEMENT.pack(len(code), element[1]), code)
            else:
                code = to_bytes(element)
                parts += (_LENGTH.pack(len(code)), code)
        return b"".join(parts)

    def read(self, value: bytes) -> Any:
        """Return the value that :meth:`write` received; a mutable one is packed."""
        if self.info.ttl:
            return _from_bytes(value[_body(value, 9) :]), self.time_of(value)
        if _compiled is not None:
            found = _compiled.atom(value)
            if found is not value:
                return found
        return _from_bytes(value[_body(value, 1) :])

    def read_list(self, value: bytes) -> list[Any]:
        """Return the elements of a row of a list."""
        elements: list[Any] = []
        at, end = _body(value, 1), len(value)
        while at < end:
            if self.info.ttl:
                length, time = _ELEMENT.unpack_from(value, at)
                elements.append((_from_bytes(value[at + 12 : at + 12 + length]), time))
                at += 12 + length
            else:
                (length,) = _LENGTH.unpack_from(value, at)
                elements.append(_from_bytes(value[at + 4 : at + 4 + length]))
                at += 4 + length
        return elements

    def codes_of(self, value: bytes) -> Iterator[tuple[bytes, int | None]]:
        """Return the encoded value of a row, or of each element of a list, with its time if it has one."""
        if self.info.kind != "list":
            yield value[_body(value, 9 if self.info.ttl else 1) :], self.time_of(value) if self.info.ttl else None
            return
        at, end = _body(value, 1), len(value)
        while at < end:
            length, time = _ELEMENT.unpack_from(value, at) if self.info.ttl else (*_LENGTH.unpack_from(value, at), None)
            at += 4 if time is None else 12
            yield value[at : at + length], time
            at += length

    @staticmethod
    def join(values: list[bytes]) -> bytes:
        """Return the value of a row with the elements of several rows of a list."""
        return values[0] + b"".join([value[_body(value, 1) :] for value in values[1:]])

    @staticmethod
    def time_of(value: bytes) -> int:
        """Return the time of a row that has one."""
        (time,) = _TIME.unpack_from(value, 1)
        return int(time)

    def has_expired(self, value: bytes, limit: int) -> bool:
        """Return whether the last access to a row, or to an element in it, was at or before ``limit``."""
        if self.info.kind != "list":
            return self.time_of(value) <= limit
        at, end = _body(value, 1), len(value)
        while at < end:
            length, time = _ELEMENT.unpack_from(value, at)
            if time <= limit:
                return True
            at += 12 + length
        return False

    def convert_times(self, value: bytes, *, ttl: bool, now: int) -> bytes:
        """Return the value of a row with times added (``now``) or removed."""
        if self.info.kind == "list":
            elements = self.read_list(value)
            own = value[5 : _body(value, 1)] if value[0] else None
            changed = [(element, now) for element in elements] if ttl else [element for element, _ in elements]
            return Layout(replace(self.info, ttl=ttl), self.number, self._key_group).write_list(own, changed)
        return value[:1] + (_TIME.pack(now) + value[1:] if ttl else value[9:])


def number_of_row(count: int) -> bytes:
    """Return the end of a list's row, which orders rows by ``count``."""
    return _NUMBER.pack(count)


def place_of(row: bytes) -> tuple[int, int]:
    """Return the key group and the state number of a row."""
    group, number = _HEAD.unpack_from(row)
    return int(group), int(number)


def after(prefix: bytes) -> bytes:
    """Return the smallest row after all rows with a prefix, which must not be all 0xff."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes((stem[-1] + 1,))


def first_of(group: int, number: int) -> bytes:
    """Return the start of the rows of a state in a key group. ``number`` may exceed two bytes by one."""
    return _HEAD.pack(group + (number >> 16), number & 0xFFFF)


def _encode_key(key: Any) -> tuple[bytes, bytes | None]:
    code = encode_key(key)
    if type(key) is str:
        return code, None
    own = encode_one(key)
    return code, None if own == code else own


def _parts(key: Any) -> list[tuple[bytes, bytes | None]]:
    return [_encode_key(key[0]), _encoded_namespace(key[1])]


@lru_cache(4096)
def _encoded_namespace(namespace: Any) -> tuple[bytes, bytes | None]:
    """Do the same as :func:`_encode_key`, with more effort, since many keys share a window."""
    code, own = _encode_key(namespace)
    if own is not None and encode_one(decode_one(code)) == own:
        return code, None
    return code, own


def _split(data: bytes) -> list[bytes]:
    parts, at = [], 0
    while at < len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        parts.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return parts


def _lead(stamp: bytes, own: bytes | None) -> bytes:
    return b"\0" + stamp if own is None else b"".join((b"\1", stamp, _LENGTH.pack(len(own)), own))


def _without_stamp(code: bytes) -> bytes:
    return b"\0" + code


def _body(value: bytes, start: int) -> int:
    """Return the offset of the encoded value."""
    if value[0]:
        return start + 4 + int(_LENGTH.unpack_from(value, start)[0])
    return start


def _from_bytes(data: bytes) -> Any:
    value = decode_one(data)
    return value if type(value) in ATOMS or is_fixed(value) else Packed(data)
