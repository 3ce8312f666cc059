"""Functions on texts that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

import base64
import hashlib
import re
import uuid
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import quote_plus, unquote_plus, urlsplit

__all__ = ["base64", "hashlib", "uuid"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """Return a part; positions count from 1, or from the end if negative."""
    if length is not None and length < 0:
        return None
    begin = start - 1 if start > 0 else max(len(text) + start, 0) if start < 0 else 0
    end = None if length is None else begin + length
    return text[begin:end]


def pad(text: str, length: int, filling: str, *, left: bool) -> str | None:
    """Fill up, or cut, to a length."""
    if length < 0 or not filling:
        return None
    if text.isascii() and filling.isascii():
        if length <= len(text):
            return text[:length]
        more = (filling * (length // len(filling) + 1))[: length - len(text)]
        return more + text if left else text + more
    units, own = _units(text), _units(filling)
    if length <= len(units):
        return _text(units[:length])
    added = (own * (length // len(own) + 1))[: length - len(units)]
    return _text(added + units if left else units + added)


def _units(text: str) -> list[int]:
    """Return the UTF-16 units, in which Java counts."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[i] | raw[i + 1] << 8 for i in range(0, len(raw), 2)]


def _text(units: list[int]) -> str:
    """Return the text of UTF-16 units; half of a pair becomes a question mark."""
    raw = b"".join(unit.to_bytes(2, "little") for unit in units).decode("utf-16-le", "surrogatepass")
    return "".join("?" if "\ud800" <= char <= "\udfff" else char for char in raw)


def overlay(text: str, new: str, start: int, length: int | None = None) -> str | None:
    """Replace a part of a text by another; without a length, as many units as the new text has."""
    units, own = _units(text), _units(new)
    if start <= 0 or start > len(units):
        return text
    count = len(own) if length is None else length
    if count < 0 or start + count > len(units) + 1:
        count = len(units) - start + 1
    return _text(units[: start - 1] + own + units[start - 1 + count :])


def like(pattern: str, escape: str | None = None) -> Any:
    """Return the matcher of a LIKE pattern."""
    return _like(pattern, escape)


@cache
def _like(pattern: str, escape: str | None) -> Any:
    parts, i = [], 0
    while i < len(pattern):
        char = pattern[i]
        if escape is not None and char == escape and i + 1 < len(pattern):
            i += 1
            parts.append(re.escape(pattern[i]))
        else:
            parts.append({"%": ".*", "_": "."}.get(char) or re.escape(char))
        i += 1
    return re.compile("".join(parts), re.DOTALL).fullmatch


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern of Java's, as far as Python has the same."""
    return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern))


def _pattern(pattern: str) -> re.Pattern[str] | None:
    try:
        return regex(pattern)
    except re.error:
        return None


@cache
def similar(pattern: str) -> Any:
    """Return the matcher of a SIMILAR TO pattern."""
    parts, inside = [], False
    for char in pattern:
        inside = (inside or char == "[") and char != "]"
        parts.append(char if inside else {"%": ".*", "_": ".", ".": r"\."}.get(char, char))
    return re.compile("".join(parts), re.DOTALL).fullmatch


def regexp(text: str, pattern: str) -> bool:
    """Return whether a part of the text matches; a wrong pattern never does."""
    found = _pattern(pattern) if pattern else None
    return found is not None and found.search(text) is not None


def regexp_count(text: str, pattern: str) -> int | None:
    """Return how often a pattern matches."""
    found = _pattern(pattern)
    return None if found is None else sum(1 for _ in found.finditer(text))


def regexp_instr(text: str, pattern: str) -> int | None:
    """Return where the first match begins, counted from 1; 0 if there is none."""
    compiled = _pattern(pattern)
    found = None if compiled is None else compiled.search(text)
    return None if compiled is None else 0 if found is None else found.start() + 1


def regexp_extract_all(text: str, pattern: str, group: int = 1) -> list[str | None] | None:
    """Return a group of every match."""
    found = _pattern(pattern)
    if found is None or not 0 <= group <= found.groups:
        return None
    return [each.group(group) for each in found.finditer(text)]


def regexp_extract(text: str, pattern: str, group: int = 0) -> str | None:
    """Return a group of the first match."""
    try:
        found = regex(pattern).search(text)
        return None if found is None else found.group(group)
    except (re.error, IndexError):
        return None


def regexp_replace(text: str, pattern: str, replacement: str) -> str | None:
    """Replace all matches by a text, in which nothing stands for a group."""
    found = _pattern(pattern)
    return None if found is None else found.sub(lambda _: replacement, text)


def split_index(text: str, separator: str, index: int) -> str | None:
    """Return a part between separators, counted from 0."""
    if index < 0 or not separator:
        return None
    parts = text.split(separator)
    return parts[index] if index < len(parts) else None


def initcap(text: str) -> str:
    """Write words with a capital letter."""
    return re.sub(r"[A-Za-z0-9]+", lambda word: word.group()[0].upper() + word.group()[1:].lower(), text)


