"""Conditions of queries as those of MongoDB, which leave out no document that a query would keep.

The query checks its rows again, so a condition here may hold for more of them. It must, where a column reads values of
other types than the server compares: a STRING is also the digits of an ``ObjectId``, or extended JSON.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, cast

from flintstream.common._types import data_types as t
from flintstream.common._types.nanoseconds import nanoseconds_of, plain_datetime
from flintstream.connectors.mongodb.client import part
from flintstream.table._expressions.codegen import compile_source, source
from flintstream.table._expressions.expr import Call, Const, Ref, is_repeatable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flintstream.common._types.data_types import DataType
    from flintstream.table._expressions.expr import Expr

    Condition = dict[str, object]

_SIGNS = {"=": "$eq", "<>": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EXACT = 1 << 53
"""Whole numbers up to this are DOUBLE without loss."""
_LONG = 1 << 63
_MOST_LEVELS = 20
"""How deep AND and OR may be nested: servers limit the depth of documents and of conditions."""
_TIMES = (t.TimestampType, t.LocalZonedTimestampType)
_VALUES = ("number", "string", "object", "array", "binData", "objectId", "bool", "date", "regex", "timestamp")
"""Types of values that are not NULL. Of the others, "undefined" is NULL, which does not equal null on each server."""


class Conditions(NamedTuple):
    """Makes conditions on the columns of a table.

    >>> from flintstream.common._types.data_types import DataTypes
    >>> from flintstream.table._expressions.expr import template
    >>> older = Call(DataTypes.BOOLEAN(), ">", (Ref(DataTypes.INT(), 0), Const(DataTypes.INT(), 40)), template(""))
    >>> Conditions(["age"], [DataTypes.INT()]).of(older)
    {'age': {'$gt': 40}}
    """

    names: Sequence[str]
    types: Sequence[DataType]
    orders_texts: bool = True
    """Whether the server orders texts as SQL does."""

    def of(self, condition: Expr, levels: int = _MOST_LEVELS) -> Condition | None:
        """Return what documents must meet; None if the server cannot tell."""
        if isinstance(condition, Ref):
            return self._flag(condition, holds=True)
        if not isinstance(condition, Call):
            return None
        name, arguments = condition.name, condition.arguments
        if name in {"AND", "OR"}:
            return self._several(name, arguments, levels - 1)
        if name == "IN":
            # No value is equal to NULL.
            members = [item for item in arguments[1:] if not isinstance(item, Const) or item.value is not None]
            return _any([self._compare("=", arguments[0], item) for item in members]) if members else None
        if name in _SIGNS:
            return self._compare(name, *arguments)
        if name == "NOT":
            return self._flag(arguments[0], holds=False)
        if name in {"IS NULL", "IS NOT NULL"}:
            return self._null(arguments[0], holds=name == "IS NULL")
        return None

    def _several(self, name: str, arguments: Sequence[Expr], levels: int) -> Condition | None:
        if levels <= 0:
            return None
        parts = [self.of(argument, levels) for argument in arguments]
        if name == "OR":
            return _any(parts)
        known = [found for found in parts if found is not None]
        return known[0] if len(known) == 1 else {"$and": known} if known else None

    def _field(self, expression: Expr) -> str | None:
        """Return the field of a column; None for another expression, and for a name that is a path of fields."""
        if not isinstance(expression, Ref):
            return None
        name = self.names[expression.index]
        return None if "." in name or name.startswith("$") or not name else name

    def _flag(self, expression: Expr, *, holds: bool) -> Condition | None:
        name = self._field(expression)
        return None if name is None or not isinstance(expression.type, t.BooleanType) else {name: holds}

    def _null(self, expression: Expr, *, holds: bool) -> Condition | None:
        name = self._field(expression)
        if name is None or isinstance(expression.type, t.DecimalType):  # one that does not fit is NULL
            return None
        if holds:
            return {name: {"$not": {"$type": [*_VALUES]}}}
        # A list with null among its elements is like null to the server.
        return {"$or": [{name: {"$ne": None}}, {name: {"$type": "array"}}]}

    def _compare(self, sign: str, first: Expr, second: Expr) -> Condition | None:
        if not isinstance(first, Ref):
            first, second, sign = second, first, _MIRRORED.get(sign, sign)
        name = self._field(first)
        if name is None or not isinstance(first, Ref):
            return None
        value, kind = _constant(second), self.types[first.index]
        if isinstance(kind, t.VarCharType):
            return self._compare_text(name, sign, value)
        same: Condition = {name: {_SIGNS[sign]: value}}
        if isinstance(kind, t.BooleanType):
            return same if isinstance(value, bool) and sign in {"=", "<>"} else None
        if isinstance(kind, _TIMES):
            if not isinstance(value, dt.datetime) or value.microsecond % 1000 or nanoseconds_of(value):
                return None  # documents have milliseconds
            return {"$or": [{name: {_SIGNS[sign]: plain_datetime(value)}}, {name: {"$type": "timestamp"}}]}
        if isinstance(value, Decimal) and value.is_finite() and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or isinstance(value, Decimal):
            return None
        fits = -_EXACT < value < _EXACT if isinstance(kind, t.DoubleType) else type(value) is int
        if not fits or not -_LONG <= value < _LONG or not isinstance(kind, (t.IntType, t.BigIntType, t.DoubleType)):
            return None
        return {name: {_SIGNS[sign]: value}}

    def _compare_text(self, name: str, sign: str, value: object) -> Condition | None:
        if not isinstance(value, str) or not _is_unicode(value):
            return None
        if sign == "=":
            if value.startswith("{"):  # it may stand for another value
                return None
            kind = part("bson.objectid").ObjectId
            is_id = len(value) == 24 and kind.is_valid(value) and value == value.lower()
            return {name: {"$in": [value, kind(value)]}} if is_id else {name: {"$eq": value}}
        if not self.orders_texts:
            return None
        # Only texts compare with texts.
        others: list[Condition] = [{name: {"$not": {"$type": "string"}}}, {name: {"$type": "array"}}]
        return {"$or": [{name: {_SIGNS[sign]: value}}, *others]}


def _is_unicode(text: str) -> bool:
    """Return whether a text can be sent: it has no half of a pair of UTF-16."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _any(parts: Sequence[Condition | None]) -> Condition | None:
    """Return that one of several conditions is met, with equal values of a field in one list; None if one is None."""
    values: dict[str, list[object]] = {}
    others: list[Condition] = []
    for found in parts:
        if found is None:
            return None
        ((name, test),) = found.items()
        if isinstance(test, dict) and len(test) == 1 and not test.keys().isdisjoint({"$eq", "$in"}):
            values.setdefault(name, []).extend(test["$in"] if "$in" in test else [test["$eq"]])
        elif name == "$or":
            others += cast("list[Condition]", test)
        else:
            others.append(found)
    made: list[Condition] = [
        {name: {"$in": members} if len(members) > 1 else {"$eq": members[0]}} for name, members in values.items()
    ]
    made += {repr(item): item for item in others}.values()
    return made[0] if len(made) == 1 else {"$or": made}


def _constant(expression: Expr) -> object:
    """Return the value of an expression without columns; None if there is none, or if it may change."""
    if isinstance(expression, Const):
        return expression.value
    if not _is_constant(expression):
        return None
    found: list[object] = []
    try:
        compile_source(source(expression, None, stamped=False))([()], found.append)
    except (ValueError, TypeError, ArithmeticError, LookupError):
        return None  # the query will say what is wrong with it
    return found[0]


def _is_constant(expression: Expr) -> bool:
    if isinstance(expression, Call):
        return is_repeatable(expression) and all(map(_is_constant, expression.arguments))
    return isinstance(expression, Const)
