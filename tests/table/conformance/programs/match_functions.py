# mypy: disable-error-code="import-not-found,import-untyped"
"""MATCH_RECOGNIZE with functions of Python, and on tables of streams."""

from pyflink.common import Types
from pyflink.table import DataTypes, Schema
from pyflink.table.udf import ScalarFunction, udf
from tests.table.conformance.registry import program

LINES = [("a", i * 1000, n) for i, n in enumerate([1, 5, 3, 2, 8, 9, 4, 7])]


def moments(env, t_env):
    stream = env.from_collection(LINES, Types.ROW([Types.STRING(), Types.LONG(), Types.INT()]))
    schema = (
        Schema.new_builder()
        .column("f0", "STRING")
        .column("f1", "BIGINT")
        .column("f2", "INT")
        .column_by_expression("ts", "TO_TIMESTAMP_LTZ(f1, 3)")
        .watermark("ts", "ts")
        .build()
    )
    t_env.create_temporary_view("lines", t_env.from_data_stream(stream, schema))


class Doubled(ScalarFunction):
    def eval(self, value):
        return None if value is None else value * 2


MATCH = (
    "SELECT * FROM {} MATCH_RECOGNIZE (PARTITION BY f0 ORDER BY ts MEASURES {} AS x AFTER MATCH SKIP PAST LAST ROW "
    "PATTERN (A B) DEFINE B AS {} > A.f2) AS t"
)


@program(level=2)
def match_rows_of_a_stream(env, t_env):
    moments(env, t_env)
    return t_env.sql_query(MATCH.format("lines", "B.f2 - A.f2", "B.f2"))


@program(level=2)
def match_results_become_a_stream(env, t_env):
    moments(env, t_env)
    found = t_env.sql_query(MATCH.format("lines", "B.f2 - A.f2", "B.f2"))
    return t_env.to_data_stream(found).map(lambda row: f"{row[0]} {row[1]}", Types.STRING())


@program(level=2)
def match_a_function_of_python_before_and_after(env, t_env):
    moments(env, t_env)
    t_env.create_temporary_function("doubled", udf(Doubled(), result_type=DataTypes.INT()))
    below = "(SELECT f0, doubled(f2) AS f2, ts FROM lines)"
    return t_env.sql_query(MATCH.format(below, "B.f2 - A.f2", "B.f2").replace("SELECT *", "SELECT f0, doubled(x) AS y"))


@program(level=2)
def match_a_function_of_python_in_measures(env, t_env):
    moments(env, t_env)
    t_env.create_temporary_function("doubled", udf(Doubled(), result_type=DataTypes.INT()))
    return t_env.sql_query(MATCH.format("lines", "doubled(B.f2)", "B.f2"))


@program(level=2)
def match_a_function_of_python_in_define(env, t_env):
    moments(env, t_env)
    t_env.create_temporary_function("doubled", udf(Doubled(), result_type=DataTypes.INT()))
    return t_env.sql_query(MATCH.format("lines", "B.f2", "doubled(B.f2)"))
