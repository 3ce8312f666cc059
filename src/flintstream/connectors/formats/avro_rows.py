"""Rows in Avro's binary encoding, with fastavro."""

from __future__ import annotations

import datetime as dt
import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

from flintstream.common._types.conversion import Scope
from flintstream.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, Types
from flintstream.connectors.formats.avro_schema import library, parse_schema, record_writer
from flintstream.connectors.formats.by_position import RowShape
from flintstream.connectors.formats.errors import FormatError
from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.common.types import Row

    Converter = Callable[[Any], Any]

_SIMPLE: dict[str, Callable[[], TypeInformation]] = {
    "null": Types.PICKLED_BYTE_ARRAY,
    "boolean": Types.BOOLEAN,
    "int": Types.INT,
    "long": Types.LONG,
    "float": Types.FLOAT,
    "double": Types.DOUBLE,
    "string": Types.STRING,
    "enum": Types.STRING,
    "bytes": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
}

_LOGICAL = {
    "date": Types.SQL_DATE,
    "time-millis": Types.SQL_TIME,
    "time-micros": Types.SQL_TIME,
    "timestamp-millis": Types.SQL_TIMESTAMP,
    "timestamp-micros": Types.SQL_TIMESTAMP,
    "decimal": Types.BIG_DEC,
}
_TIMESTAMPS = ("timestamp-millis", "timestamp-micros")
_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")


class AvroRows:
    """Converter between the records of an Avro schema and rows. Create one per schema and process."""

    def __init__(self, schema_text: str) -> None:
        """Compile the converters.

        Raises:
            PlanError: The schema does not describe records.
            MissingDependencyError: fastavro is not installed.
        """
        parse_schema(schema_text)  # validates the schema
        try:
            self._kinds, type_info = self._check(json.loads(schema_text))
        except PlanError:
            raise
        except (ValueError, TypeError, LookupError, RecursionError) as error:  # fastavro accepts more than we do
            raise PlanError(
                f"invalid Avro schema: {type(error).__name__}: {error}, in {shorten(schema_text)}"
            ) from error
        assert isinstance(type_info, RowTypeInfo)  # noqa: S101 - records map to rows
        self.type_info = type_info

    @staticmethod
    def _check(schema: Any) -> tuple[_Kinds, TypeInformation]:
        kinds = _Kinds(schema)
        if not isinstance(kinds.root, dict) or kinds.root.get("type") != "record":
            raise PlanError("an Avro schema for rows must describe records")
        return kinds, kinds.type_of(kinds.root)

    def reader(self, name: str) -> Callable[[bytes], Row]:
        """Return a function that reads a message; ``name`` is the schema's name in errors."""
        read, schema = library().schemaless_reader, parse_schema(json.dumps(self._kinds.root))
        convert = self._kinds.from_avro(self._kinds.root)
        assert convert is not None  # noqa: S101 - records are always converted

        def read_row(message: bytes) -> Row:
            try:
                return convert(read(BytesIO(message), schema, handle_unicode_errors="replace"))  # type: ignore[no-any-return]
            except Exception as error:
                raise FormatError.reading(name, message, error) from error

        return read_row

    def writer(self, name: str) -> Callable[[Any], bytes]:
        """Return a function that writes a row; ``name`` is the schema's name in errors."""
        encode = record_writer(json.dumps(self._kinds.root))
        shape, convert = RowShape(name, self.type_info, cuts=True), self._kinds.to_avro(self._kinds.root)
        assert convert is not None  # noqa: S101 - rows are always converted

        def write_row(value: Any) -> bytes:
            try:
                return encode(convert(shape(value)))
            except Exception as error:
                raise FormatError.writing(name, value, error) from error

        return write_row


