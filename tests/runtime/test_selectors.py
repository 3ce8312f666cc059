"""Selectors that just take a field are known by their instructions, and no others are."""

from __future__ import annotations

import pytest

from flintstream.runtime.selectors import field_of


class ByField:
    def get_key(self, value):
        return value[2]

    def other(self, value):
        return vars(self)[value]


def named(record):
    """Return the key."""
    return record[1]


def with_default(record, n=0):
    return record[n]


def generator(record):
    yield record[0]


def nested(record):
    return record[0][1]


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other):
        return True

    def __call__(self, value):
        return value[0]

    def get_key(self, value):
        return value[3]


index = 0
outer = (1, 2)


@pytest.mark.parametrize(
    ("selector", "field"),
    [
        (lambda value: value[0], 0), (lambda r: r[300], 300), (named, 1), (ByField().get_key, 2),
        (lambda value: value[-1], -1), (lambda value: value["a"], -1), (lambda value: value[index], -1), (nested, -1),
        (lambda value: outer[0], -1), (lambda *value: value[0], -1), (lambda **value: value[0], -1), (generator, -1),
        (with_default, -1), (lambda value: value, -1), (lambda value: 0, -1), (lambda value: value[0] + 0, -1),
        (lambda value: value[2**70], -1), (Unhashable(), -1),
        (Unhashable().get_key, 3), (ByField().other, -1),
        (len, -1), (ByField, -1), (lambda value: value[True], -1), (lambda value: value[:1], -1),
    ],
)  # fmt: skip
def test_a_selector_is_known_by_its_instructions(selector, field):
    assert field_of(selector) == field
