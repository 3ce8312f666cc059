"""Avro schemas, parsed by fastavro, from the extra ``avro``."""

from __future__ import annotations

import json
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from flintstream.common._text.leaving import write_whole
from flintstream.errors import PlanError, optional_module, shorten

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    _Schema = dict[str, Any]
    _Named = dict[str, _Schema]


def library() -> ModuleType:
    """Return the module ``fastavro``.

    Raises:
        MissingDependencyError: fastavro is not installed.
    """
    return optional_module("fastavro", extra="avro", purpose="Avro")


def python_library() -> ModuleType:
    """Return the reader of ``fastavro`` that is written in Python.

    It raises a ``RecursionError`` where the compiled one overflows the stack and ends the process: for data that is
    nested thousands of levels deep.
    """
    library()
    return import_module("fastavro._read_py")


def contains_itself(schema: Any, above: frozenset[str] = frozenset()) -> bool:
    """Tell whether a record of a schema may contain a record of the same type, so that data may be nested deeply.

    >>> contains_itself({"type": "record", "name": "a", "fields": [{"name": "next", "type": ["null", "a"]}]})
    True
    """
    if isinstance(schema, str):
        return schema.rpartition(".")[2] in above
    if isinstance(schema, list):
        return any(contains_itself(field, above) for field in schema)
    name = schema.get("name")
    below = above if name is None else above | {name.rpartition(".")[2]}
    fields = [field["type"] for field in schema.get("fields", ())]
    return any(contains_itself(schema.get(part, ""), below) for part in ("items", "values")) or any(
        contains_itself(field, below) for field in (schema["type"], *fields)
    )


@cache
def parse_schema(text: str) -> Any:
    """Return the schema in ``text``, which the program has given, in fastavro's parsed form.

    The same text gives the same object.

    Raises:
        MissingDependencyError: fastavro is not installed.
        PlanError: The text is not an Avro schema.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"an Avro schema must be JSON, but {shorten(text)} is not: {error}") from None
    return _parse(content, text)


def record_writer(text: str, head: bytes = b"") -> Callable[[object], bytes]:
    """Return the function that writes a record of a schema in Avro's binary encoding, after the bytes ``head``."""
    write, schema = library().schemaless_writer, parse_schema(text)

    def encode(record: object) -> bytes:
        stream = BytesIO(head)
        stream.seek(len(head))
        write(stream, schema, record)
        return stream.getvalue()

    return partial(write_whole, encode)


def _parse(content: object, text: str) -> Any:
    schema = library().schema
    try:
        return schema.parse_schema(content)
    except (schema.SchemaParseException, schema.UnknownType) as error:
        raise PlanError(f"invalid Avro schema: {error}, in {shorten(text)}") from None
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise PlanError(f"invalid Avro schema: {type(error).__name__}: {error}, in {shorten(text)}") from None


def reader_schema(wanted: str, written: object) -> Any:
    """Return a schema in fastavro's parsed form that reads records of any name, like Java's reader: fields decide.

    fastavro compares names. So each record gets the names of those in the same place of the written schema as aliases.

    Args:
        wanted: the schema that the program has given, as text.
        written: the schema of the data.

    Raises:
        MissingDependencyError: fastavro is not installed.
        PlanError: The text is not an Avro schema.

    >>> own = '{"type": "record", "name": "mine", "fields": []}'
    >>> reader_schema(own, {"type": "record", "name": "org.they.Theirs", "fields": []})["aliases"]
    ['org.they.Theirs', 'Theirs']
    """
    made = _with_aliases(json.loads(wanted), [written], _schemas_by_name(written))
    return _parse(_defined_once(made, set()), wanted)


def _with_aliases(wanted: object, written: list[object], known: _Named) -> object:
    """Return a schema with aliases; ``written`` are the schemas that data in this place may have."""
    if isinstance(wanted, list):
        return [_with_aliases(branch, written, known) for branch in wanted]
    if not isinstance(wanted, dict):
        return wanted
    if isinstance(wanted["type"], (dict, list)):
        return {**wanted, "type": _with_aliases(wanted["type"], written, known)}
    kind = wanted["type"]
    there = [schema for schema in _flat(written, known) if schema["type"] == kind]
    if kind in {"array", "map"}:
        inner = "items" if kind == "array" else "values"
        return {**wanted, inner: _with_aliases(wanted[inner], [schema[inner] for schema in there], known)}
    if kind == "bytes" and wanted.get("logicalType") == "decimal":
        return next((schema for schema in _flat(written, known) if _is_fixed_decimal(schema, wanted)), wanted)
    if kind not in {"record", "error"} or not there:
        return wanted
    names = [name for schema in there for name in (schema["name"], schema["name"].rpartition(".")[2])]
    fields = [
        {
            **field,
            "type": _with_aliases(
                field["type"],
                [own["type"] for schema in there for own in schema["fields"] if own["name"] == field["name"]],
                known,
            ),
        }
        for field in wanted["fields"]
    ]
    return {**wanted, "fields": fields, "aliases": list(dict.fromkeys([*wanted.get("aliases", ()), *names]))}


def _is_fixed_decimal(schema: _Schema, wanted: _Schema) -> bool:
    """Return whether data has a decimal in a fixed number of bytes, which is read like one in any number of bytes."""
    same = all(schema.get(key, 0) == wanted.get(key, 0) for key in ("logicalType", "scale"))
    return same and schema["type"] == "fixed" and schema.get("precision", 0) <= wanted.get("precision", 0)


def _defined_once(schema: object, seen: set[str]) -> object:
    """Return a schema in which a decimal of fixed size has its definition once, and later its name."""
    if isinstance(schema, list):
        return [_defined_once(branch, seen) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    if schema["type"] == "fixed":
        name: str = schema["name"]
        if name in seen:
            return name
        seen.add(name)
        return schema
    parts = {key: _defined_once(schema[key], seen) for key in ("type", "items", "values") if key in schema}
    if "fields" in schema:
        parts["fields"] = [{**field, "type": _defined_once(field["type"], seen)} for field in schema["fields"]]
    return {**schema, **parts}


def _schemas_by_name(schema: object) -> _Named:
    """Return the schemas within a schema by their names, with and without namespace."""
    if isinstance(schema, list):
        return {name: found for branch in schema for name, found in _schemas_by_name(branch).items()}
    if not isinstance(schema, dict):
        return {}
    own = dict.fromkeys((schema["name"], schema["name"].rpartition(".")[2]), schema) if "name" in schema else {}
    parts = [schema.get("items"), schema.get("values"), *(field["type"] for field in schema.get("fields", ()))]
    return {**_schemas_by_name(parts), **_schemas_by_name(schema["type"]), **own}


def _flat(schemas: list[object], known: _Named) -> list[_Schema]:
    """Return the schemas that are dicts, those of unions and those that names stand for."""
    found: list[_Schema] = []
    for schema in schemas:
        if isinstance(schema, list):
            found += _flat(schema, known)
        elif isinstance(schema, str):
            found += [known[schema]] if schema in known else []
        elif isinstance(schema, dict):
            found += _flat([schema["type"]], known) if isinstance(schema["type"], (dict, list)) else [schema]
    return found
