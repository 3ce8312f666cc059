"""How state lies in RocksDB: one table of rows, ordered by key group, then by state, then by key.

=====================  ===========================================================================================
bytes of a row's key
=====================  ===========================================================================================
2                      key group, big endian
2                      number of the state, big endian; the catalogue says which one that is
rest                   encoded parts, each but the last with its length (4) before it: the key, the namespace if there
                       is one, the map key of a map. Of a list all have their length, and an 8-byte number comes last
                       that grows, so that elements come in the order of being added
=====================  ===========================================================================================

=====================  ===========================================================================================
bytes of its value
=====================  ===========================================================================================
1                      1 if the parts follow as they were given, else 0
8                      with a time-to-live, except of lists: the time of the last access in ms, big endian
4, key                 only where the first byte is 1: the parts as they were given, with the length of all and of
                       each before them. Encoded keys do not tell 1 and 1.0 apart, which are one key
rest                   the encoded value; of a list any number of elements, each with its length (4) before it, and
                       then its time (8) if there is a time-to-live
=====================  ===========================================================================================
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any

from flintstream.checkpoint.codec import decode_one, encode_one
from flintstream.checkpoint.key_codec import encode_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flintstream.state.backend import TableInfo

LAST_GROUP = 0xFFFF
"""Beyond all key groups: the catalogue's place."""

_HEAD = Struct(">HH")
_LENGTH = Struct(">I")
_NUMBER = Struct(">Q")
_TIME = Struct(">q")
_ELEMENT = Struct(">Iq")

ATOMS = frozenset({int, str, bytes, bool, float, type(None)})
_all_atoms = ATOMS.issuperset