def concat_ws(separator: str | None, *parts: str | None) -> str | None:
    """Join all parts that are not None."""
    return None if separator is None else separator.join([part for part in parts if part is not None])


def position(part: str, text: str, start: int = 1) -> int:
    """Return where a text has a part, from 1 on; 0 if nowhere."""
    return text.find(part, start - 1) + 1 if part else 1


def btrim(text: str, chars: str = " ") -> str:
    """Remove characters from both ends."""
    return text.strip(chars)


def ltrim(text: str, chars: str = " ") -> str:
    """Remove characters from the start."""
    return text.lstrip(chars)


def rtrim(text: str, chars: str = " ") -> str:
    """Remove characters from the end."""
    return text.rstrip(chars)


def translate(text: str, given: str, wanted: str) -> str:
    """Replace each character by the one at its place in ``wanted``, or remove it."""
    table: dict[int, str | None] = {}
    for i, char in enumerate(given):
        table.setdefault(ord(char), wanted[i] if i < len(wanted) else None)
    return text.translate(table)


def split(text: str, separator: str) -> list[str]:
    """Return the parts between separators; an empty text has none, an empty separator cuts everywhere."""
    if not text:
        return []
    return text.split(separator) if separator else list(text)


def str_to_map(text: str, pairs: str = ",", between: str = "=") -> dict[str, str | None]:
    """Return the map of a text such as ``a=1,b=2``; a key without separator has no value."""
    found: dict[str, str | None] = {}
    for part in text.split(pairs) if text else []:
        key, separator, value = part.partition(between)
        found[key] = value if separator else None
    return found


def elt(index: int, *texts: str) -> str | None:
    """Return one of the texts, counted from 1."""
    return texts[index - 1] if 1 <= index <= len(texts) else None


def ascii_of(text: str) -> int:
    """Return the first byte in UTF-8, with a sign as Java's bytes have it; 0 for an empty text."""
    first = text.encode("utf-8", "surrogatepass")[:1]
    return 0 if not first else first[0] - 256 if first[0] > 127 else first[0]


def from_base64(text: str) -> str | None:
    """Decode Base64; None if it is none."""
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except ValueError:
        return None


def unhex(text: str) -> bytes | None:
    """Return the bytes of hexadecimal digits; None if they are none."""
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else f"0{text}")
    except ValueError:
        return None


def sha2(text: str, bits: int) -> str | None:
    """Return the hexadecimal digest of SHA-224, 256, 384 or 512."""
    return hashlib.new(f"sha{bits}", text.encode()).hexdigest() if bits in {224, 256, 384, 512} else None


def is_alpha(value: Any) -> bool:
    """Return whether a text has letters only."""
    return isinstance(value, str) and value.isalpha()


def is_digit(value: Any) -> bool:
    """Return whether a text has digits only."""
    return isinstance(value, str) and value.isdigit()


def is_decimal(value: Any) -> bool:
    """Return whether a value is a number, or a text that is one."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def url_encode(text: str) -> str:
    """Encode for the query of a URL."""
    return quote_plus(text, safe="*-._")


def url_decode(text: str) -> str | None:
    """Decode a part of the query of a URL; None if it is wrong."""
    try:
        return unquote_plus(text, errors="strict")
    except UnicodeDecodeError:
        return None


def parse_url(text: str, part: str, key: str | None = None) -> str | None:
    """Return HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO of a URL, or a key of its query."""
    try:
        url = urlsplit(text)
    except ValueError:
        return None
    if not url.scheme:
        return None
    if key is not None:
        found = re.search(rf"(?:^|&){re.escape(key)}=([^&]*)", url.query) if part == "QUERY" else None
        return None if found is None else found.group(1)
    user = url.netloc.rpartition("@")[0]
    parts = {
        "HOST": url.hostname,
        "PATH": url.path,
        "QUERY": url.query or None,
        "REF": url.fragment or None,
        "PROTOCOL": url.scheme,
        "FILE": f"{url.path}?{url.query}" if url.query else url.path,
        "AUTHORITY": url.netloc,
        "USERINFO": user or None,
    }
    return parts.get(part)


def printf(pattern: str, *values: Any) -> str | None:
    """Format like Java's ``String.format``, as far as Python has the same; None if the pattern is wrong."""
    try:
        return pattern % values
    except (TypeError, ValueError):  # such as %d for None, which Java writes as null
        pieces = re.sub(r"%[-+ 0#,]*\d*(?:\.\d+)?[a-zA-Z]", "%s", pattern)
    try:
        return pieces % tuple("null" if value is None else value for value in values)
    except (TypeError, ValueError):
        return None


def inet_aton(text: str) -> int | None:
    """Return the number of an address such as ``127.0.0.1``; None if it is none."""
    parts = text.split(".")
    if len(parts) != 4 or not all(each.isascii() and each.isdigit() and int(each) < 256 for each in parts):
        return None
    return int.from_bytes(bytes(map(int, parts)), "big")


def inet_ntoa(number: int) -> str | None:
    """Return the address of a number of 32 bits."""
    return ".".join(map(str, number.to_bytes(4, "big"))) if 0 <= number < 1 << 32 else None
