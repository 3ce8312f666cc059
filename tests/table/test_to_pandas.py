"""Data frames of tables have the types that PyFlink 2.3.0 gets of Arrow."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")
pytest.importorskip("pandas", reason="the extra 'dataframes' is not installed: make setup")

from flintstream.common import Row
from flintstream.table import DataTypes as T

AT = dt.datetime(2020, 1, 2, 3, 4, 5, 678000)
POINT = T.ROW([T.FIELD("x", T.INT()), T.FIELD("y", T.STRING())])


@pytest.mark.parametrize(
    ("kind", "value", "dtype", "with_null", "shown"),
    [
        (T.TINYINT(), 1, "int8", "float64", "np.int8(1)"),
        (T.BIGINT(), 1, "int64", "float64", "np.int64(1)"),
        (T.BOOLEAN(), True, "bool", "object", "np.True_"),
        (T.FLOAT(), 1.1, "float32", "float32", "np.float32(1.1)"),
        (T.STRING(), "x", "object", "object", "'x'"),
        (T.DECIMAL(10, 2), Decimal("1.5"), "object", "object", "Decimal('1.50')"),
        (T.TIMESTAMP(0), AT.replace(microsecond=0), "datetime64[s]", "datetime64[s]",
         "Timestamp('2020-01-02 03:04:05')"),
        (T.TIMESTAMP(3), AT, "datetime64[ms]", "datetime64[ms]", "Timestamp('2020-01-02 03:04:05.678000')"),
        (T.TIMESTAMP(6), AT, "datetime64[us]", "datetime64[us]", "Timestamp('2020-01-02 03:04:05.678000')"),
        (T.TIMESTAMP_LTZ(3), AT, "datetime64[ms, Asia/Tokyo]", "datetime64[ms, Asia/Tokyo]",
         "Timestamp('2020-01-02 03:04:05.678000+0900', tz='Asia/Tokyo')"),
        (T.ARRAY(T.INT()), [1, 2], "object", "object", "array([1, 2], dtype=int32)"),
        (T.ARRAY(T.TIMESTAMP(3)), [AT], "object", "object",
         "array(['2020-01-02T03:04:05.678'], dtype='datetime64[ms]')"),
        (T.ARRAY(POINT), [Row(1, "y")], "object", "object", "array([{'x': 1, 'y': 'y'}], dtype=object)"),
        (POINT, Row(1, "y"), "object", "object", "{'x': 1, 'y': 'y'}"),
    ],
)  # fmt: skip
def test_a_column_has_the_type_of_arrow(t_env, kind, value, dtype, with_null, shown):
    t_env.get_config().set_local_timezone("Asia/Tokyo")
    schema = T.ROW([T.FIELD("a", kind)])
    one = t_env.from_elements([(value,)], schema).to_pandas()
    assert str(one["a"].dtype) == dtype
    assert repr(one["a"][0]) == shown
    two = t_env.from_elements([(value,), (None,)], schema).to_pandas()
    assert str(two["a"].dtype) == with_null
    assert two["a"].isna().tolist() == [False, True]


def test_instants_of_elements_are_local_unless_they_have_a_zone(t_env):
    t_env.get_config().set_local_timezone("Asia/Tokyo")
    zone = dt.timezone(dt.timedelta(hours=1))
    fields = [T.FIELD("a", T.TIMESTAMP_LTZ(3)), T.FIELD("b", T.ARRAY(T.TIMESTAMP_LTZ(3)))]
    fields.append(T.FIELD("c", T.MAP(T.STRING(), T.ROW([T.FIELD("d", T.TIMESTAMP_LTZ(3))]))))
    row = (dt.datetime(1970, 1, 1, 9), [dt.datetime(1970, 1, 1, 1, tzinfo=zone), None], {"k": Row(None)})
    table = t_env.from_elements([row, (None, None, None)], T.ROW(fields))
    found = [
        tuple(item) for item in table.select(table.a.cast(T.STRING()), table.b[1].cast(T.STRING())).execute().collect()
    ]
    assert found == [("1970-01-01 09:00:00.000", "1970-01-01 09:00:00.000"), (None, None)]
