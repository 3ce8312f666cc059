"""Schemas of Avro, read by fastavro, from the extra ``avro``."""

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
        MissingDependencyError: It is not installed.
    """
    return optional_module("fastavro", extra="avro", purpose="Avro")


@cache
def parsed(text: str) -> Any:
    """Return the schema in ``text`` as fastavro takes it; the same object for the same text.

    Raises:
        MissingDependencyError: fastavro is not installed.
        PlanError: This is no schema.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise PlanError(f"an Avro schema is a JSON text; {shorten(text)} is none: {error}") from None
    schema = library().schema
    try:
        return schema.parse_schema(content)
    except (schema.SchemaParseException, schema.UnknownType) as error:
        raise PlanError(f"this is no Avro schema: {error}, in {shorten(text)}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PlanError(f"this is no Avro schema: {type(error).__name__}: {error}, in {shorten(text)}") from None
