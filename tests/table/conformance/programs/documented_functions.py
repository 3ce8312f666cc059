# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator"
"""What the pages on functions of Python show: each way to write and to call one, on other data."""

import functools

from pyflink.common import Row
from pyflink.table import DataTypes, ListView
from pyflink.table.expressions import call, col
from pyflink.table.udf import (
    AggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)
from tests.table.conformance.registry import BOTH, program
from tests.table.conformance.shapes import PROCESS, outcomes


@udf(
    result_type=DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("data", DataTypes.STRING())])
)
def doubled(number: int, text: str) -> Row:
    return Row(number, text * 2)


@udf(
    result_type=DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("data", DataTypes.STRING())])
)
def doubled_row(row: Row) -> Row:
    return Row(row[0], row[1] * 2)


@udtf(result_types=[DataTypes.INT(), DataTypes.STRING()])
def cut_row(row: Row) -> Row:
    for part in row[1].split(","):
        yield row[0], part


class Words(TableFunction):
    def eval(self, text):
        for part in text.split(","):
            yield part, len(part)


@udtf(result_types=DataTypes.BIGINT())
def generated(number):
    yield 1
    yield number


@udtf(result_types=DataTypes.BIGINT())
def ranged(number):
    return range(2)


@udtf(result_types=DataTypes.BIGINT())
def listed(number):
    return [1, 2, 3]


class Add(ScalarFunction):
    def __init__(self, more):
        self.more = more

    def eval(self, first, second):
        return first + second + self.more


class CallableAdd:
    def __call__(self, first, second):
        return first + second


def partial_add(first, second, third):
    return first + second + third


@program(3, modes=BOTH, config=PROCESS)
def pages_functions_of_python(env, t_env):
    table = t_env.from_elements([(1, "Hi,You"), (2, "Hello")], ["id", "data"])
    split = udtf(Words(), result_types=[DataTypes.STRING(), DataTypes.INT()])
    add = udf(Add(1), result_type=DataTypes.BIGINT())
    t_env.create_temporary_function("add", add)
    t_env.create_temporary_system_function("split", split)
    t_env.create_temporary_view("texts", table)
    ways = [
        udf(lambda first, second: first + second, result_type=DataTypes.BIGINT()),
        udf(CallableAdd(), result_type=DataTypes.BIGINT()),
        udf(functools.partial(partial_add, third=1), result_type=DataTypes.BIGINT()),
        udf(lambda first, second: first * second, result_type="BIGINT"),
    ]
    return outcomes(
        lambda: table.map(doubled(col("id"), col("data"))),
        lambda: table.map(doubled_row).alias("id", "data"),
        lambda: table.flat_map(cut_row),
        lambda: table.join_lateral(cut_row.alias("a", "b")),
        lambda: table.left_outer_join_lateral(split(col("data")).alias("word", "size")),
        lambda: table.join_lateral(split(table.data).alias("word", "size")).select(col("id"), col("word"), col("size")),
        lambda: table.select(add(table.id, table.id), call("add", col("id"), 1), call(add, col("id"), 2)),
        lambda: t_env.sql_query("SELECT data, add(id, 1) AS s FROM texts"),
        lambda: t_env.sql_query("SELECT id, word, size FROM texts, LATERAL TABLE(split(data)) AS t (word, size)"),
        lambda: t_env.sql_query("SELECT id, w FROM texts LEFT JOIN LATERAL TABLE(split(data)) AS t (w, s) ON TRUE"),
        lambda: t_env.sql_query("SELECT id, w FROM texts, LATERAL split(data) AS t (w, s)"),
        lambda: table.select(*[way(col("id"), col("id")) for way in ways]),
        lambda: table.join_lateral(generated(col("id")).alias("x")).select(col("id"), col("x")),
        lambda: table.join_lateral(ranged(col("id")).alias("x")).select(col("id"), col("x")),
        lambda: table.flat_map(listed(col("id"))),
    )


class WeightedAverage(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def get_value(self, accumulator):
        return None if accumulator[1] == 0 else accumulator[0] // accumulator[1]

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_result_type(self):
        return DataTypes.BIGINT()

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("f0", DataTypes.BIGINT()), DataTypes.FIELD("f1", DataTypes.BIGINT())])


class Joined(AggregateFunction):
    def create_accumulator(self):
        return Row(ListView(), "")

    def get_value(self, accumulator):
        return accumulator[1].join(sorted(accumulator[0]))

    def accumulate(self, accumulator, *args):
        accumulator[1] = args[1]
        accumulator[0].add(args[0])

    def get_accumulator_type(self):
        texts = DataTypes.LIST_VIEW(DataTypes.STRING())
        return DataTypes.ROW([DataTypes.FIELD("f0", texts), DataTypes.FIELD("f1", DataTypes.STRING())])

    def get_result_type(self):
        return DataTypes.STRING()


class Top2(TableAggregateFunction):
    def emit_value(self, accumulator):
        yield Row(accumulator[0])
        yield Row(accumulator[1])

    def create_accumulator(self):
        return [None, None]

    def accumulate(self, accumulator, row):
        if accumulator[0] is None or row[0] > accumulator[0]:
            accumulator[1], accumulator[0] = accumulator[0], row[0]
        elif accumulator[1] is None or row[0] > accumulator[1]:
            accumulator[1] = row[0]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT())])


@program(3, config=PROCESS)
def pages_aggregates_of_python(env, t_env):
    rows = [(1, 2, "Lee"), (3, 4, "Jay"), (5, 6, "Jay"), (7, 8, "Lee")]
    table = t_env.from_elements(rows).alias("value", "count", "name")
    average, joined, top = udaf(WeightedAverage()), udaf(Joined()), udtaf(Top2())
    t_env.create_temporary_function("weighted", WeightedAverage())
    t_env.create_temporary_view("source", table)
    keyed = table.group_by(col("name"))
    return outcomes(
        lambda: keyed.select(average(col("value"), col("count")).alias("a")),
        lambda: keyed.select(call("weighted", col("value"), col("count")).alias("a")),
        lambda: t_env.sql_query("SELECT weighted(`value`, `count`) AS a FROM source GROUP BY name"),
        lambda: keyed.select(col("name"), joined(col("name"), "-").alias("j")),
        lambda: keyed.flat_aggregate(top).select(col("*")),
        lambda: keyed.flat_aggregate(top.alias("t")).select(col("name"), col("t")),
        lambda: table.select(average(col("value"), col("count")).alias("a")),
    )
