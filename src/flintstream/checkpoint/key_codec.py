"""Keys as bytes: equal keys have equal bytes, and different keys have different bytes."""

from __future__ import annotations

import io
import pickle
from decimal import Decimal
from numbers import Complex, Rational
from typing import TYPE_CHECKING, Any

import msgpack
from msgpack import ExtType

from flintstream.checkpoint.pickles import permitting
from flintstream.checkpoint.registry import BY_TYPE
from flintstream.checkpoint.values import FROZENSET, PICKLED, TAGGED, encode_one

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["encode_key", "encode_plain_keys"]

NUMBER = 10  # an additional code, next to those of the codec

_QUICK = frozenset({type(None), int, str, bytes})
_plain = frozenset({int, str, bytes})
_COMPOUND = frozenset({tuple, frozenset, set})
_all_quick = _QUICK.issuperset
_pack: Callable[[Any], bytes] = msgpack.Packer().pack
_strict: Callable[[Any], bytes] = msgpack.Packer(strict_types=True).pack


def encode_key(key: Any) -> bytes:
    """Return a key as bytes, the same in every process.

    Keys that are equal in Python are one key: ``1``, ``1.0``, ``True`` and ``Fraction(1)``, a named tuple and the tuple
    of its fields, one instant in two time zones. NaN, although not equal to itself, is also one key. Objects of other
    classes are compared by their pickled bytes. The bytes have no meaningful order.

    >>> encode_key(("a", 1)) == encode_key(("a", True)) != encode_key(("a", "1"))
    True
    """
    cls = type(key)
    try:
        if cls in _QUICK or (cls is tuple and _all_quick(map(type, key))):
            return _pack(key)
    except (OverflowError, UnicodeEncodeError):
        pass
    return _pack_tree(_canonical(key))


def encode_plain_keys(keys: Sequence[Any]) -> list[bytes] | None:
    """Return what :func:`encode_key` returns for each key, if values encode alike, or None.

    >>> encode_plain_keys([1, "a"]) == [encode_key(1), encode_key("a")], encode_plain_keys([1, True])
    (True, None)
    """
    if not _plain.issuperset(map(type, keys)):
        return None
    try:
        return list(map(_pack, keys))
    except (OverflowError, UnicodeEncodeError):
        return None


def _pack_tree(tree: Any) -> bytes:
    try:
        return _strict(tree)
    except UnicodeEncodeError:
        return msgpack.packb(tree, strict_types=True, unicode_errors="surrogatepass")  # type: ignore[no-any-return]


def _canonical(key: Any) -> Any:
    """Return a form that is the same for equal keys, and that the strict packer accepts."""
    cls = type(key)
    if cls in {str, bytes, type(None)}:
        return key
    if isinstance(key, int | float | Decimal):
        return _number(key)
    extension = BY_TYPE.get(cls)
    if cls is complex or (extension is None and cls not in _COMPOUND):
        plain = _plain_number(key)
        if plain is not None:
            return _number(plain)
    if extension is not None:
        return ExtType(TAGGED, _pack_tree([extension.tag, _canonical(extension.to_key(key))]))
    if isinstance(key, tuple) and (cls is tuple or key == tuple(key)):  # a window never equals a tuple
        return list(map(_canonical, key))
    if isinstance(key, frozenset | set):
        return ExtType(FROZENSET, _pack_tree(sorted(map(encode_key, key))))
    if isinstance(key, str) and key == (text := str.__str__(key)):
        return text
    if isinstance(key, bytes) and key == (data := bytes(key)):
        return data
    with permitting():
        data = encode_one(key)
    if data[0] in _EXTENSIONS and PICKLED in data[1:6]:
        data = _by_content(key) or data
    return ExtType(PICKLED, data)


def _plain_number(key: Any) -> int | float | Decimal | None:
    """Return the plain number that a number of another class equals, such as one of NumPy; None without any."""
    if type(key).__module__ == "numpy" and type(key).__name__ in {"bool", "bool_"}:
        return int(key)
    if hasattr(type(key), "__index__"):
        return int(key.__index__())
    if isinstance(key, Rational):
        return _as_decimal(int(key.numerator), int(key.denominator))
    if isinstance(key, Complex):
        if key.imag != 0:
            return None
        real = float(key.real)
        return real if real == key or real != real else None  # noqa: PLR0124 - NaN
    return None


def _as_decimal(numerator: int, denominator: int) -> Decimal | None:
    """Return a fraction as a decimal number; None if that has no end, so that no other number equals the fraction.

    >>> _as_decimal(1, 8), _as_decimal(1, 3)
    (Decimal('0.125'), None)
    """
    places = 0
    while denominator % 10 == 0:
        denominator, places = denominator // 10, places + 1
    for factor, other in ((2, 5), (5, 2)):
        while denominator % factor == 0:
            numerator, denominator, places = numerator * other, denominator // factor, places + 1
    return Decimal(f"{numerator}E-{places}") if denominator == 1 else None


# The first bytes of MessagePack's extension values.
_EXTENSIONS = frozenset({0xC7, 0xC8, 0xC9, *range(0xD4, 0xD9)})


def _by_content(key: Any) -> bytes | None:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True  # no memo: equal content gives equal bytes whether or not parts are shared
    try:
        pickler.dump(key)
    except Exception:  # noqa: BLE001 - classes of the user's script
        return None
    return buffer.getvalue()


def _number(number: float | Decimal) -> Any:
    """Return an int of at most 64 bits if it is exact, else a float if it is exact, else the digits."""
    if number != number:  # noqa: PLR0124 - NaN
        return float("nan")
    if number in {float("inf"), -float("inf")}:
        return float(number)
    if -0x8000_0000_0000_0000 <= number <= 0xFFFF_FFFF_FFFF_FFFF:
        whole = int(number)
        if whole == number:
            return whole
        nearest = float(number)
        if nearest == number:
            return nearest
    sign, digits, exponent = Decimal(number).as_tuple()
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    return ExtType(NUMBER, f"{'-' * sign}{stripped}E{int(exponent) + len(text) - len(stripped)}".encode())
