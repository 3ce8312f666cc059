"""Functions on texts that generated code calls; see :mod:`flintstream.table._expressions.helpers`."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
import re
import uuid
from decimal import Decimal
from functools import lru_cache
from urllib.parse import quote_plus, unquote_plus, urlsplit

from flintstream.common._text.leaving import whole_text
from flintstream.errors import encodable
from flintstream.table._expressions.helpers import parse_double
from flintstream.table._expressions.printf import printf

__all__ = ["base64", "hashlib", "printf", "uuid"]

_BLANK = re.compile(r"\s")
_NO_CODE = re.compile("%(?![0-9a-fA-F]{2})")


LONGEST = 1 << 28
"""The characters that a function may give: more would end the process of a task, and with it other records."""


def checked(length: int, function: str) -> None:
    """Refuse a text that is too long.

    Raises:
        ValueError: It has more than :data:`LONGEST` characters.
    """
    if length > LONGEST:
        raise ValueError(f"{function} would return a string of {length:,} characters; the limit is {LONGEST:,}")


def repeat(text: str, count: int) -> str:
    """Return a text several times."""
    checked(len(text) * count, "REPEAT")
    return text * count


def replace(text: str, old: str, new: str) -> str:
    """Replace a part wherever it is; an empty one is nowhere."""
    if len(text) * len(new) > LONGEST:
        checked(text.count(old) * len(new), "REPLACE")
    return text.replace(old, new)


def substring(text: str, start: int, length: int | None = None) -> str | None:
    """Return a part; positions count from 1, or from the end if negative."""
    if length is not None and length < 0:
        return None
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    if begin < 0:
        return ""
    end = None if length is None else begin + length
    return text[begin:end]


def pad(text: str, length: int, filling: str, *, left: bool) -> str | None:
    """Fill up, or cut, to a length."""
    if length < 0 or not filling:
        return None
    checked(length, "LPAD" if left else "RPAD")
    if text.isascii() and filling.isascii():
        if length <= len(text):
            return text[:length]
        more = (filling * (length // len(filling) + 1))[: length - len(text)]
        return more + text if left else text + more
    raw, own = (item.encode("utf-16-le", "surrogatepass") for item in (text, filling))  # Java counts its units
    size = 2 * length
    added = (own * (size // len(own) + 1))[: max(size - len(raw), 0)]
    return _join(added + raw[:size] if left else raw[:size] + added)


def _units(text: str) -> list[int]:
    """Return the UTF-16 units, in which Java counts."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[i] | raw[i + 1] << 8 for i in range(0, len(raw), 2)]


def _text(units: list[int]) -> str:
    """Return the text of UTF-16 units."""
    return _join(b"".join(unit.to_bytes(2, "little") for unit in units))


def _join(raw: bytes) -> str:
    """Return the text of UTF-16 units; half of a pair becomes a question mark."""
    return whole_text(raw.decode("utf-16-le", "surrogatepass"))


def overlay(text: str, new: str, start: int, length: int | None = None) -> str | None:
    """Replace a part of a text by another; without a length, as many units as the new text has."""
    units, own = _units(text), _units(new)
    if start <= 0 or start > len(units):
        return text
    count = len(own) if length is None else length
    if count <= 0 or start + count > len(units) + 1:
        count = len(units) - start + 1
    return _text(units[: start - 1] + own + units[start - 1 + count :])


def split_index(text: str, separator: str, index: int) -> str | None:
    """Return a part between separators, counted from 0; an empty separator stands for white space."""
    if index < 0 or not text:
        return None
    parts = text.split(separator) if separator else _BLANK.split(text)
    return parts[index] if index < len(parts) else None


def split_at_code(text: str, code: int, index: int) -> str | None:
    """Return a part between separators, of which the code is given; it is at most 255."""
    return split_index(text, chr(code), index) if 0 < code <= 255 else None


def initcap(text: str) -> str:
    """Write words with a capital letter."""
    return re.sub(r"[A-Za-z0-9]+", lambda word: word.group()[0].upper() + word.group()[1:].lower(), text)


def concat_ws(separator: str | None, *parts: str | None) -> str | None:
    """Join all parts that are not None."""
    return None if separator is None else separator.join([part for part in parts if part is not None])


def position(part: str, text: str, start: int = 1) -> int:
    """Return where a text has a part, from 1 on; 0 if nowhere."""
    return text.find(part, max(start - 1, 0)) + 1 if part else 1


def btrim(text: str, chars: str = " ") -> str:
    """Remove characters from both ends."""
    return text.strip(chars)


def ltrim(text: str, chars: str = " ") -> str:
    """Remove characters from the start."""
    return text.lstrip(chars)


def rtrim(text: str, chars: str = " ") -> str:
    """Remove characters from the end."""
    return text.rstrip(chars)


def translate(text: str | None, given: str | None, wanted: str | None) -> str | None:
    """Replace each character by the one at its place in ``wanted``, or remove it."""
    if text is None or given is None:
        return text
    table: dict[int, str | None] = {}
    for i, char in enumerate(given):
        table.setdefault(ord(char), wanted[i] if wanted is not None and i < len(wanted) else None)
    return text.translate(table)


def split(text: str, separator: str) -> list[str]:
    """Return the parts between separators; an empty text has none, an empty separator cuts everywhere."""
    if not text:
        return []
    return text.split(separator) if separator else list(text)


