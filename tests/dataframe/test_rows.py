"""Rows, columns, joins and windows of DataFrames."""

from __future__ import annotations

from array import array
from datetime import datetime, timedelta

import pytest

import flintstream.dataframe as pf
from flintstream.table._errors import SqlError


def rows(frame):
    return sorted((tuple(row) for row in frame.collect()), key=repr)


@pytest.fixture
def sales(batch):
    return pf.from_records(
        [("pear", 3, 1.0), ("pear", 5, None), ("fig", 4, float("nan")), (None, 9, 2.0)], schema=["item", "n", "price"]
    )


def test_conditions_are_expressions_sql_functions_and_constraints(sales):
    found = sales.filter(pf.col("n") > 2, "n < 9", lambda frame: frame.n != 4, item="pear")
    assert rows(found) == [("pear", 3, 1.0), ("pear", 5, None)]
    assert rows(sales.where(item=None)) == [(None, 9, 2.0)]


def test_columns_are_added_replaced_renamed_and_dropped(sales):
    found = sales.with_columns((pf.col("n") + 1).alias("n"), twice=pf.col("n") * 2).drop("price").rename(str.upper)
    assert found.columns == ["ITEM", "N", "TWICE"]
    assert rows(found.filter(ITEM="fig")) == [("fig", 5, 8)]


def test_a_window_of_rows_can_replace_a_column_or_be_a_new_one(sales):
    running = pf.col("n").sum.over(order_by="n", rows=2)
    assert rows(sales.with_column("n", running).select("n")) == [(12,), (18,), (3,), (7,)]
    assert sales.with_column("more", running).columns == ["item", "n", "price", "more"]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ({"rows": pf.UNBOUNDED}, [3, 7, 12, 21]),
        ({"rows": (pf.preceding(1), pf.CURRENT_ROW)}, [3, 7, 9, 14]),
        ({"rows": (pf.CURRENT_ROW, pf.following(1))}, [7, 9, 14, 9]),
        ({"rows": (pf.CURRENT_ROW, pf.UNBOUNDED_FOLLOWING)}, [21, 18, 14, 9]),
        ({}, [3, 7, 12, 21]),
    ],
)
def test_frames_count_rows(sales, frame, expected):
    found = sales.select("n", total=pf.col("n").sum.over(order_by="n", **frame))
    assert [total for _, total in sorted(rows(found))] == expected


def test_a_window_for_each_key(sales):
    found = sales.select("item", "n", total=pf.col("n").sum.over(order_by="n", partition_by=["item"]))
    assert ("pear", 5, 8) in rows(found)
    assert ("fig", 4, 4) in rows(found)


@pytest.mark.parametrize(
    ("window", "error", "message"),
    [
        ({"rows": 1, "range": "1 s"}, ValueError, "mutually exclusive"),
        ({"rows": 0}, ValueError, "larger than 0"),
        ({"rows": True}, TypeError, "bool"),
        ({"rows": (pf.preceding(1),)}, TypeError, "two-element"),
        ({"rows": (pf.following(1), pf.CURRENT_ROW)}, ValueError, "lower bound"),
        ({"rows": (pf.preceding("1 s"), pf.CURRENT_ROW)}, ValueError, "same frame kind"),
        ({"range": "INTERVAL '1' HOUR"}, ValueError, "duration string"),
        ({"range": timedelta(seconds=-1)}, ValueError, "negative"),
        ({"partition_by": []}, TypeError, "must not be empty"),
        ({"partition_by": [42]}, TypeError, "column name or Expression"),
        ({"unknown": 1}, TypeError, "unexpected keyword"),
    ],
)
def test_a_wrong_frame_is_refused(window, error, message):
    with pytest.raises(error, match=message):
        pf.col("n").sum.over(order_by="at", **window)


def test_expressions_show_their_window():
    assert str(pf.col("n").sum.over(order_by="at", rows=2)) == "over(sum(n), at, 2, CURRENT_ROW)"
    assert str(pf.col("n").sum.over(pf.col("w"))) == "over(sum(n), w)"


def test_duplicates_keep_the_first_or_last_row_of_an_order(sales):
    assert rows(sales.drop_duplicates("item", order_by="n", keep="last").select("item", "n")) == [
        ("fig", 4),
        ("pear", 5),
        (None, 9),
    ]
    assert rows(sales.select("item").distinct()) == [("fig",), ("pear",), (None,)]


def test_the_top_of_each_group(sales):
    assert rows(sales.top_n(1, partition_by="item", order_by="n").select("n")) == [(3,), (4,), (9,)]
    assert rows(sales.top_n(2, order_by=-pf.col("n")).select("n")) == [(5,), (9,)]


