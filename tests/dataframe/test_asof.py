"""Joins with the version of a row at a time."""

from __future__ import annotations

import sqlite3
from datetime import datetime

import pytest

import flintstream.dataframe as pf
from flintstream.table import DataTypes

MARK = ("at", "`at`")


def day(number):
    return datetime(2026, 5, number)


def orders():
    return pf.from_records(
        [(1, "EUR", day(2)), (2, "YEN", day(2)), (3, "EUR", day(4)), (4, "USD", day(5))],
        schema=["id", "coin", "at"],
        watermark=MARK,
    )


def rates(**names):
    rows = [("EUR", 1.1, day(1)), ("YEN", 0.5, day(2)), ("EUR", 1.2, day(3)), ("YEN", 0.6, day(3))]
    frame = pf.from_records(rows, schema=["coin", "rate", "at"], watermark=MARK).rename("at", "since")
    frame = frame.top_n(1, partition_by="coin", order_by="since", descending=True)
    return frame.rename(names) if names else frame


def rows(frame):
    return sorted(tuple(row) for row in frame.select("id", "rate").collect())


def test_each_row_meets_the_version_of_its_time(streaming):
    found = orders().join_asof(rates(), on="at", by="coin")
    assert found.columns == ["id", "coin", "at", "rate", "since"]
    assert rows(found) == [(1, 1.1), (2, 0.5), (3, 1.2)]


def test_left_keeps_rows_without_a_version(streaming):
    assert rows(orders().join_asof(rates(), on="at", by=["coin"], how="left")) == [
        (1, 1.1),
        (2, 0.5),
        (3, 1.2),
        (4, None),
    ]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({"left_by": "coin", "right_by": "name"}, id="names"),
        pytest.param({"by": lambda: pf.col("coin") == pf.col("name")}, id="condition"),
    ],
)
def test_keys_may_have_other_names(streaming, keys):
    given = {name: key() if callable(key) else key for name, key in keys.items()}
    found = orders().join_asof(rates(coin="name"), on=pf.col("at"), **given)
    assert found.columns == ["id", "coin", "at", "name", "rate", "since"]
    assert rows(found) == [(1, 1.1), (2, 0.5), (3, 1.2)]


def test_a_processing_time_looks_keys_up_in_a_database(streaming, tmp_path):
    pytest.importorskip("sqlalchemy")
    path = tmp_path / "coins.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE coins (coin TEXT PRIMARY KEY, rate DOUBLE PRECISION)")
        connection.execute("INSERT INTO coins VALUES ('EUR', 1.5), ('YEN', 0.7)")
    connection.close()
    options = {"url": f"jdbc:sqlite:{path}", "table-name": "coins"}
    schema = {"coin": pf.DataType.string(), "rate": pf.DataType.float64()}
    coins = pf.read_generic("jdbc", schema=schema, options=options)
    found = orders().join_asof(coins, on=pf.proctime(), by="coin", how="left")
    assert rows(found) == [(1, 1.5), (2, 0.7), (3, 1.5), (4, None)]
    assert found.columns == ["id", "coin", "at", "rate"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"by": "coin"}, ValueError, "requires on"),
        ({"on": "at"}, ValueError, "requires by"),
        ({"on": "at", "by": "coin", "left_by": "coin"}, ValueError, "cannot be combined"),
        ({"on": "at", "left_by": "coin", "right_by": ["coin", "rate"]}, ValueError, "same number"),
        ({"on": "at", "by": "nothing"}, ValueError, "does not exist"),
        ({"on": "at", "by": "coin", "how": "full"}, ValueError, "how must be"),
        ({"on": "at", "left_by": "at", "right_by": "since"}, ValueError, "must not be a key"),
        ({"on": 5, "by": "coin"}, TypeError, "on must be"),
        ({"on": "id", "by": "coin"}, Exception, "time attribute"),
    ],
)
def test_wrong_arguments_are_errors(streaming, arguments, error, message):
    with pytest.raises(error, match=message):
        orders().join_asof(rates(), **arguments)


def test_columns_of_both_sides_that_are_no_keys_must_differ(streaming):
    with pytest.raises(ValueError, match="duplicate non-key columns"):
        orders().join_asof(rates(since="id"), on="at", by="coin")


def test_the_other_side_must_have_versions(streaming):
    plain = streaming.from_elements(
        [("EUR", 1.0)],
        DataTypes.ROW([DataTypes.FIELD("coin", DataTypes.STRING()), DataTypes.FIELD("rate", DataTypes.DOUBLE())]),
    )
    with pytest.raises(Exception, match="versioned table has no rowtime"):
        orders().join_asof(pf.from_table(plain), on="at", by="coin")
