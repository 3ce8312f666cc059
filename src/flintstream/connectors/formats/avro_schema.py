"""Avro schemas, parsed by fastavro, from the extra ``avro``."""

from __future__ import annotations

import json
from functools import cache
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


@cache
def parsed(text: str) -> Any:
    """Return the schema in ``text`` in fastavro's parsed form; the same object for the same text.

    Raises:
        MissingDependencyError: fastavro is not installed.
        PlanError: The text is not an Avro schema.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise PlanError(f"an Avro schema must be JSON, but {shorten(text)} is not: {error}") from None
    schema = library().schema
    try:
        return schema.parse_schema(content)
    except (schema.SchemaParseException, schema.UnknownType) as error:
        raise PlanError(f"invalid Avro schema: {error}, in {shorten(text)}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PlanError(f"invalid Avro schema: {type(error).__name__}: {error}, in {shorten(text)}") from None
