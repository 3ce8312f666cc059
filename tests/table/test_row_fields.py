"""Fields of rows, sums of texts, and the smallest BIGINT; the values are those of PyFlink 2.3."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row
from flintstream.table import DataTypes as T
from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table.expressions import col, lit

INNER = T.ROW([T.FIELD("x", T.DOUBLE()), T.FIELD("y", T.ARRAY(T.INT()))])
R = T.ROW([T.FIELD("a", T.INT()), T.FIELD("b", T.STRING()), T.FIELD("in", INNER)])
FIELDS = {"i": T.INT(), "s": T.STRING(), "d": T.DOUBLE(), "r": R, "l": T.ARRAY(T.INT()), "f": T.BOOLEAN(), "n": R}
VALUES = (1, "s", 2.5, Row(1, "z", Row(1.5, [1, 2])), [3, 4], True, None)
LEAST, MOST = -(1 << 63), (1 << 63) - 1


@pytest.fixture(scope="module")
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    row = T.ROW([T.FIELD(name, kind) for name, kind in FIELDS.items()])
    t_env.create_temporary_view("v", t_env.from_elements([VALUES], row))
    return t_env


def rows(table):
    with table.execute().collect() as found:
        return [tuple(row) for row in found]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("r['a']", (1,)),
        ("r['in']['x']", (1.5,)),
        ("r['b'], r['a']", ("z", 1)),
        ("r[1]", (1,)),
        ("r[3]", (Row(1.5, [1, 2]),)),
        ("r.*", (1, "z", Row(1.5, [1, 2]))),
        ("v.r.*", (1, "z", Row(1.5, [1, 2]))),
        ("r.`in`.*", (1.5, [1, 2])),
        ("n.*", (None, None, None)),
        ("r.`in`.*, i", (1.5, [1, 2], 1)),
        ("r['in'].y", ([1, 2],)),
        ("r.`in`['y'][1]", (1,)),
        ("n['a']", (None,)),
        ("ROW(1, 'q')[2]", ("q",)),
        ("CAST(ROW(1, 2) AS ROW<x INT, y INT>)['y']", (2,)),
        ("COUNT(r['a'])", (1,)),
        ("-9223372036854775808", (LEAST,)),
        ("-9223372036854775808 + 1", (LEAST + 1,)),
        ("- -1", (1,)),
        ("-.5 + 1", (0.5,)),
    ],
)
def test_fields_and_literals_are_read(t_env, expression, expected):
    (found,) = rows(t_env.sql_query(f"SELECT {expression} FROM v"))
    assert [tuple(value) if isinstance(value, Row) else value for value in found] == [
        tuple(value) if isinstance(value, Row) else value for value in expected
    ]


@pytest.mark.parametrize("expression", ["r['zz']", "r[0]", "r[4]", "r[i]", "r[s]", "r['A']", "s.*", "q.*", "v.q.*"])
def test_fields_that_are_not_there_are_refused(t_env, expression):
    with pytest.raises(SqlError):
        t_env.sql_query(f"SELECT {expression} FROM v")


@pytest.mark.parametrize(
    "expression",
    ["s + s", "s + 1", "'a' + 'b'", "9223372036854775808", "-9223372036854775809", "-(9223372036854775808)"],
)
def test_sums_of_texts_in_sql_and_numbers_out_of_range_are_refused(t_env, expression):
    with pytest.raises(SqlError):
        t_env.sql_query(f"SELECT {expression} FROM v")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: col("s") + col("s"), "ss"),
        (lambda: col("s") + "x", "sx"),
        (lambda: "x" + col("s"), "xs"),
        (lambda: col("s") + col("i"), "s1"),
        (lambda: col("s") + col("d"), "s2.5"),
        (lambda: col("s") + col("f"), "sTRUE"),
        (lambda: col("s") + lit(None, T.STRING()), None),
        (lambda: col("s") + col("i") + col("i"), "s11"),
        (lambda: col("s") + lit("2020-01-01").to_date, "s2020-01-01"),
        (lambda: lit(LEAST), LEAST),
        (lambda: lit(MOST), MOST),
        (lambda: col("i") + LEAST, LEAST + 1),
    ],
)
def test_texts_are_joined_by_a_plus_sign(t_env, made, expected):
    assert rows(t_env.from_path("v").select(made())) == [(expected,)]


@pytest.mark.parametrize(
    "made",
    [
        lambda: col("i") + col("s"),
        lambda: col("i") + col("i") + col("s"),
        lambda: col("s") + col("l"),
        lambda: col("s") + col("r"),
        lambda: col("s") - col("s"),
        lambda: lit(MOST + 1),
        lambda: lit(LEAST - 1),
    ],
)
def test_other_sums_and_numbers_are_refused(t_env, made):
    with pytest.raises(SqlError):
        t_env.from_path("v").select(made())
