"""Factories of JSON."""

from __future__ import annotations

from flintstream.table._methods.json_methods import word
from flintstream.table._syntax import scalar as s
from flintstream.table.expression import Expression, JsonOnNull, apply, syntax_of

__all__ = ["json", "json_array", "json_array_agg", "json_object", "json_object_agg", "json_string"]


def json(value: object) -> Expression:
    """Return a text of JSON as what it stands for, within ``json_object()`` and ``json_array()``.

    >>> json('{"a": 1}')
    Expression(JSON('{"a": 1}'))
    """
    return apply("JSON", value)


def json_string(value: object) -> Expression:
    """Return a value as JSON.

    >>> json_string(col("a"))
    Expression(JSON_STRING(a))
    """
    return apply("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: object) -> Expression:
    """Return an object of JSON.

    >>> from flintstream.table.expression import JsonOnNull
    >>> json_object(JsonOnNull.ABSENT, "id", col("id"))
    Expression(JSON_OBJECT('ABSENT', 'id', id))

    Args:
        on_null: What becomes of None.
        args: Keys and values in turn; keys are literals.
    """
    return apply("JSON_OBJECT", word(on_null.name), *args)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: object) -> Expression:
    """Return an array of JSON.

    >>> from flintstream.table.expression import JsonOnNull
    >>> json_array(JsonOnNull.NULL, 1, col("a"))
    Expression(JSON_ARRAY('NULL', 1, a))

    Args:
        on_null: What becomes of None.
        args: The elements.
    """
    return apply("JSON_ARRAY", word(on_null.name), *args)


def json_object_agg(on_null: JsonOnNull, key_expr: object, value_expr: object) -> Expression:
    """Return an object of JSON with a member for each row of a group.

    >>> from flintstream.table.expression import JsonOnNull
    >>> json_object_agg(JsonOnNull.NULL, col("k"), col("v"))
    Expression(JSON_OBJECTAGG(ROW(k, v)))
    """
    pair = s.Apply(None, "ROW", (syntax_of(key_expr), syntax_of(value_expr)))
    return Expression(s.Aggregate(None, "JSON_OBJECTAGG", pair, option=on_null.name))


def json_array_agg(on_null: JsonOnNull, item_expr: object) -> Expression:
    """Return an array of JSON with an element for each row of a group.

    >>> from flintstream.table.expression import JsonOnNull
    >>> json_array_agg(JsonOnNull.ABSENT, col("v"))
    Expression(JSON_ARRAYAGG(v))
    """
    return Expression(s.Aggregate(None, "JSON_ARRAYAGG", syntax_of(item_expr), option=on_null.name))