class _Kinds:
    """Types and converters of the parts of a schema."""

    def __init__(self, root: Any) -> None:
        self._named: dict[str, Any] = {}
        self._open: list[str] = []
        self.root = self._clean(root)

    def _clean(self, schema: Any) -> Any:
        """Drop logical types that Flink does not know, and register named types."""
        if isinstance(schema, list):
            return [self._clean(field) for field in schema]
        if not isinstance(schema, dict):
            return schema
        own = dict(schema)
        if own.get("logicalType") not in _LOGICAL:
            own.pop("logicalType", None)
        for part in ("items", "values"):
            if part in own:
                own[part] = self._clean(own[part])
        if "fields" in own:
            own["fields"] = [{**item, "type": self._clean(item["type"])} for item in own["fields"]]
        if isinstance(own.get("type"), (dict, list)):
            own["type"] = self._clean(own["type"])
        if "name" in own:
            self._named[own["name"]] = own
            self._named[f"{own.get('namespace', '')}.{own['name']}".lstrip(".")] = own
        return own

    def _resolve(self, schema: Any) -> Any:
        """Resolve a name; reduce a union of a type and null to the type."""
        if isinstance(schema, str) and schema not in _PRIMITIVES:
            found = self._named.get(schema, self._named.get(schema.rpartition(".")[2]))
            if found is None:
                raise PlanError(f"the Avro schema refers to {schema!r}, which it does not define")
            return found
        if isinstance(schema, dict) and isinstance(schema["type"], (dict, list)):
            return self._resolve(schema["type"])
        if isinstance(schema, list):
            there = [field for field in schema if field != "null"]
            return self._resolve(there[0]) if len(there) == 1 else schema
        return schema

    def type_of(self, schema: Any) -> TypeInformation:
        """Return the type of the values of a part."""
        schema = self._resolve(schema)
        if isinstance(schema, list):
            return PickledBytesTypeInfo()  # a union of several types
        if isinstance(schema, str):
            return _SIMPLE[schema]()
        if "logicalType" in schema:
            return _LOGICAL[schema["logicalType"]]()
        kind = schema["type"]
        if kind == "array":
            return Types.OBJECT_ARRAY(self.type_of(schema["items"]))
        if kind == "map":
            return Types.MAP(Types.STRING(), self.type_of(schema["values"]))
        if kind != "record":
            return _SIMPLE[kind]()
        if schema["name"] in self._open:
            raise PlanError(f"the Avro record '{schema['name']}' contains itself, which rows do not support")
        self._open.append(schema["name"])
        fields = schema["fields"]
        types = [self.type_of(field["type"]) for field in fields]
        self._open.pop()
        return Types.ROW_NAMED([field["name"] for field in fields], types)

    def from_avro(self, schema: Any) -> Converter | None:
        """Return a function that converts fastavro's value to ours; None if they are the same."""
        return self._converter(schema, _row_from_dict, _without_zone, self.from_avro)

    def to_avro(self, schema: Any) -> Converter | None:
        """Return a function that converts our value to fastavro's; None if they are the same."""
        return self._converter(schema, _dict_from_row, _with_zone, self.to_avro)

    def _converter(
        self,
        schema: Any,
        record: Callable[[list[str], list[Converter | None]], Converter],
        timestamp: Converter,
        part: Callable[[Any], Converter | None],
    ) -> Converter | None:
        schema = self._resolve(schema)
        if not isinstance(schema, dict):
            return None
        if schema.get("logicalType") in _TIMESTAMPS:
            return timestamp
        if schema["type"] == "record":
            fields = schema["fields"]
            return record([field["name"] for field in fields], [part(field["type"]) for field in fields])
        if schema["type"] == "array":
            return _of_lists(_nullable(part(schema["items"])))
        if schema["type"] == "map":
            return _of_maps(_nullable(part(schema["values"])))
        return None


def _without_zone(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=None)


def _with_zone(value: dt.datetime) -> dt.datetime:
    return value.replace(tzinfo=dt.timezone.utc)  # fastavro treats naive values as local time


def _nullable(convert: Converter | None) -> Converter | None:
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


def _of_lists(convert: Converter | None) -> Converter | None:
    if convert is None:
        return None
    return lambda values: [convert(value) for value in values]


def _of_maps(convert: Converter | None) -> Converter | None:
    if convert is None:
        return None
    return lambda values: {key: convert(item) for key, item in values.items()}


def _parts(scope: Scope, texts: list[str], converters: list[Converter | None]) -> list[str]:
    built = zip(texts, map(_nullable, converters), strict=True)
    return [text if convert is None else f"{scope.add(convert)}({text})" for text, convert in built]


def _row_from_dict(names: list[str], converters: list[Converter | None]) -> Converter:
    scope = Scope()
    own = scope.add(tuple(names))
    values = ", ".join(_parts(scope, [f"v[{name!r}]" for name in names], converters))
    return scope.function(f"def convert(v):\n    return make_row({own}, [{values}])\n")


def _dict_from_row(names: list[str], converters: list[Converter | None]) -> Converter:
    scope = Scope()
    variables = [f"a{i}" for i in range(len(names))]
    pairs = zip(names, _parts(scope, variables, converters), strict=True)
    unpack = f"    {', '.join(variables)}, = v\n" if variables else ""
    body = ", ".join(f"{name!r}: {part}" for name, part in pairs)
    return scope.function(f"def convert(v):\n{unpack}    return {{{body}}}\n")
