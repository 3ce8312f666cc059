"""The shape of a JSON document: names and types, without values."""

from __future__ import annotations

import re
from typing import Any

IDS = re.compile(r"[0-9a-f]{32}(_\d+)?$|\d+$")
ANY = "*"
"""Stands for names that are ids or numbers."""


def shape(value: Any) -> Any:
    """Return names and types. A list has the merged shape of its elements, or none if it is empty.

    >>> shape({"jobs": [{"id": "x", "n": 1}, {"id": "y", "n": None}], "ok": True})
    {'jobs': [{'id': ['string'], 'n': ['null', 'number']}], 'ok': ['boolean']}
    """
    if isinstance(value, dict):
        merged: dict[str, Any] = {}
        for name, inner in value.items():
            place = ANY if IDS.match(name) else name
            merged[place] = shape(inner) if place not in merged else together(merged[place], shape(inner))
        return merged
    if isinstance(value, list):
        shapes = [shape(item) for item in value]
        if not shapes:
            return []
        first, *rest = shapes
        for item in rest:
            first = together(first, item)
        return [[first]] if isinstance(first, list) and first and isinstance(first[0], str) else [first]
    return [_kind(value)]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else "string"


def together(one: Any, other: Any) -> Any:
    """Return the shape of both."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            name: together(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name))
            for name in {**one, **other}
        }
    if isinstance(one, list) and isinstance(other, list):
        if all(isinstance(item, str) for item in [*one, *other]):
            return sorted({*one, *other})
        return [together(one[0], other[0])] if one and other else one or other
    return one if isinstance(one, dict) or (one and not isinstance(one[0], str)) else other
