"""Avro schemas, parsed by fastavro, from the extra ``avro``."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from flintstream.errors import PlanError, optional_module, shorten

if TYPE_CHECKING:
    from types import ModuleType


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
def parsed(text: str) -> Any:
    """Return the schema in ``text`` in fastavro's parsed form; the same object for the same text.

    Raises:
        MissingDependencyError: fastavro is not installed.
        PlanError: The text is not an Avro schema.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"an Avro schema must be JSON, but {shorten(text)} is not: {error}") from None
    schema = library().schema
    try:
        return schema.parse_schema(content)
    except (schema.SchemaParseException, schema.UnknownType) as error:
        raise PlanError(f"invalid Avro schema: {error}, in {shorten(text)}") from None
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise PlanError(f"invalid Avro schema: {type(error).__name__}: {error}, in {shorten(text)}") from None
