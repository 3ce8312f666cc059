"""JSON reader for values of a type."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flintstream.common._text.java import narrow
from flintstream.common._text.leaving import whole
from flintstream.common._types.basic import BasicType
from flintstream.common._types.conversion import Scope
from flintstream.common._types.parts import basic_type, element_of, inner_types, is_bytes, is_sequence, time_type
from flintstream.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
)
from flintstream.connectors.formats import texts
from flintstream.connectors.formats.errors import FormatError, Misfit
from flintstream.connectors.formats.json_writing import json_text
from flintstream.connectors.formats.texts import fails
from flintstream.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row

    Reader = Callable[[Any], Any]

_MISSING: Any = object()
_BLANKS = " \t\n\r"


class JsonReader:
    """Reads a message as a row. Compiles its converters, so create one per schema and process."""

    def __init__(self, schema: str, type_info: RowTypeInfo, *, fails_on_missing: bool, ignores_errors: bool) -> None:
        """Compile the converters; ``schema`` is the schema's name in errors."""
        self._schema = schema
        self._ignores_errors = ignores_errors
        self._row: Callable[[Any], Row] = _Compiler(
            fails_on_missing=fails_on_missing, ignores_errors=ignores_errors
        ).row(type_info)
        number = Decimal if _has_decimals(type_info) else float
        decoder: Any = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=number)
        self._scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once

    def read(self, message: bytes) -> Row | None:
        """Return the row; None for a JSON null, and for an unreadable message if errors are ignored.

        Raises:
            FormatError: The message is not JSON, or does not fit the type.
        """
        try:
            try:
                text = message.decode()
                node = self._scan(text, 0)[0]
            except (StopIteration, ValueError):
                text = _text_of(message)
                node = self._scan_slowly(text)
            if "\\u" in text:
                node = whole(node)
            return None if node is None else self._row(node)
        except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError) as error:
            if self._ignores_errors:
                return None
            raise FormatError.reading(self._schema, message, error) from None

    def _scan_slowly(self, text: str) -> Any:
        content = text.removeprefix("\ufeff").lstrip(_BLANKS)
        if not content:
            raise Misfit("it is empty")
        try:
            return self._scan(content, 0)[0]
        except StopIteration as stop:
            raise Misfit(f"invalid JSON at character {stop.value}") from None


def _text_of(message: bytes) -> str:
    """Decode a message in any of the encodings that JSON allows."""
    return message.decode(json.detect_encoding(message))


def _refuse_constant(name: str) -> None:
    raise Misfit(f"{name} is not valid JSON")


def _has_decimals(type_info: TypeInformation) -> bool:
    if isinstance(type_info, BasicTypeInfo):
        return basic_type(type_info) is BasicType.BIG_DEC
    return any(_has_decimals(part) for part in inner_types(type_info))


def _integer(bits: int | None, *, cuts: bool) -> Reader:
    parse = texts.integer(bits)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if bits else (0, 0)

    def read(node: Any) -> int:
        if type(node) is int:
            if not bits or low <= node <= high:
                return node
        elif type(node) is str:
            return parse(node)
        elif cuts and isinstance(node, (float, Decimal)) and low <= node <= high:
            return int(node)
        raise fails(node, f"{'an' if bits == 8 else 'a'} {bits}-bit integer" if bits else "an integer")

    return read


def _fraction(parse: Callable[[str], float], shorten: Callable[[float], float]) -> Reader:
    def read(node: Any) -> float:
        if isinstance(node, str):
            return parse(node)
        if isinstance(node, bool) or not isinstance(node, (int, float, Decimal)):
            raise fails(node, "a number")
        return shorten(float(node))

    return read


def _decimal(node: Any) -> Decimal:
    if isinstance(node, str):
        return texts.decimal(node)
    if isinstance(node, bool) or not isinstance(node, (int, Decimal)):
        raise fails(node, "a decimal number")
    return Decimal(node)


def _boolean(node: Any) -> bool:
    return node if isinstance(node, bool) else isinstance(node, str) and texts.boolean(node)


