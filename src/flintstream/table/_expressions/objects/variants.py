"""Documents of the type VARIANT. Numbers are as in Flink: BIGINT, DECIMAL with at most 38 digits, or DOUBLE."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import cached_property

from flintstream.table._expressions.helpers import double_to_text
from flintstream.table._expressions.json.helpers import json_text

_MOST_DIGITS = 38
_BLANKS = re.compile(r"[ \t\n\r]*")


class _Members(list[tuple[str, object]]):
    """The members of an object, in the order of the text."""


class Variant:
    """A document. Documents are equal if their texts have the same members in the same order, and equal numbers.

    >>> str(parse_json('{"b": 1.50, "a": [1e2, null]}'))
    '{"a":[100.0,null],"b":1.5}'
    """

    def __init__(self, document: str) -> None:
        """Take the text that :func:`parse_json` has brought to one form."""
        self.document = document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variant) and self.document == other.document

    def __hash__(self) -> int:
        return hash(self.document)

    def __reduce__(self) -> tuple[object, ...]:
        return Variant, (self.document,)

    def __str__(self) -> str:
        return _show(self.content)

    __repr__ = __str__

    @cached_property
    def content(self) -> object:
        """The content as Python has it."""
        return _read(self.document)


def parse_json(text: str, repeats: bool | None = False) -> Variant:
    """Return the document of a text; what follows it does not count, as in Flink.

    Args:
        text: The text.
        repeats: Whether a member may be there twice; the last one counts.

    Raises:
        ValueError: It is not JSON.
    """
    if repeats is None:
        raise ValueError("PARSE_JSON: whether keys may be repeated is NULL, but must be TRUE or FALSE")
    try:
        content = _read(text)
        return Variant(_write(content, repeats=repeats))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Failed to parse json string: {text} ({error})") from None


def try_parse_json(text: str, repeats: bool | None = False) -> Variant | None:
    """Return the document of a text; None if it is not JSON."""
    try:
        return parse_json(text, repeats)
    except ValueError:
        return None


def variant_member(variant: Variant, key: str) -> Variant | None:
    """Return the member of an object; None if it has none.

    Raises:
        TypeError: The document is not an object.
    """
    content = variant.content
    if not isinstance(content, _Members):
        raise TypeError(
            "String key access on variant requires an object variant, but a non-object variant was provided."
        )
    found = dict(content)
    return Variant(_write(found[key], repeats=True)) if key in found else None


def variant_element(variant: Variant, position: int) -> Variant | None:
    """Return an element of an array, from 1 on; None if there is none.

    Raises:
        TypeError: The document is not an array.
    """
    content = variant.content
    if not isinstance(content, list) or isinstance(content, _Members):
        raise TypeError(
            "Integer index access on variant requires an array variant, but a non-array variant was provided."
        )
    return Variant(_write(content[position - 1], repeats=True)) if 0 < position <= len(content) else None


def _refuse_constant(name: str) -> object:
    raise ValueError(f"'{name}' is not JSON")


def _number(text: str) -> int | float | Decimal:
    """Return a number as Flink types it."""
    if "e" in text.lower():
        return float(text)
    found = Decimal(text)
    _, digits, exponent = found.as_tuple()
    if not exponent and -1 << 63 <= found < 1 << 63:
        return int(found)
    if len(digits) > _MOST_DIGITS or -int(exponent) > _MOST_DIGITS:
        return float(text)
    return found or found.copy_abs()


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Members, parse_int=_number, parse_float=_number, parse_constant=_refuse_constant
)


def _read(text: str) -> object:
    blanks = _BLANKS.match(text)
    found, end = _DECODER.raw_decode(text, blanks.end() if blanks else 0)
    follows = text[end : end + 1]
    if isinstance(found, (int, float, Decimal)) and not isinstance(found, bool):
        wrong = follows and follows not in " \t\n\r"
    else:
        wrong = (found is None or isinstance(found, bool)) and (follows.isalnum() or follows in {"_", "$"})
    if wrong:
        raise ValueError(f"unexpected '{follows}'")
    return found


def _write(content: object, *, repeats: bool) -> str:
    """Return the one form of a document from which it can be read again."""
    if isinstance(content, _Members):
        members = dict(content)
        if len(members) < len(content) and not repeats:
            raise ValueError("a key is repeated")
        texts = [f"{json.dumps(key)}:{_write(value, repeats=repeats)}" for key, value in members.items()]
        return "{" + ",".join(texts) + "}"
    if isinstance(content, list):
        return f"[{','.join([_write(item, repeats=repeats) for item in content])}]"
    if isinstance(content, float):
        text = repr(content)
        return "-1e999" if text == "-inf" else "1e999" if text == "inf" else text if "e" in text else f"{text}e0"
    return format(content, "f") if isinstance(content, Decimal) else json.dumps(content)


def _show(content: object) -> str:
    """Return the JSON that Flink shows: members in the order of their names, decimals without zeros at the end."""
    if isinstance(content, _Members):
        members = sorted(content, key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join([f"{json_text(key)}:{_show(value)}" for key, value in members]) + "}"
    if isinstance(content, list):
        return f"[{','.join(map(_show, content))}]"
    if isinstance(content, str):
        return json_text(content)
    if isinstance(content, float):
        return double_to_text(content)
    if isinstance(content, Decimal):
        text = format(content, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return json.dumps(content)
