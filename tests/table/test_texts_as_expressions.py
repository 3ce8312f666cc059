"""Tables take expressions as texts, as before PyFlink 1.15."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from flintstream.common import Configuration
from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.expressions import col, lit
from flintstream.table.udf import udf
from flintstream.table.window import Slide, Tumble


@pytest.fixture
def t_env():
    inline = Configuration.from_dict({"flintstream.engine": "inline"})
    return TableEnvironment.create(
        EnvironmentSettings.new_instance().in_batch_mode().with_configuration(inline).build()
    )


@pytest.fixture
def orders(t_env):
    return t_env.from_elements([("ann", 3, 0.5), ("bob", 5, 1.5), ("ann", 4, 2.5)], ["name", "n", "price"])


def text(given) -> Any:
    """Return a text where the types want an expression."""
    return given


def rows(table):
    return sorted(tuple(row) for row in table.execute().collect())


@pytest.mark.parametrize(
    ("text", "expressions"),
    [
        ("name, n", [col("name"), col("n")]),
        ("*", [col("*")]),
        ("n + 2 * 3 as m, (n + 2) * 3 as k", [(col("n") + 6).alias("m"), ((col("n") + 2) * 3).alias("k")]),
        ("n - 1 - 1, -n, n % 2, price / 2.5", [col("n") - 2, -col("n"), col("n") % 2, col("price") / 2.5]),
        ("n > 3 && name = 'ann' || !(n < 5)", [((col("n") > 3) & (col("name") == "ann")) | ~(col("n") < 5)]),
        ("n >= 4, n <= 4, n != 4, n <> 4, n == 4, n === 4, n !== 4", [
            col("n") >= 4, col("n") <= 4, col("n") != 4, col("n") != 4, col("n") == 4, col("n") == 4, col("n") != 4,
        ]),
        ("upper(name), name.upperCase(), name.char_length()", [
            col("name").upper_case, col("name").upper_case, col("name").char_length,
        ]),
        ("'it''s', \"so\", true, null.isNull", [lit("it's"), lit("so"), lit(True), lit(True)]),
        ("`name`, name.isNull as missing", [col("name"), col("name").is_null.alias("missing")]),
    ],
)  # fmt: skip
def test_a_text_means_the_same_as_expressions(orders, text, expressions):
    assert rows(orders.select(text)) == rows(orders.select(*expressions))


def test_the_other_methods_take_texts(orders):
    totals = orders.group_by("name").select("name, n.sum as total, count(n) as c")
    assert rows(totals) == [("ann", 7, 2), ("bob", 5, 1)]
    assert rows(orders.filter("n > 4").select("name")) == rows(orders.where("n > 4").select("name")) == [("bob",)]
    ordered = orders.order_by("n.desc").select("n").execute().collect()
    assert [row[0] for row in ordered] == [5, 4, 3]
    assert rows(orders.add_columns("n + 1 as m").drop_columns("price, name").rename_columns("m as k").select("k")) == [
        (4,), (5,), (6,),
    ]  # fmt: skip
    assert rows(orders.add_or_replace_columns("n * 2 as n").select("n")) == [(6,), (8,), (10,)]


@pytest.mark.parametrize("slides", [False, True])
def test_windows_take_texts_and_functions_of_the_program(t_env, slides):
    t_env.create_temporary_system_function("to_string", udf(lambda at: f"{at}", result_type=DataTypes.STRING()))
    times = [dt.datetime(2020, 1, 1, 0, 0, second) for second in (1, 2, 12)]
    kinds = DataTypes.ROW([DataTypes.FIELD("at", DataTypes.TIMESTAMP(3)), DataTypes.FIELD("n", DataTypes.INT())])
    clicks = t_env.from_elements([(at, number) for number, at in enumerate(times)], kinds)
    size: Any = Slide.over(text("10.seconds")).every(text("10.second")) if slides else Tumble.over(text("10.seconds"))
    found = (
        clicks.window(size.on("at").alias("w"))
        .group_by("w")
        .select("n.max as most, to_string(w.end) as until, w.start.toDate as day")
    )
    day = dt.date(2020, 1, 1)
    assert rows(found) == [(1, "2020-01-01 00:00:10", day), (2, "2020-01-01 00:00:20", day)]


@pytest.mark.parametrize("text", ["n +", "n, , m", "?", "n.frobnicate", "(n", "f(n", "n as 3", "n m", ""])
def test_a_text_that_is_no_expression_is_shown(orders, text):
    with pytest.raises(SqlError, match="is not an expression at"):
        orders.select(text)


def test_a_condition_is_one_expression(orders):
    with pytest.raises(SqlError, match="one expression is needed, but got 'n, name'"):
        orders.filter("n, name")