def _string(node: Any) -> str:
    return node if isinstance(node, str) else json_text(node)


def _character(node: Any) -> str | None:
    if not isinstance(node, str) or len(node) > 1:
        raise fails(node, "a character")
    return node or None


def _instant(node: Any) -> Any:
    if isinstance(node, bool) or not isinstance(node, (str, int, float, Decimal)):
        raise fails(node, "a point in time")
    if isinstance(node, str):
        return texts.iso_instant(node)
    return texts.seconds_instant(Decimal(str(node)) if isinstance(node, float) else node)


def _of_text(parse: Callable[[str], Any]) -> Reader:
    def read(node: Any) -> Any:
        if not isinstance(node, str):
            raise fails(node, "a string")
        return parse(node)

    return read


def _bytes(node: object) -> bytes | None:
    """Read Base64; what is not a text has no bytes, as in Flink."""
    return texts.base64_bytes(node) if isinstance(node, str) else None


def _unpickle(text: str) -> Any:
    content = texts.base64_bytes(text)
    try:
        return pickle.loads(content)
    except Exception as error:  # noqa: BLE001 - unpickling may raise anything
        raise Misfit(f"{shorten(content, 60)} is not a pickled object: {error}") from None


_BASIC: dict[BasicType, Reader] = {
    BasicType.STRING: _string,
    BasicType.BOOLEAN: _boolean,
    BasicType.BYTE: _integer(8, cuts=False),
    BasicType.SHORT: _integer(16, cuts=False),
    BasicType.INT: _integer(32, cuts=True),
    BasicType.LONG: _integer(64, cuts=True),
    BasicType.FLOAT: _fraction(texts.single, narrow),
    BasicType.DOUBLE: _fraction(texts.double, float),
    BasicType.CHAR: _character,
    BasicType.BIG_INT: _integer(None, cuts=False),
    BasicType.BIG_DEC: _decimal,
    BasicType.INSTANT: _instant,
}

_NUMBERS = {BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.FLOAT, BasicType.DOUBLE}

_LOCAL = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: texts.iso_date,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: texts.iso_time,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: texts.iso_timestamp,
}

_FAST = {
    BasicType.STRING: "type({x}) is str",
    BasicType.BOOLEAN: "{x} is True or {x} is False",
    BasicType.DOUBLE: "type({x}) is float",
    BasicType.INT: "type({x}) is int and -2147483648 <= {x} <= 2147483647",
    BasicType.LONG: "type({x}) is int and -9223372036854775808 <= {x} <= 9223372036854775807",
}
"""Conditions under which a value needs no conversion."""


