"""Row types from JSON schemas, for the subset that Flink supports."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from flintstream.common._types.basic import BasicType
from flintstream.common._types.parts import basic_type
from flintstream.common.typeinfo import BasicTypeInfo, Types
from flintstream.errors import PlanError, shorten

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation

_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TEXTS = {"date": Types.SQL_DATE, "time": Types.SQL_TIME, "date-time": Types.SQL_TIMESTAMP}
_SIMPLE = {"boolean": Types.BOOLEAN, "number": Types.BIG_DEC, "integer": Types.BIG_DEC}


def type_of_schema(text: str) -> TypeInformation:
    """Return the type that a JSON schema describes.

    >>> type_of_schema('{"type": "object", "properties": {"id": {"type": "integer"}}}')
    RowTypeInfo(id: BigDecimal)

    Raises:
        PlanError: The text is not a JSON schema, or uses features that Flink does not support.
    """
    try:
        root = json.loads(_COMMENT.sub(lambda match: match.group(1) or "", text))
    except (ValueError, RecursionError) as error:
        raise PlanError(f"a JSON schema must be JSON, but {shorten(text)} is not: {error}") from None
    try:
        return _type_of(root, "<root>", root)
    except RecursionError:
        raise PlanError(f"JSON schema: {shorten(text)} is nested too deeply, or refers to itself") from None


def _type_of(node: Any, place: str, root: Any) -> TypeInformation:
    if not isinstance(node, dict):
        raise PlanError(f"JSON schema: {place} must be an object, but got {shorten(node)}")
    alone = [key for key in ("allOf", "anyOf", "not", "extends", "disallow") if key in node]
    if alone:
        raise PlanError(f"JSON schema: '{alone[0]}' in {place} is not supported: use 'oneOf' with a type and null")
    if "$ref" in node:
        return _type_of(_follow_reference(node["$ref"], place, root), place, root)
    if "oneOf" in node:
        if not isinstance(node["oneOf"], list):
            raise PlanError(f"JSON schema: 'oneOf' in {place} must be a list, but got {shorten(node['oneOf'])}")
        return _one_of([_type_or_null(item, place, root) for item in node["oneOf"]], place)
    kinds = node.get("type")
    if kinds is None:
        raise PlanError(f"JSON schema: {place} has no 'type'")
    if isinstance(kinds, list):
        return _one_of([_type_or_null({**node, "type": kind}, place, root) for kind in kinds], place)
    return _type_of_kind(kinds, node, place, root)


def _type_or_null(node: Any, place: str, root: Any) -> TypeInformation | None:
    return None if isinstance(node, dict) and node.get("type") == "null" else _type_of(node, place, root)


def _one_of(types: list[TypeInformation | None], place: str) -> TypeInformation:
    there = [kind for kind in types if kind is not None]
    if len(there) != 1 or len(types) > 2:
        raise PlanError(f"JSON schema: {place} has several types: it must have one type, optionally with null")
    return there[0]


def _type_of_kind(kind: Any, node: dict[str, Any], place: str, root: Any) -> TypeInformation:
    if not isinstance(kind, str):
        raise PlanError(f"JSON schema: {place} has the unsupported type {shorten(kind)}")
    if kind in _SIMPLE:
        return _SIMPLE[kind]()
    if kind == "string":
        if "contentEncoding" in node and node["contentEncoding"] != "base64":
            raise PlanError(
                f"JSON schema: {place} has the encoding {node['contentEncoding']!r}: only base64 is supported"
            )
        if "contentEncoding" in node:
            return Types.PRIMITIVE_ARRAY(Types.BYTE())
        form = node.get("format")
        return _TEXTS[form]() if isinstance(form, str) and form in _TEXTS else Types.STRING()
    if kind == "object":
        fields = node.get("properties", {})
        if not isinstance(fields, dict):
            raise PlanError(f"JSON schema: the properties of {place} must be an object, but got {shorten(fields)}")
        types = [_type_of(field, f"{place}/{name}", root) for name, field in fields.items()]
        return Types.ROW_NAMED(list(fields), types)
    if kind == "array":
        return _array(node, place, root)
    raise PlanError(f"JSON schema: {place} has the unsupported type {kind!r}")


def _array(node: dict[str, Any], place: str, root: Any) -> TypeInformation:
    items = node.get("items")
    if items is None:
        raise PlanError(f"JSON schema: {place} is an array without an item type: add 'items'")
    if isinstance(items, list):
        if node.get("additionalItems", False):
            raise PlanError(f"JSON schema: {place} lists its items one by one: remove 'additionalItems'")
        types = [_type_of(item, f"{place}[{i}]", root) for i, item in enumerate(items)]
        return Types.ROW_NAMED([f"f{i}" for i in range(len(items))], types)
    element = _type_of(items, f"{place}[]", root)
    text = isinstance(element, BasicTypeInfo) and basic_type(element) is BasicType.STRING
    return Types.BASIC_ARRAY(element) if text else Types.OBJECT_ARRAY(element)


def _follow_reference(reference: Any, place: str, root: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        raise PlanError(
            f"JSON schema: {place} refers to {reference!r}: use a reference within the document, like '#/...'"
        )
    node = root
    for name in reference[2:].split("/"):
        if not isinstance(node, dict) or name not in node:
            raise PlanError(f"JSON schema: {place} refers to {reference!r}, which does not exist")
        node = node[name]
    if isinstance(node, dict) and "$ref" in node:
        raise PlanError(f"JSON schema: {place} refers to {reference!r}, another reference: name its target directly")
    return node
