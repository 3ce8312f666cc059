"""Mutations of valid inputs. All randomness comes from the generator that the caller passes."""

from __future__ import annotations

import contextlib
import copy
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

LARGEST = 1 << 20
"""Most bytes of a mutated input. Larger ones are tests of their own (test_bombs.py)."""

NUMBERS = (0, 1, -1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1)
TOKENS = (
    *(b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\n", b"\r\n", b"\r", b" "),
    *(b'"', b"'", b"\\", b",", b";", b":", b"=", b"&", b"?", b"%", b"%00", b"#", b"/", b"//", b"../", b"..", b"~"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b"null", b"true", b"NaN", b"Infinity", b"-", b"+", b"_", b".", b"e", b"E"),
    *(b"1e999999999", b"-1E-999999999", b"9" * 400, b"9" * 5000, b"0x1p3", b"1_000", b"\xd9\xa3", b"2147483648"),
    *(b"\\u0000", b"\\ud800", b"\\udc80", b'""', b"''", b"``", b"--", b"/*", b"*/", b"$$", b"@", b"::", b"file:", b"s3://"),
)  # fmt: skip
WORDS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, float("inf"), float("nan"), 1e308),
    *("", "0", "..", "../../x", "/etc/passwd", "a\0b", "\ud800", "x" * 5000, "é", [], {}, [None], {"": None}, [[[[]]]]),
)


def mutated(random: Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    """Return ``data`` after one to four random changes."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(_CHANGES)(random, data, corpus)[:LARGEST]
    return data


def _flip(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return bytes([random.randrange(256)])
    changed = bytearray(data)
    changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start = random.randint(0, len(data))
    return data[:start] + random.randbytes(random.randint(1, 8)) + data[start + random.randint(0, 8) :]


def _truncate(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: random.randint(0, len(data))]


def _delete(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _range(random, data)
    return data[:start] + data[end:]


def _repeat(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _range(random, data)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 10, 300)) + data[end:]


def _swap(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _range(random, data)
    middle = random.randint(start, end)
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


def _splice(random: Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    other = random.choice(corpus)
    return data[: random.randint(0, len(data))] + other[random.randint(0, len(other)) :]


def _insert(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start = random.randint(0, len(data))
    return data[:start] + random.choice(TOKENS) * random.choice((1, 1, 1, 2, 50)) + data[start:]


def _number(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Overwrite a number of 1, 2, 4 or 8 bytes, or one of variable length, with an extreme one."""
    start = random.randint(0, len(data))
    value = random.choice((*NUMBERS, len(data), len(data) + 1))
    if random.random() < 0.3:
        return data[:start] + _varint(value) + data[start + 1 :]
    width = random.choice((1, 2, 4, 8))
    packed = (value % (1 << (8 * width))).to_bytes(width, random.choice(("big", "little")))
    return data[:start] + packed + data[start + width :]


def _varint(value: int) -> bytes:
    value, found = value % 2**64, bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def _range(random: Random, data: bytes) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 4, 16, 256, len(data))))


_CHANGES: tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...] = (
    *(_flip, _flip, _overwrite, _truncate, _delete, _repeat, _swap, _splice, _insert, _insert, _number, _number),
)


@contextlib.contextmanager
def deeply() -> Iterator[None]:
    """Let inputs be made that are nested more deeply than Python allows; they are read within its limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def mutated_tree(random: Random, tree: Any) -> Any:
    """Return a copy of nested lists and dicts after one to three changes of their parts."""
    tree = copy.deepcopy(tree)
    for _ in range(random.randint(1, 3)):
        tree = _change_part(random, tree)
    return tree


def _change_part(random: Random, node: Any) -> Any:
    inside = isinstance(node, (dict, list)) and node
    if not inside or random.random() < 0.1:
        return _replaced(random, node)
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    key = random.choice(keys)
    change = random.random()
    if change < 0.1:
        del node[key]
    elif change < 0.2 and isinstance(node, list):
        node.insert(key, copy.deepcopy(random.choice(node)))
    elif change < 0.2:
        node[random.choice(("new", "..", *keys))] = copy.deepcopy(node[key])
    elif change < 0.3:
        other = random.choice(keys)
        node[key], node[other] = node[other], node[key]
    else:
        node[key] = _change_part(random, node[key])
    return node


def _replaced(random: Random, node: Any) -> Any:
    kind = random.random()
    if kind < 0.2 and isinstance(node, str):
        return mutated(random, node.encode("utf-8", "surrogatepass"), [b""]).decode("latin-1")
    if kind < 0.2 and isinstance(node, bytes):
        return mutated(random, node, [node])
    if kind < 0.3 and type(node) is int:
        return random.choice((node + 1, node - 1, -node, node * 2, random.choice(NUMBERS)))
    if kind < 0.35:
        deep: Any = node
        for _ in range(random.choice((2, 70, 300))):
            deep = [deep]
        return deep
    return copy.deepcopy(random.choice(WORDS))