class _Compiler:
    def __init__(self, *, fails_on_missing: bool, ignores_errors: bool) -> None:
        self._fails_on_missing = fails_on_missing
        self._ignores_errors = ignores_errors

    def reader(self, type_info: TypeInformation) -> Reader:
        """Return a function that reads values other than None."""
        if isinstance(type_info, BasicTypeInfo):
            return _BASIC[basic_type(type_info)]
        if isinstance(type_info, DateTypeInfo):
            return _of_text(texts.iso_date)
        if isinstance(type_info, TimeTypeInfo):
            return _of_text(texts.iso_time)
        if isinstance(type_info, TimestampTypeInfo):
            return _of_text(texts.iso_timestamp)
        if isinstance(type_info, LocalTimeTypeInfo):
            return _of_text(_LOCAL[time_type(type_info)])
        if isinstance(type_info, PickledBytesTypeInfo):
            return _of_text(_unpickle)
        if is_bytes(type_info):
            return _bytes
        if isinstance(type_info, RowTypeInfo):
            return self.row(type_info)
        if isinstance(type_info, TupleTypeInfo):
            return self._tuple(type_info)
        if isinstance(type_info, MapTypeInfo):
            return self._map(type_info)
        assert is_sequence(type_info)  # noqa: S101 - all types were checked earlier
        return self._sequence(type_info)

    def _part(self, type_info: TypeInformation, name: str) -> Reader:
        """Return a function that reads a part of a value and keeps None."""
        read = self.reader(type_info)
        ignores = self._ignores_errors

        def read_part(node: Any) -> Any:
            if node is None:
                return None
            try:
                return read(node)
            except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError) as error:
                if ignores:
                    return None
                raise _locate(error, name) from None

        return read_part

    def row(self, type_info: RowTypeInfo) -> Reader:
        scope = Scope()
        names, types = tuple(type_info.get_field_names()), type_info.get_field_types()
        names_name, refuse, missing = scope.add(names), scope.add(_not_an_object), scope.add(_MISSING)
        absent = scope.add(_absent)
        lines = ["def convert(v):", "    if type(v) is not dict:", f"        {refuse}(v)", "    get = v.get"]
        for i, (name, field_type) in enumerate(zip(names, types, strict=True)):
            x = f"a{i}"
            part = scope.add(self._part(field_type, name))
            default = f", {missing}" if self._fails_on_missing else ""
            lines.append(f"    {x} = get({name!r}{default})")
            if self._fails_on_missing:
                lines += [f"    if {x} is {missing}:", f"        {absent}({name!r})"]
            kind = basic_type(field_type) if isinstance(field_type, BasicTypeInfo) else None
            fast = _FAST.get(kind, "").format(x=x) if kind else ""
            test = f"{x} is not None and not ({fast})" if fast else f"{x} is not None"
            lines += [f"    if {test}:", f"        {x} = {part}({x})"]
        values = ", ".join(f"a{i}" for i in range(len(names)))
        lines.append(f"    return make_row({names_name}, [{values}])")
        return scope.function("\n".join(lines) + "\n")

    def _tuple(self, type_info: TupleTypeInfo) -> Reader:
        parts = [(f"f{i}", self._part(part, f"f{i}")) for i, part in enumerate(type_info.get_field_types())]

        check = type_info.to_internal_type  # some types do not allow None

        def read(node: Any) -> Any:
            if not isinstance(node, dict):
                raise fails(node, "an object with the fields f0, f1, ...")
            values = tuple([part(node.get(name)) for name, part in parts])
            return check(values) if None in values else values

        return read

    def _map(self, type_info: MapTypeInfo) -> Reader:
        key_type, value_type = inner_types(type_info)
        key, value = self._part(key_type, "[key]"), self._part(value_type, "[value]")
        check = type_info.to_internal_type

        def read(node: Any) -> Any:
            if not isinstance(node, dict):
                return {}  # as in Flink
            values = {key(name): value(part) for name, part in node.items()}
            return check(values) if None in values else values

        return read

    def _sequence(self, type_info: TypeInformation) -> Reader:
        element = element_of(type_info)
        part = self._part(element, "[element]")
        check: Reader = type_info.to_internal_type
        if isinstance(type_info, ListTypeInfo):
            part, check = _as_given(self.reader(element)), _same
        elif isinstance(type_info, PrimitiveArrayTypeInfo):
            part = _zero_for_none(part, element)

        def read(node: Any) -> Any:
            if not isinstance(node, list):
                raise fails(node, "a list")
            values = [part(item) for item in node]
            return check(values) if None in values else values

        return read


def _same(node: object) -> object:
    return node


def _as_given(read: Reader) -> Reader:
    """Return a function that reads what fits the type; Flink does not know the types of the elements of a LIST."""

    def read_element(node: object) -> object:
        try:
            return None if node is None else read(node)
        except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError):
            return node

    return read_element


def _zero_for_none(read: Reader, element: TypeInformation) -> Reader:
    """Return a function that reads a number; null is zero, as in the arrays of Java."""
    zero = read(0) if isinstance(element, BasicTypeInfo) and basic_type(element) in _NUMBERS else None
    return lambda node: zero if node is None else read(node)


def _locate(error: Exception, name: str) -> Misfit:
    return error.within(name) if isinstance(error, Misfit) else Misfit(f"{type(error).__name__}: {error}", name)


def _absent(name: str) -> None:
    raise Misfit(f"field '{name}' is missing")


def _not_an_object(node: Any) -> None:
    raise fails(node, "an object")


__all__ = ["JsonReader"]