def test_an_order_has_directions_and_places_for_none(sales):
    ordered = sales.sort(["item", "n"], descending=[False, True], nulls_first=True)
    assert [tuple(row)[:2] for row in ordered.collect()] == [(None, 9), ("fig", 4), ("pear", 5), ("pear", 3)]
    assert [row[1] for row in sales.sort("n", descending=True).limit(2).collect()] == [9, 5]
    assert [row[1] for row in sales.sort("n").offset(1).limit(2).collect()] == [4, 5]


@pytest.mark.parametrize("nulls_first", [True, False, None])
def test_an_order_of_an_expression_adds_no_column(sales, nulls_first):
    assert sales.sort(pf.col("n") * -1, nulls_first=nulls_first).columns == ["item", "n", "price"]


@pytest.mark.parametrize("option", ["descending", "nulls_first"])
def test_an_order_has_as_many_options_as_keys(sales, option):
    for order in (
        lambda: sales.sort(["item", "n"], **{option: [True]}),
        lambda: sales.top_n(1, order_by=["item", "n"], **{option: [True]}),
    ):
        with pytest.raises(ValueError, match=f"{option} must have the same length as the sort keys"):
            order()


def test_sets_match_columns_by_position(batch):
    few, more = pf.from_dict({"a": [1, 1, 2]}), pf.from_dict({"b": [1, 3]})
    found = {
        name: [row[0] for row in rows(getattr(few, name)(more))]
        for name in ("union", "union_all", "intersect", "intersect_all", "minus", "minus_all")
    }
    assert found == {
        "union": [1, 2, 3],
        "union_all": [1, 1, 1, 2, 3],
        "intersect": [1],
        "intersect_all": [1],
        "minus": [2],
        "minus_all": [1, 2],
    }


def test_missing_values_are_dropped_and_filled(sales):
    assert len(rows(sales.drop_null())) == 2
    assert len(rows(sales.drop_null(["item"]))) == 3
    assert [row[1] for row in sales.drop_nan().collect()] == [3, 5, 9]
    assert sorted(row[2] for row in sales.drop_nan().fill_null(0).collect()) == [0.0, 1.0, 2.0]
    assert [row[2] for row in sales.fill_nan(7.0).collect()] == [1.0, None, 7.0, 2.0]
    assert [row[0] for row in sales.fill_null("none").filter("n = 9").collect()] == ["none"]
    assert sales.fill_null(0, subset=[]) is sales


JOINED = {
    "inner": [(1, "a", 1.0)],
    "left": [(1, "a", 1.0), (2, "b", None)],
    "right": [(1, "a", 1.0), (3, None, 3.0)],
    "full": [(1, "a", 1.0), (2, "b", None), (3, None, 3.0)],
    "outer": [(1, "a", 1.0), (2, "b", None), (3, None, 3.0)],
    "semi": [(1, "a")],
    "anti": [(2, "b")],
}


@pytest.mark.parametrize("how", JOINED)
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_joins_by_shared_keys(request, mode, how):
    request.getfixturevalue(mode)
    left = pf.from_records([(1, "a"), (2, "b")], schema=["id", "name"])
    right = pf.from_records([(1, 1.0), (3, 3.0)], schema=["id", "price"])
    found = left.join(right, on="id", how=how)
    assert found.columns == ["id", "name", "price"][: 2 if how in {"semi", "anti"} else 3]
    assert (
        sorted(map(tuple, found.to_pandas().astype(object).where(lambda x: x.notna(), None).values), key=repr)
        == (JOINED[how])
    )


def test_joins_by_conditions_and_expressions(batch):
    left = pf.from_records([(1, 10), (2, 20)], schema=["id", "low"])
    right = pf.from_records([(11, 15), (12, 5)], schema=["key", "value"])
    assert rows(left.join(right, on=pf.col("value") > pf.col("low"))) == [(1, 10, 11, 15)]
    assert rows(left.join(right, left_on=pf.col("id") + 10, right_on="key").select("id", "value")) == [(1, 15), (2, 5)]
    assert len(rows(left.join(right, how="cross"))) == 4
    assert rows(left.join(right, on=pf.col("value") > pf.col("low"), how="anti")) == [(2, 20)]


def test_a_join_names_what_is_wrong(batch, sales):
    with pytest.raises(ValueError, match="duplicate non-key columns"):
        sales.join(sales, on="item")
    with pytest.raises(ValueError, match="how must be one of"):
        sales.join(sales, on="item", how="sideways")
    with pytest.raises(ValueError, match="does not exist"):
        sales.join(sales, on="color")


def test_elements_become_rows_where_their_container_was(batch):
    tagged = pf.from_dict({"id": [1, 2, 3], "tags": [["a", "a"], [], None], "n": [7, 8, 9]})
    assert rows(tagged.explode("tags")) == [(1, "a", 7), (1, "a", 7), (2, None, 8), (3, None, 9)]
    assert rows(tagged.explode("tags", output_column="tag", ignore_empty_and_null=True)) == [(1, "a", 7), (1, "a", 7)]
    pairs = pf.from_dict({"id": [1], "m": [{"k": 5}]})
    assert rows(pairs.explode("m", output_column=["key", "value"])) == [(1, "k", 5)]
    with pytest.raises(TypeError, match="ARRAY, MAP, or MULTISET"):
        tagged.explode("n")


