"""What has no value for any record is refused when a statement is planned, and what fails says why."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.table.support import environment

from flintstream.table._errors import SqlError
from flintstream.table._expressions.helpers import parse_integer, remainder_decimals
from flintstream.table._expressions.text_helpers import pad
from flintstream.table._expressions.times.texts import parse_date


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("TIMESTAMPDIFF(DECADE, LOCALTIMESTAMP, LOCALTIMESTAMP)", "has no unit DECADE"),
        ("FLOOR(CURRENT_TIME TO YEAR)", "has no unit YEAR"),
        ("MAP['a', 1] < MAP['a', 2]", "has arguments of the wrong type"),
        ("GREATEST(ARRAY[1], ARRAY[2])", "has arguments of the wrong type"),
        ("ARRAY_MAX(ARRAY[ARRAY[1], ARRAY[2]])", "has arguments of the wrong type"),
        ("ARRAY_SORT(ARRAY[ROW(1, 2)])", "has arguments of the wrong type"),
        ("MAP[ARRAY[1], 1]", "has arguments of the wrong type"),
        ("MAP_FROM_ARRAYS(ARRAY[ARRAY[1]], ARRAY[1])", "has arguments of the wrong type"),
        ("RAND_INTEGER(CAST(5000000000 AS BIGINT))", "has arguments of the wrong type"),
    ],
)
def test_what_no_record_has_a_value_of_is_refused_when_planned(expression, why):
    with pytest.raises(SqlError, match=why):
        environment("BATCH").sql_query(f"SELECT {expression}")


def test_the_greatest_of_one_value_is_that_value():
    t_env = environment("BATCH")
    with t_env.execute_sql(
        "SELECT GREATEST(2), LEAST(CAST(NULL AS INT)), RAND_INTEGER(CAST(NULL AS INT), 5)"
    ).collect() as rows:
        assert [list(row) for row in rows] == [[2, None, None]]


def test_values_that_cannot_be_are_refused_in_words():
    with pytest.raises(ArithmeticError, match="Division by zero"):
        remainder_decimals(Decimal(1), Decimal(0), 10, 2)
    with pytest.raises(ValueError, match="out of range"):
        parse_integer("9" * 5000, 32)
    with pytest.raises(ValueError, match="Expected a date"):
        parse_date("2020-30-01")


@pytest.mark.parametrize(("left", "text"), [(True, "y\U0001f600?a"), (False, "ay\U0001f600?")])
def test_padding_counts_units_and_half_of_a_pair_is_a_question_mark(left, text):
    assert pad("a", 5, "y\U0001f600\U0001f600", left=left) == text
