"""How text leaves the program for files, terminals, databases and brokers.

Python's texts can hold halves of surrogate pairs, which come from JSON, from ``json.loads`` in a function or from
``SUBSTRING``, and no encoding can write them. Java writes a question mark for such a half, as for each character that
an encoding lacks, and its jobs continue. So does everything that writes records here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from flintstream.common.types import Row, _make_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

T = TypeVar("T")
V = TypeVar("V")

_HALF = re.compile("[\ud800-\udfff]")


def whole_text(text: str) -> str:
    r"""Return a text that UTF-8 can encode.

    >>> whole_text("a\ud800")
    'a?'
    """
    return text if text.isascii() else _HALF.sub("?", text)


def whole(value: V) -> V:
    r"""Return a value whose texts UTF-8 can encode, also those within rows, tuples, lists and maps.

    >>> whole(("a\ud800", 1, ["\udfff"], {"k\ud800": None}))
    ('a?', 1, ['?'], {'k?': None})
    """
    return _whole(value)  # type: ignore[return-value]  # of the same class


def _whole(value: object) -> object:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, Row):
        return _make_row(value._field_names, list(map(_whole, value)), value._row_kind)
    if isinstance(value, (list, tuple, set)) and type(value) in {list, tuple, set}:
        return type(value)(map(_whole, value))
    if type(value) is dict:
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def write_whole(write: Callable[[V], T], value: V) -> T:
    r"""Call ``write(value)``, which must have no effect if it raises; again with whole texts if one has half a pair.

    >>> write_whole(str.encode, "\ud800")
    b'?'
    """
    try:
        return write(value)
    except UnicodeEncodeError:
        return write(whole(value))


def write_text(stream: TextIO, text: str) -> None:
    r"""Write a text to a stream, with question marks for the characters that the stream's encoding lacks.

    >>> import io
    >>> bytes_of = io.BytesIO()
    >>> with io.TextIOWrapper(bytes_of, "ascii") as stream:
    ...     write_text(stream, "5 \u20ac")
    ...     stream.flush()
    ...     bytes_of.getvalue()
    b'5 ?'
    """
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "replace").decode(encoding))
