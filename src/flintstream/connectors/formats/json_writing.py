"""JSON writer for values of a type, byte for byte like Flink."""

from __future__ import annotations

import json
import pickle
import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import float_text, instant_text
from flintstream.common._types.basic import BasicType
from flintstream.common._types.conversion import Scope
from flintstream.common._types.parts import basic_type, element_of, inner_types, is_bytes, is_sequence, time_type
from flintstream.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
)
from flintstream.connectors.formats import texts
from flintstream.connectors.formats.by_position import RowShape
from flintstream.connectors.formats.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation

    Writer = Callable[[Any], str]

_ODD = re.compile("\\\\u00[0-9a-f]{2}|\\\\\\\\|[\U00010000-\U0010ffff]")


def json_text(node: Any) -> str:
    """Return a JSON value as text, with numbers formatted as in Java."""
    if isinstance(node, str):
        return quote(node)
    if isinstance(node, bool) or node is None:
        return "null" if node is None else str(node).lower()
    if isinstance(node, float):
        return texts.number_text(node)
    if isinstance(node, Decimal):
        return str(node.normalize())
    if isinstance(node, list):
        return f"[{','.join(map(json_text, node))}]"
    if isinstance(node, dict):
        return f"{{{','.join(f'{quote(key)}:{json_text(part)}' for key, part in node.items())}}}"
    return str(node)


def quote(text: str) -> str:
    """Return a text as a JSON string."""
    return _as_flink(encode_basestring(text))


def _as_flink(text: str) -> str:
    r"""Escape characters as Flink does: ``\u001F`` in upper case, and surrogate pairs."""
    return text if text.isascii() and "\\u" not in text else _ODD.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    found = match.group()
    if found[0] == "\\":
        return found[:2] + found[2:].upper()
    code = ord(found) - 0x10000
    return f"\\u{0xD800 + (code >> 10):04X}\\u{0xDC00 + (code & 0x3FF):04X}"


class JsonWriter:
    """Writes rows as messages. Compiles its converters, so create one per schema and process."""

    def __init__(self, schema: str, type_info: RowTypeInfo) -> None:
        """Compile the converters; ``schema`` is the schema's name in errors."""
        self._schema = schema
        self._shape = RowShape(schema, type_info, cuts=True)
        self._write = _row(type_info)

    def write(self, value: Any) -> bytes:
        """Return the message.

        Raises:
            FormatError: The value does not fit the type.
        """
        try:
            row = self._shape(value)
            return b"{}" if row is None else _as_flink(self._write(row)).encode(errors="replace")
        except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
            raise FormatError.writing(self._schema, value, error) from error


def _double(value: float) -> str:
    text = texts.number_text(value)
    return f'"{text}"' if value - value != 0 else text


def _float(value: float) -> str:
    text = float_text(value)
    return f'"{text}"' if value - value != 0 else text


def _key(write: Writer) -> Writer:
    def key(value: Any) -> str:
        text = write(value)
        return text if text[:1] == '"' else f'"{text}"'

    return key


_BASIC: dict[BasicType, Writer] = {
    BasicType.STRING: encode_basestring,
    BasicType.CHAR: encode_basestring,
    BasicType.BOOLEAN: lambda value: "true" if value else "false",
    BasicType.FLOAT: _float,
    BasicType.DOUBLE: _double,
    BasicType.INSTANT: lambda value: f'"{instant_text(value)}"',
    **dict.fromkeys((BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG), str),
    **dict.fromkeys((BasicType.BIG_INT, BasicType.BIG_DEC), str),
}

_LOCAL: dict[LocalTimeTypeInfo.TimeType, Writer] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: lambda value: f'"{value.isoformat()}"',
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: lambda value: f'"{texts.iso_time_text(value)}"',
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: lambda value: f'"{texts.iso_timestamp_text(value)}"',
}


def _writer(type_info: TypeInformation) -> Writer:
    """Return a function that writes values other than None."""
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC[basic_type(type_info)]
    if isinstance(type_info, DateTypeInfo):
        return _LOCAL[LocalTimeTypeInfo.TimeType.LOCAL_DATE]
    if isinstance(type_info, TimeTypeInfo):
        return _LOCAL[LocalTimeTypeInfo.TimeType.LOCAL_TIME]
    if isinstance(type_info, TimestampTypeInfo):
        return _LOCAL[LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME]
    if isinstance(type_info, LocalTimeTypeInfo):
        return _LOCAL[time_type(type_info)]
    if isinstance(type_info, PickledBytesTypeInfo):
        return lambda value: f'"{texts.base64_text(pickle.dumps(value))}"'
    if is_bytes(type_info):
        return lambda value: f'"{texts.base64_text(value)}"'
    if isinstance(type_info, RowTypeInfo):
        return _row(type_info)
    if isinstance(type_info, TupleTypeInfo):
        return _object(tuple(f"f{i}" for i in range(len(inner_types(type_info)))), inner_types(type_info))
    if isinstance(type_info, MapTypeInfo):
        return _map(type_info)
    assert is_sequence(type_info)  # noqa: S101 - all types were checked earlier
    part = _nullable(_writer(element_of(type_info)))
    return lambda value: f"[{','.join(map(part, value))}]"


def _nullable(write: Writer) -> Writer:
    return lambda value: "null" if value is None else write(value)


def _map(type_info: MapTypeInfo) -> Writer:
    key_type, value_type = inner_types(type_info)
    key, part = _key(_writer(key_type)), _nullable(_writer(value_type))
    return lambda value: f"{{{','.join([f'{key(name)}:{part(item)}' for name, item in value.items()])}}}"


def _row(type_info: RowTypeInfo) -> Writer:
    return _object(tuple(type_info.get_field_names()), type_info.get_field_types())


def _object(names: tuple[str, ...], types: list[TypeInformation]) -> Writer:
    """Compile a function that writes the parts of a value as the fields of an object."""
    scope = Scope()
    keys = [json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in names]
    template = scope.add("{" + ",".join([f"{key}:%s" for key in keys]) + "}")
    variables = [f"a{i}" for i in range(len(names))]
    built = []
    for x, field_type in zip(variables, types, strict=True):
        write = _writer(field_type)
        text = x if write is str else f"{scope.add(write)}({x})"
        built.append(f'"null" if {x} is None else {text}')
    unpack = f"    {', '.join(variables)}, = v\n" if variables else ""
    return scope.function(
        f"def convert(v):\n{unpack}    return {template} % ({''.join(f'{part}, ' for part in built)})\n"
    )


__all__ = ["JsonWriter", "json_text", "quote"]
