"""What from_elements() accepts for declared types, IN with a table, and which details EXPLAIN has in each mode."""

import array
import datetime as dt
import decimal
from collections.abc import Sequence

from pyflink.common import Row
from pyflink.table import DataTypes as D
from pyflink.table import ExplainDetail
from pyflink.table.expressions import col
from tests.table.conformance.registry import BATCH, BOTH, program

PAIR = D.ROW([D.FIELD("s", D.STRING(nullable=False)), D.FIELD("i", D.INT())])
VALUES: Sequence[tuple[object, Sequence[object]]] = [
    (D.VARCHAR(2), ["ab", "abc", "", 1, b"a", True, None]),
    (D.CHAR(2), ["ab", "abc", "a", ""]),
    (D.STRING(), ["abc", 1, 1.5]),
    (D.STRING(nullable=False), ["", None]),
    (D.INT(nullable=False), [0, None]),
    (D.BOOLEAN(), [True, 1, "True", [1]]),
    (D.TINYINT(), [127, 128, -129, "1", 1.0, True]),
    (D.SMALLINT(), [2**15 - 1, 2**15, True]),
    (D.INT(), [2**31 - 1, 2**31, 1.0, True]),
    (D.BIGINT(), [2**63 - 1, 1.5, True, "1"]),
    (D.FLOAT(), [1.0, 1, True]),
    (D.DOUBLE(), [1.0, 1, "1.0", True]),
    (D.DECIMAL(4, 1), [decimal.Decimal("1.0"), decimal.Decimal("123.456"), 1, 1.0, "1.0"]),
    (D.BINARY(2), [bytearray(b"ab"), bytearray(b"abc"), bytearray(b"a"), 1]),
    (D.VARBINARY(2), [bytearray(b"a"), bytearray(b"abc"), "ab"]),
    (D.DATE(), [dt.date(2000, 1, 2), dt.datetime(2000, 1, 2, 3, 4), "2000-01-02"]),
    (D.TIME(), [dt.time(1, 1, 2), "10:01:02"]),
    (D.TIMESTAMP(3), [dt.datetime(2000, 1, 2, 3, 4), dt.date(2000, 1, 2), 946811040]),
    (D.ARRAY(D.INT()), [[], [1], (1, 2), array.array("h", [1]), [1, "2"], [2**31], "ab", {1}]),
    (D.ARRAY(D.VARCHAR(1, nullable=False)), [["1"], ["1", None], ["abc"]]),
    (D.ARRAY(D.DOUBLE()), [[1.0], [1]]),
    (D.MAP(D.STRING(False), D.INT(False)), [{}, {"a": 1}, {"a": "1"}, {"a": None}, {None: 1}, {1: 1}, [("a", 1)]]),
    (PAIR, [{"s": "a", "i": 1}, Row(s="a", i=1), Row(s="a"), Row(s="a", i="1"), ["a", 1], ("a", 1), ["a"], ["a", "1"]]),
    (PAIR, [(None, 1), {"s": None, "i": 1}, ("a", 1, 2)]),
]


def answer(t_env, value, kind):
    try:
        t_env.from_elements([(value,)], D.ROW([D.FIELD("f", kind)]))
    except Exception as error:  # noqa: BLE001 - any of them
        return type(error).__name__
    return "accepted"


@program(2)
def values_of_declared_types(env, t_env):
    return [(str(kind), [answer(t_env, value, kind) for value in values]) for kind, values in VALUES]


@program(2)
def rows_that_are_not_verified(env, t_env):
    rows = [(1, "abc"), (2, None)]
    kind = D.ROW([D.FIELD("a", D.BIGINT()), D.FIELD("b", D.VARCHAR(2))])
    found = t_env.from_elements(rows, kind, verify_schema=False)
    more = t_env.from_elements([Row(a=1, b="x", c=2.0)], kind)
    return [list(found.execute().collect()), list(more.execute().collect())]


def members(t_env):
    left = t_env.from_elements([(1, "x"), (2, "y"), (3, "z")], ["a", "b"])
    return left, col("a").in_(t_env.from_elements([(2,), (3,), (9,)], ["c"]))


@program(2, modes=BOTH, order="multiset")
def in_with_a_table(env, t_env):
    left, member = members(t_env)
    tables = left.where(member), left.where(member & (col("b") == "y"))
    return [row for table in tables for row in table.execute().collect()]


@program(2, modes=BATCH, order="multiset")
def not_in_with_a_table(env, t_env):
    left, member = members(t_env)
    tables = left.where(~member).select(col("a") * 10, col("b")), left.select(col("b"), member)
    return [str(member)[:3], *(row for table in tables for row in table.execute().collect())]


@program(2, modes=BOTH)
def details_of_plans_by_mode(env, t_env):
    t_env.execute_sql("CREATE TABLE t (k STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    query = "SELECT k, COUNT(*) AS c FROM t GROUP BY k"
    found = []
    for detail in (ExplainDetail.CHANGELOG_MODE, ExplainDetail.PLAN_ADVICE, ExplainDetail.JSON_EXECUTION_PLAN):
        try:
            text = t_env.explain_sql(query, detail)
        except Exception as error:  # noqa: BLE001 - any of them
            text = f"not supported under batch mode: {'not supported under batch mode' in str(error)}"
        words = ("changelogMode=[", "With Advice", "Physical Execution Plan", "not supported under batch mode: True")
        found.append([word for word in words if word in text])
    return found


@program(2)
def compiled_plans_with_functions_without_a_name(env, t_env):
    from pyflink.table.udf import udf

    shout = udf(lambda text: text + "!", result_type=D.STRING())
    t_env.execute_sql("CREATE TABLE t (k STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1')")
    t_env.execute_sql("CREATE TABLE u (k STRING) WITH ('connector' = 'blackhole')")
    plan = t_env.from_path("t").select(shout(col("k"))).insert_into("u").compile_plan()
    try:
        text = plan.as_json_string()
    except Exception as error:  # noqa: BLE001 - any of them
        text = str(error)
    found = ["Anonymous function" in text and "is not serializable" in text]
    registered = t_env.from_path("t").select(col("k")).where(col("k") == "a").insert_into("u").compile_plan()
    return [*found, '"flinkVersion"' in registered.as_json_string(), registered.get_flink_version()]