class Packed:
    """A value that could be changed from outside, kept as bytes so that only an update changes it."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        """Keep ``data``, which the codec made."""
        self.data = data


def is_fixed(value: Any) -> bool:
    """Tell whether a value can never change: an atom, or a tuple of such values.

    >>> is_fixed((1, ("a", None))), is_fixed(([],))
    (True, False)
    """
    cls = type(value)
    if cls in ATOMS:
        return True
    return cls is tuple and (_all_atoms(map(type, value)) or all(map(is_fixed, value)))


def packed(value: Any) -> Any:
    """Return a value that cannot change as it is, any other one as :class:`Packed`."""
    return value if type(value) in ATOMS or is_fixed(value) else Packed(encode_one(value))


def unpacked(value: Any) -> Any:
    """Return the value itself, a fresh one if it could be changed."""
    return decode_one(value.data) if type(value) is Packed else value


def to_bytes(value: Any) -> bytes:
    """Return a value, or a :class:`Packed` one, as bytes."""
    return value.data if type(value) is Packed else encode_one(value)


class Layout:
    """Turns entries of one state into rows and back."""

    def __init__(self, info: TableInfo, number: int, key_group: Callable[[Any], int]) -> None:
        """Lay out the state ``info`` under ``number``; ``key_group`` gives that of a key without namespace."""
        self.info = info
        self.number = number
        self._key_group = key_group

    # -- keys of rows ------------------------------------------------------------------------------------------------

    def head(self, group: int) -> bytes:
        """Return what all keys of a group begin with."""
        return _HEAD.pack(group, self.number)

    def single(self, key: Any) -> tuple[bytes, bytes | None]:
        """Return the row of a key with a single value, and its parts as given where the row does not say them."""
        if self.info.namespaced:
            return self._row(key, _parts(key), last_open=True)
        code, own = _encoded(key)
        row = _HEAD.pack(self._key_group(key), self.number) + code
        return row, None if own is None else _LENGTH.pack(len(own)) + own

    def place(self, key: Any) -> bytes:
        """Return the row of a key (in a map, of a pair) that has one row."""
        if self.info.kind == "map":
            return self.entry(key)[0]
        if self.info.namespaced:
            return self.single(key)[0]
        return _HEAD.pack(self._key_group(key), self.number) + encode_key(key)

    def prefix(self, key: Any) -> tuple[bytes, bytes | None]:
        """Return what the rows of a key begin with, in a state with several rows per key; else as :meth:`single`."""
        return self._row(key, _parts(key) if self.info.namespaced else [_encoded(key)], last_open=False)

    def entry(self, pair: tuple[Any, Any]) -> tuple[bytes, bytes | None]:
        """Return the row of a map entry, ``pair`` being key and map key; else as :meth:`single`."""
        key, map_key = pair
        parts = _parts(key) if self.info.namespaced else [_encoded(key)]
        return self._row(key, [*parts, _encoded(map_key)], last_open=True)

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
        """Return the key of a row as it was given; of a map, the pair with the map key."""
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
        """How many parts have their length before them."""
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
        """Whether a row has a time of its own, not one per element."""
        return self.info.ttl and self.info.kind != "list"

    def write(self, own: bytes | None, value: Any) -> bytes:
        """Return the value of a row; with a time-to-live, ``value`` is a pair with the time."""
        stamp = b""
        if self.info.ttl:
            value, time = value
            stamp = _TIME.pack(time)
        return _lead(stamp, own) + to_bytes(value)

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
        """Return the value of a row, as :meth:`write` was given it: one that could be changed is packed."""
        if self.info.ttl:
            return _from_bytes(value[_body(value, 9) :]), self.time_of(value)
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
        """Return the encoded value of a row, of a list those of its elements, each with its time if it has one."""
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
    def joined(values: list[bytes]) -> bytes:
        """Return the value of a row that has the elements of several rows of a list."""
        return values[0] + b"".join([value[_body(value, 1) :] for value in values[1:]])

    @staticmethod
    def time_of(value: bytes) -> int:
        """Return the time of a row that has one."""
        (time,) = _TIME.unpack_from(value, 1)
        return int(time)

    def has_expired(self, value: bytes, limit: int) -> bool:
        """Tell whether a row, or an element in it, was accessed at ``limit`` or before for the last time."""
        if self.info.kind != "list":
            return self.time_of(value) <= limit
        at, end = _body(value, 1), len(value)
        while at < end:
            length, time = _ELEMENT.unpack_from(value, at)
            if time <= limit:
                return True
            at += 12 + length
        return False

    def converted(self, value: bytes, *, ttl: bool, now: int) -> bytes:
        """Return the value of a row with times added (``now``) or taken away."""
        if self.info.kind == "list":
            elements = self.read_list(value)
            own = value[5 : _body(value, 1)] if value[0] else None
            changed = [(element, now) for element in elements] if ttl else [element for element, _ in elements]
            return Layout(replace(self.info, ttl=ttl), self.number, self._key_group).write_list(own, changed)
        return value[:1] + (_TIME.pack(now) + value[1:] if ttl else value[9:])


def number_of_row(count: int) -> bytes:
    """Return the end of a list's row: later rows come after earlier ones."""
    return _NUMBER.pack(count)


def place_of(row: bytes) -> tuple[int, int]:
    """Return key group and number of the state of a row."""
    group, number = _HEAD.unpack_from(row)
    return int(group), int(number)


def after(prefix: bytes) -> bytes:
    """Return the least row that comes after all rows with a prefix (which is not all 0xff)."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes((stem[-1] + 1,))


def first_of(group: int, number: int) -> bytes:
    """Return where the rows of a state begin within a key group; ``number`` may be one too many for two bytes."""
    return _HEAD.pack(group + (number >> 16), number & 0xFFFF)


def _encoded(key: Any) -> tuple[bytes, bytes | None]:
    code = encode_key(key)
    if type(key) is str:
        return code, None
    own = encode_one(key)
    return code, None if own == code else own


def _parts(key: Any) -> list[tuple[bytes, bytes | None]]:
    return [_encoded(key[0]), _encoded_namespace(key[1])]


@lru_cache(4096)
def _encoded_namespace(namespace: Any) -> tuple[bytes, bytes | None]:
    """As :func:`_encoded`, with more effort, since many keys share a window."""
    code, own = _encoded(namespace)
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


def _body(value: bytes, start: int) -> int:
    """Return where the encoded value begins."""
    if value[0]:
        return start + 4 + int(_LENGTH.unpack_from(value, start)[0])
    return start


def _from_bytes(data: bytes) -> Any:
    value = decode_one(data)
    return value if type(value) in ATOMS or is_fixed(value) else Packed(data)