def elt(index: int | None, *texts: str | None) -> str | None:
    """Return one of the texts, counted from 1."""
    return texts[index - 1] if index is not None and 1 <= index <= len(texts) else None


def ascii_of(text: str) -> int:
    """Return the first byte in UTF-8, with a sign as Java's bytes have it; 0 for an empty text."""
    first = utf8(text[:1])[:1]
    return 0 if not first else first[0] - 256 if first[0] > 127 else first[0]


def utf8(text: str) -> bytes:
    """Return the bytes of a text; half of a surrogate pair becomes a question mark, as Java writes it."""
    return text.encode("utf-8", "replace")


def from_base64(text: str) -> str:
    """Decode Base64, whose padding may be missing.

    Raises:
        ValueError: It is none.
    """
    try:
        whole = text if "=" in text else text + "=" * (-len(text) % 4)
        return base64.b64decode(whole, validate=True).decode("utf-8", "replace")
    except ValueError as error:
        raise ValueError(f"FROM_BASE64: {text[:100]!r} is not Base64: {error}") from None


def unhex(text: str) -> bytes | None:
    """Return the bytes of hexadecimal digits; None if they are none. Flink takes the first of an odd number as 0."""
    try:
        if len(text) % 2 and text.isascii():
            int(text[0], 16)
            text = f"00{text[1:]}"
        return binascii.unhexlify(text)
    except ValueError:
        return None


def sha2(text: str | None, bits: int | None, *, constant: bool) -> str | None:
    """Return the hexadecimal digest of SHA-224, 256, 384 or 512; as in Flink, of SHA-1 unless 1 is a constant.

    Raises:
        ValueError: There is none of so many bits.
    """
    if text is None and not constant:
        return None
    if bits not in {None, 224, 256, 384, 512} and (bits != 1 or constant):
        raise ValueError(f"SHA2 has 224, 256, 384 or 512 bits, not {bits}")
    return None if text is None or bits is None else hashlib.new(f"sha{bits}", utf8(text)).hexdigest()


_NOT_OF_JAVA = {"idna", "punycode", "utf-7", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"}


@lru_cache(256)
def _charset(name: str, *, decodes: bool) -> str:
    """Return the name that Python has for a charset of Java, whose order of bytes is that of the network.

    Raises:
        ValueError: Java has no such charset.
    """
    try:
        known = codecs.lookup(name).name
        "".encode(known)
    except (LookupError, ValueError):
        known = ""
    if not known or known in _NOT_OF_JAVA:
        raise ValueError(f"unknown charset {name[:100]!r}")
    return known if known not in {"utf-16", "utf-32"} or decodes else f"{known}-be"


def encode_text(text: str, charset: str) -> bytes:
    """Return the bytes of a text; a character that the charset lacks becomes what it has instead."""
    name = _charset(charset, decodes=False)
    if not name.startswith(("utf-16", "utf-32")):
        return text.encode(name, "replace")
    marked = text and codecs.lookup(charset).name == "utf-16"
    return (b"\xfe\xff" if marked else b"") + encodable(text).encode(name)


def decode_bytes(given: bytes | str, charset: str) -> str:
    """Return the text of bytes; what is none becomes a replacement character."""
    raw = utf8(given) if isinstance(given, str) else given
    name = _charset(charset, decodes=True)
    if name in {"utf-16", "utf-32"} and raw[: 2 if name == "utf-16" else 4] not in _MARKS:
        name += "-be"
    return raw.decode(name, "replace")


_MARKS = {b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"}


def is_alpha(value: object) -> bool:
    """Return whether a text has letters only."""
    return isinstance(value, str) and value.isalpha()


def is_digit(value: object) -> bool:
    """Return whether a text has digits only."""
    return isinstance(value, str) and value.isdigit()


def is_decimal(value: object) -> bool:
    """Return whether a value is a number, or a text that is one."""
    if isinstance(value, str):
        try:
            parse_double(value)
        except ValueError:
            return False
        return True
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def url_encode(text: str) -> str:
    """Encode for the query of a URL."""
    return quote_plus(text, safe="*-._", errors="replace").replace("~", "%7E")


def url_decode(text: str) -> str | None:
    """Decode a part of the query of a URL; None if it is wrong."""
    return None if _NO_CODE.search(text) else unquote_plus(text)


def parse_url(text: str, part: str, key: str | None = None) -> str | None:
    """Return HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO of a URL, or a key of its query."""
    try:
        url = urlsplit(text)
    except ValueError:
        return None
    if not url.scheme[:1].isalpha():  # Python 3.10 takes digits for the beginning of a scheme
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


def inet_aton(text: str) -> int | None:
    """Return the number of an address such as ``127.0.0.1``; its last part may stand for several bytes."""
    parts = text.split(".")
    if len(parts) > 4 or not all(part.isascii() and part.isdigit() and len(part) < 11 for part in parts):
        return None
    *bytes_before, last = map(int, parts)
    room = 8 * (4 - len(bytes_before))
    if last >> room or any(byte > 255 for byte in bytes_before):
        return None
    return int.from_bytes(bytes(bytes_before), "big") << room | last


def inet_ntoa(number: int) -> str | None:
    """Return the address of a number of 32 bits."""
    return ".".join(map(str, number.to_bytes(4, "big"))) if 0 <= number < 1 << 32 else None
