# mypy: disable-error-code="import-not-found,import-untyped"
"""Types that ``from_elements`` infers."""

import array
from collections import namedtuple
from decimal import Decimal

from tests.table.conformance.registry import program

Point = namedtuple("Point", "x y")  # noqa: PYI024 - one without types


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


@program(level=2)
def inferred_columns(env, t_env):
    values = (Decimal("1.5"), array.array("d", [1.5]), array.array("i", [1, 2]), array.array("H", [3]), [1], {"a": 1})
    return t_env.from_elements([values, (None, *values[1:])])


@program(level=2)
def inferred_from_later_rows(env, t_env):
    return t_env.from_elements([(None, 1, [], {}), (2.5, None, [1], {"a": True})])


@program(level=2)
def inferred_from_dicts(env, t_env):
    return [
        t_env.from_elements([{"b": 1, "a": "x"}, {"a": None, "b": 2}]),
        t_env.from_elements([{"b": 1, "a": "x"}], ["b", "a"]),
    ]


@program(level=2)
def inferred_from_objects(env, t_env):
    return [
        t_env.from_elements([Plain(b=1, a="x")]),
        t_env.from_elements([Point(1, 2.5), Point(None, None)], ["a", "b"]),
    ]


@program(level=2)
def inferred_nested(env, t_env):
    return t_env.from_elements([((1, "a"), Point(1, 2.5), Plain(q=1, p="x"))])


@program(level=2)
def inferred_types_that_differ(env, t_env):
    return t_env.from_elements([(1,), (1.5,)])


@program(level=2)
def inferred_lengths_that_differ(env, t_env):
    return t_env.from_elements([(1, 2), (1,)])