def test_rows_in_arrays_stay_rows_when_they_are_exploded(batch):
    orders = pf.from_records([(1, [("pear", 2), None])], schema=["id", "items"])
    found = orders.explode("items").collect()
    assert [row[1] if row[1] is None else tuple(row[1]) for row in found] == [("pear", 2), None]


def test_groups_have_their_keys_first(sales):
    found = sales.group_by("item").agg(pf.col("n").sum.alias("total"), rows=pf.col("n").count)
    assert found.columns == ["item", "total", "rows"]
    assert rows(found) == [("fig", 4, 1), ("pear", 8, 2), (None, 9, 1)]
    assert rows(sales.agg(most=pf.col("n").max)) == [(9,)]


def test_a_name_twice_is_refused(sales):
    with pytest.raises(SqlError, match="Ambiguous column name: item"):
        sales.group_by("item").agg(item=pf.col("n").sum)


LITERALS = [
    (datetime(2026, 8, 3, 1, 2, 3), None, "TIMESTAMP(0) NOT NULL"),
    (["abc"], None, "ARRAY<CHAR(3)> NOT NULL"),
    ((1, 2), None, "ARRAY<INT> NOT NULL"),
    ([[1 << 40]], None, "ARRAY<ARRAY<BIGINT>> NOT NULL"),
    (array("h", [1]), None, "ARRAY<SMALLINT> NOT NULL"),
    ([1, None], pf.DataType.list(pf.DataType.int16()), "ARRAY<SMALLINT> NOT NULL"),
    ({1: 1.25}, pf.DataType.map(pf.DataType.int16(), pf.DataType.float32()), "MAP<SMALLINT, FLOAT> NOT NULL"),
    ((1, "x"), pf.DataType.struct({"a": pf.DataType.int16(), "b": pf.DataType.string()}), None),
    (None, pf.DataType.int64(), "BIGINT"),
]


@pytest.mark.parametrize(("value", "dtype", "kind"), LITERALS)
def test_literals_may_be_nested(batch, value, dtype, kind):
    found = pf.range(1).select(x=pf.lit(value, dtype))
    shown = repr(found).removeprefix("DataFrame[x: ").removesuffix("]")
    assert kind is None or shown == kind
    (row,) = found.collect()
    expected = list(value) if isinstance(value, (tuple, array)) and kind is not None else value
    assert (tuple(row[0]) if kind is None else row[0]) == expected


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3.14, pf.DataType.int64()),
        ("abc", pf.DataType.int64()),
        (42, pf.DataType.string()),
        (True, pf.DataType.int64()),
        ([1.25], pf.DataType.list(pf.DataType.int16())),
    ],
)
def test_a_literal_that_does_not_fit_its_type_is_refused(value, dtype):
    with pytest.raises(SqlError, match="does not support"):
        pf.lit(value, dtype)


@pytest.fixture
def clicks(streaming):
    at = [datetime(2026, 1, 1, 0, 0, second) for second in (1, 3, 12, 31)]
    return pf.from_dict({"at": at, "n": [1, 2, 3, 4]}, watermark=("at", "at - INTERVAL '1' SECOND"))


WINDOWS = {
    "tumble": ({"size": timedelta(seconds=10)}, [3, 3, 4]),
    "hop": ({"slide": timedelta(seconds=10), "size": timedelta(seconds=20)}, [3, 6, 3, 4, 4]),
    "cumulate": ({"step": timedelta(seconds=5), "size": timedelta(seconds=10)}, [3, 3, 3, 3, 4, 4]),
    "session": ({"gap": timedelta(seconds=10)}, [6, 4]),
}


@pytest.mark.parametrize("kind", WINDOWS)
def test_windows_of_time(clicks, kind):
    sizes, expected = WINDOWS[kind]
    windowed = getattr(clicks, kind)(on="at", **sizes)
    totals = windowed.group_by("window_start", "window_end").agg(total=pf.col("n").sum)
    assert sorted(row[2] for row in totals.collect()) == sorted(expected)


def test_a_size_may_be_an_interval(clicks):
    windowed = clicks.tumble(on=pf.col("at"), size=pf.lit(10).seconds)
    totals = windowed.group_by("window_start", "window_end").agg(total=pf.col("n").sum)
    assert sorted(row[2] for row in totals.collect()) == [3, 3, 4]
    with pytest.raises(TypeError, match="timedelta"):
        clicks.tumble(on="at", size=10)
    with pytest.raises(SqlError, match="time attribute"):
        clicks.tumble(on="n", size=timedelta(seconds=1))
    with pytest.raises(TypeError, match="partition_by must be a column name, expression, or a list of them"):
        clicks.session(on="at", gap=timedelta(seconds=1), partition_by=["n", 1])
