"""Conditions for ranges of ids.

``$gt`` and its kind compare only values of one type, but a collection may have ids of several: their order is the one
of the types first.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from flintstream.connectors.mongodb.client import part

if TYPE_CHECKING:
    Condition = dict[str, object]

ORDER = ("null", "number", "string", "object", "binData", "objectId", "bool", "date", "timestamp")
"""The types that an id can have, in MongoDB's order."""


def _type_of(value: object) -> int:
    """Return the place of the type of an id."""
    kinds = (
        (bool, "bool"),
        ((int, float, part("bson.decimal128").Decimal128), "number"),
        (str, "string"),
        (dict, "object"),
        ((bytes, bytearray), "binData"),
        (part("bson.objectid").ObjectId, "objectId"),
        (dt.datetime, "date"),
        (part("bson.timestamp").Timestamp, "timestamp"),
    )
    return next((ORDER.index(name) for kind, name in kinds if isinstance(value, kind)), 0)


def _compare(sign: str, value: object, types: tuple[str, ...]) -> Condition:
    same: Condition = {"_id": {sign: value}}
    return {"$or": [same, {"_id": {"$type": list(types)}}]} if types else same


def after(last: object) -> Condition:
    """Return the condition for ids behind one.

    >>> after("x")["$or"][0]
    {'_id': {'$gt': 'x'}}
    """
    return _compare("$gt", last, ORDER[_type_of(last) + 1 :])


def between(low: object, high: object) -> list[Condition]:
    """Return the conditions for ids from one on, and before another; None for no limit.

    >>> [condition["$or"][0] for condition in between("a", "c")]
    [{'_id': {'$gte': 'a'}}, {'_id': {'$lt': 'c'}}]
    """
    found = []
    if low is not None:
        found.append(_compare("$gte", low, ORDER[_type_of(low) + 1 :]))
    if high is not None:
        found.append(_compare("$lt", high, ORDER[: _type_of(high)]))
    return found
