"""Types and values that ``from_pandas`` takes from a DataFrame; those of PyFlink 2.3 where it takes the column."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("pandas", reason="pandas is not installed: make setup")

import numpy as np
import pandas as pd

from flintstream.table import DataTypes, EnvironmentSettings, TableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table._types.rules import sql_name
from flintstream.table.expressions import col

COLUMNS = {
    "int8": (np.array([1, 2], "int8"), "TINYINT", ["1", "2"]),
    "int16": (np.array([1, 2], "int16"), "SMALLINT", ["1", "2"]),
    "int32": (np.array([1, 2], "int32"), "INT", ["1", "2"]),
    "int64": (np.array([1, 2]), "BIGINT", ["1", "2"]),
    "float32": (np.array([1.5, np.nan], "float32"), "FLOAT", ["1.5", None]),
    "float64": ([1.5, np.nan], "DOUBLE", ["1.5", None]),
    "bool": (np.array([True, False]), "BOOLEAN", ["TRUE", "FALSE"]),
    "str": (["a", None], "STRING", ["a", None]),
    "bytes": ([b"a", bytearray(b"b")], "BYTES", ["a", "b"]),
    "date": ([date(2020, 1, 1), None], "DATE", ["2020-01-01", None]),
    "time": ([time(1, 2, 3, 456789), None], "TIME(6)", ["01:02:03.456", None]),
    "ns": (pd.to_datetime(["2020-01-01 01:02:03.123456", None]), "TIMESTAMP(9)", ["2020-01-01 01:02:03.123456000", None]),
    "zone": (
        pd.to_datetime(["2020-01-01 12:00", "2021-01-01 00:00"]).tz_localize("Asia/Shanghai"),
        "TIMESTAMP(9)",
        ["2020-01-01 04:00:00.000000000", "2020-12-31 16:00:00.000000000"],
    ),
    "us": (pd.Series(pd.to_datetime(["2020-01-01"])).astype("datetime64[us]"), "TIMESTAMP(6)", ["2020-01-01 00:00:00.000000"]),
    "datetime": (
        pd.Series([datetime(2020, 1, 1, 1, 2, 3, 456), None], dtype=object),
        "TIMESTAMP(6)",
        ["2020-01-01 01:02:03.000456", None],
    ),
    "decimal": ([Decimal("1.20"), Decimal("345.6")], "DECIMAL(5, 2)", ["1.20", "345.60"]),
    "exponents": ([Decimal("1E+3"), Decimal("0.001")], "DECIMAL(7, 3)", ["1000.000", "0.001"]),
    "list": ([[1, 2], []], "ARRAY<BIGINT>", ["[1, 2]", "[]"]),
    "none in a list": ([[1, None], [2]], "ARRAY<BIGINT>", ["[1, NULL]", "[2]"]),
    "numpy": ([np.array([1, 2], "int32"), np.array([], "int32")], "ARRAY<INT>", ["[1, 2]", "[]"]),
    "floats of numpy": ([np.array([1.5], "float32")] * 2, "ARRAY<FLOAT>", ["[1.5]", "[1.5]"]),
    "lists of texts": ([["a"], None], "ARRAY<STRING>", ["[a]", None]),
    "lists of lists": ([[[1], [2]], []], "ARRAY<ARRAY<BIGINT>>", ["[[1], [2]]", "[]"]),
    "dict": ([{"a": 1, "b": "x"}, {"a": 2}], "ROW<`a` BIGINT, `b` STRING>", ["(1, x)", "(2, NULL)"]),
    "objects": (pd.Series([1, None], dtype=object), "BIGINT", ["1", None]),
    "flags": ([True, None], "BOOLEAN", ["TRUE", None]),
    # PyFlink refuses the following
    "Int64": (pd.array([1, None], "Int64"), "BIGINT", ["1", None]),
    "Float32": (pd.array([1.5, None], "Float32"), "FLOAT", ["1.5", None]),
    "boolean": (pd.array([True, None], "boolean"), "BOOLEAN", ["TRUE", None]),
    "string": (pd.array(["a", None], "string"), "STRING", ["a", None]),
    "category": (pd.Categorical(["x", "y"]), "STRING", ["x", "y"]),
    "uint8": (np.array([1, 255], "uint8"), "SMALLINT", ["1", "255"]),
    "uint64": (np.array([1, 2**64 - 1], "uint64"), "DECIMAL(20, 0)", ["1", "18446744073709551615"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    return t_env


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_have_the_types_of_their_values(t_env, name):
    values, kind, texts = COLUMNS[name]
    table = t_env.from_pandas(pd.DataFrame({"x": values}))
    (column,) = table.get_schema().get_field_data_types()
    assert sql_name(column) == kind
    with table.select(col("x").cast(DataTypes.STRING())).execute().collect() as rows:
        assert [row[0] for row in rows] == texts


def test_an_empty_frame_has_the_types_of_its_columns(t_env):
    frame = pd.DataFrame({"a": np.array([], "int32"), "b": np.array([], "float64")})
    table = t_env.from_pandas(frame)
    assert [sql_name(kind) for kind in table.get_schema().get_field_data_types()] == ["INT", "DOUBLE"]
    assert len(table.to_pandas()) == 0


def test_names_and_types_may_be_given(t_env):
    frame = pd.DataFrame({"x": np.array([1, 2])})
    assert t_env.from_pandas(frame, ["q"]).get_schema().get_field_names() == ["q"]
    row = DataTypes.ROW([DataTypes.FIELD("q", DataTypes.INT())])
    (kind,) = t_env.from_pandas(frame, row, splits_num=2).get_schema().get_field_data_types()
    assert sql_name(kind) == "INT"


def test_a_column_without_values_needs_a_type(t_env):
    with pytest.raises(SqlError, match=r"the type of column 'x' cannot be inferred, as it has no value"):
        t_env.from_pandas(pd.DataFrame({"x": [None, None]}))


def test_types_alone_keep_the_names_of_the_columns(t_env):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    for types in ([DataTypes.DOUBLE(), DataTypes.STRING()], (DataTypes.DOUBLE(), DataTypes.STRING())):
        table = t_env.from_pandas(frame, types)
        assert table.get_schema().get_field_names() == ["a", "b"]
        assert table.get_schema().get_field_data_types() == list(types)
        assert list(map(tuple, table.execute().collect())) == [(1.0, "x"), (2.0, None)]
    with pytest.raises(SqlError, match="got 1 types for 2 columns: a, b"):
        t_env.from_pandas(frame, [DataTypes.DOUBLE()])
