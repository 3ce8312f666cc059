"""Words that functions of expressions take."""

from __future__ import annotations

from enum import Enum

__all__ = [
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]


class TimeIntervalUnit(Enum):
    """The units of ``extract()``, ``floor()`` and ``ceil()``.

    >>> from flintstream.table.expressions import col
    >>> col("time").extract(TimeIntervalUnit.HOUR)
    Expression(EXTRACT('HOUR', time))
    """

    YEAR = 0
    YEAR_TO_MONTH = 1
    QUARTER = 2
    MONTH = 3
    WEEK = 4
    DAY = 5
    DAY_TO_HOUR = 6
    DAY_TO_MINUTE = 7
    DAY_TO_SECOND = 8
    HOUR = 9
    SECOND = 10
    HOUR_TO_MINUTE = 11
    HOUR_TO_SECOND = 12
    MINUTE = 13
    MINUTE_TO_SECOND = 14


class TimePointUnit(Enum):
    """The units of ``timestamp_diff()``.

    >>> from flintstream.table.expressions import col, timestamp_diff
    >>> timestamp_diff(TimePointUnit.DAY, col("a"), col("b"))
    Expression(TIMESTAMPDIFF('DAY', a, b))
    """

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3
    MINUTE = 4
    SECOND = 5
    QUARTER = 6
    WEEK = 7
    MILLISECOND = 8
    MICROSECOND = 9


class JsonType(Enum):
    """What ``is_json()`` tests for.

    >>> from flintstream.table.expressions import lit
    >>> lit("{}").is_json(JsonType.OBJECT)
    Expression(IS JSON OBJECT('{}'))
    """

    VALUE = 0
    SCALAR = 1
    ARRAY = 2
    OBJECT = 3


class JsonExistsOnError(Enum):
    """What ``json_exists()`` gives for a text that is not JSON, or a strict path that does not fit.

    >>> from flintstream.table.expressions import lit
    >>> lit('{"a": 1}').json_exists("lax $.a", JsonExistsOnError.FALSE)
    Expression(JSON_EXISTS('{"a": 1}', 'lax $.a', 'FALSE'))
    """

    TRUE = 0
    FALSE = 1
    UNKNOWN = 2
    ERROR = 3


class JsonValueOnEmptyOrError(Enum):
    """What ``json_value()`` gives if nothing is there, or something is wrong.

    >>> from flintstream.table.expressions import lit
    >>> lit("{}").json_value("$.a", on_empty=JsonValueOnEmptyOrError.NULL)
    Expression(JSON_VALUE('{}', '$.a', None, 'NULL', None, 'NULL', None))
    """

    NULL = 0
    ERROR = 1
    DEFAULT = 2


class JsonQueryWrapper(Enum):
    """When ``json_query()`` puts its result into an array.

    >>> from flintstream.table.expressions import lit
    >>> lit('{"a": 1}').json_query("$.a", wrapping_behavior=JsonQueryWrapper.UNCONDITIONAL_ARRAY)
    Expression(JSON_QUERY('{"a": 1}', '$.a', None, 'UNCONDITIONAL_ARRAY', 'NULL', 'NULL'))
    """

    WITHOUT_ARRAY = 0
    CONDITIONAL_ARRAY = 1
    UNCONDITIONAL_ARRAY = 2


class JsonQueryOnEmptyOrError(Enum):
    """What ``json_query()`` gives if nothing is there, or something is wrong.

    >>> from flintstream.table.expressions import lit
    >>> on_empty = JsonQueryOnEmptyOrError.EMPTY_ARRAY
    >>> lit("{}").json_query("$.a", on_empty=on_empty)
    Expression(JSON_QUERY('{}', '$.a', None, 'WITHOUT_ARRAY', 'EMPTY_ARRAY', 'NULL'))
    """

    NULL = 0
    EMPTY_ARRAY = 1
    EMPTY_OBJECT = 2
    ERROR = 3


class JsonOnNull(Enum):
    """What becomes of None in an object or array of JSON.

    >>> from flintstream.table.expressions import json_object
    >>> json_object(JsonOnNull.ABSENT, "a", 1)
    Expression(JSON_OBJECT('ABSENT', 'a', 1))
    """

    NULL = 0
    ABSENT = 1
