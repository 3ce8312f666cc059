# mypy: disable-error-code="import-not-found,import-untyped"
"""Functions on pandas data: the sizes of their batches, what they get and what they may return."""

import re

from pyflink.table import DataTypes
from pyflink.table.expressions import col, lit
from pyflink.table.udf import ScalarFunction, udf
from tests.table.conformance.registry import BOTH, program

PROCESS = {"python.execution-mode": "process"}


WORDS = re.compile(r"The result (?:length|type) [^\n]*|Exception thrown when converting pandas.Series[^,\n'\"]*")


def outcome(table):
    """Return the rows of a table, or the words about pandas in its error."""
    try:
        with table.execute().collect() as rows:
            return [tuple(row) for row in rows]
    except Exception as error:  # noqa: BLE001 - errors are results here
        found = WORDS.search(str(error))
        return "an error" if found is None else found.group()


def numbers(t_env, count):
    return t_env.from_elements([(i,) for i in range(count)], ["id"])


@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def size(s):
    return s * 0 + len(s)


@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def first(s):
    return s * 0 + s.iloc[0]


@udf(result_type=DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())]), func_type="pandas")
def frame_size(frame):
    return (frame.id * 0 + len(frame)).to_frame()


@udf(result_type=DataTypes.BIGINT())
def plain(x):
    return x + 1


@program(config=PROCESS, modes=BOTH)
def sizes_of_batches(env, t_env):
    t = numbers(t_env, 100)
    return [
        t.select(size(col("id"))),
        t.map(frame_size),
        t.select(first(col("id")), size(col("id") + 1), plain(size(col("id")))),
        t.where(col("id") > 89).select(size(col("id"))),
        t.where(size(col("id")) == 100).select(size(col("id")), col("id")),
        t.select(size(size(col("id")) + first(col("id")))),
        t.select((col("id") > 50).then(size(col("id")), lit(0))),
    ]


@program(config={**PROCESS, "python.fn-execution.arrow.batch.size": "10"}, modes=BOTH)
def batches_of_ten_rows(env, t_env):
    t = numbers(t_env, 25)
    return [
        t.select(size(col("id")), first(col("id"))),
        t.map(frame_size),
        t.where(col("id") != 3).select(size(col("id")), first(col("id"))),
    ]


@program(
    config={
        **PROCESS,
        "python.fn-execution.arrow.batch.size": "10",
        "python.fn-execution.bundle.size": "24",
        "python.fn-execution.bundle.time": "100000",
    },
    modes=BOTH,
)
def bundles_cut_batches(env, t_env):
    return numbers(t_env, 60).select(size(col("id")), first(col("id")))


@program(
    config={
        **PROCESS,
        "python.fn-execution.arrow.batch.size": "1000",
        "python.fn-execution.bundle.size": "7",
        "python.fn-execution.bundle.time": "100000",
    },
    modes=BOTH,
)
def small_bundles(env, t_env):
    return numbers(t_env, 20).select(size(col("id")), first(col("id")))


def whole(function, kind):
    return udf(function, result_type=kind, func_type="pandas")


def shorter(s):
    return s[1:]


class Filtered(ScalarFunction):
    def eval(self, s):
        return s[s > 1]


class Listed(ScalarFunction):
    def eval(self, s):
        return [1] * len(s)


@program(config=PROCESS)
def results_that_do_not_fit(env, t_env):
    t = t_env.from_elements([(1, 10), (2, 20), (3, 30)], ["id", "v"])
    functions = [
        shorter,
        lambda s: s.repeat(2),
        lambda s: s.iloc[0],
        lambda s: [1, 2, 3],
        lambda s: s.to_numpy(),
        lambda s: s.sort_values(ascending=False),
        lambda s: s.astype(str),
        lambda s: s + 0.5,
        lambda s: s.astype("float64"),
        lambda s: s.astype("int32"),
        lambda s: s.astype(object),
        lambda s: s > 1,
        lambda s: s.where(s > 1),
        lambda s: s.index,
        lambda s: None,
        lambda s: s.to_frame(),
        Filtered(),
        Listed(),
    ]
    tables = [t.select(col("id"), whole(function, DataTypes.BIGINT())(col("id"))) for function in functions]
    return [outcome(table) for table in tables]


@program(config=PROCESS)
def series_brought_to_the_declared_type(env, t_env):
    import datetime as dt
    from decimal import Decimal

    t = t_env.from_elements([(1,), (2,)], ["id"])
    cases = [
        ([1, 300], "TINYINT"),
        ([1, None], "SMALLINT"),
        ([1.0, None], "INT"),
        ([1.5, 2.0], "FLOAT"),
        ([1, 2], "DOUBLE"),
        ([True, False], "INT"),
        ([1, 0], "BOOLEAN"),
        ([True, None], "BOOLEAN"),
        ([1, 2], "STRING"),
        (["a", None], "STRING"),
        (["abc", "d"], "VARCHAR(2)"),
        ([b"a", b"b"], "BYTES"),
        (["a", "b"], "BYTES"),
        ([Decimal("1.5"), Decimal("2.25")], "DECIMAL(5, 2)"),
        ([Decimal("1.555"), Decimal("2.25")], "DECIMAL(5, 2)"),
        ([1.5, 2.25], "DECIMAL(5, 2)"),
        ([dt.date(2020, 1, 2), None], "DATE"),
        ([dt.datetime(2020, 1, 2, 3, 4, 5, 678901)] * 2, "TIMESTAMP(3)"),
        ([dt.datetime(2020, 1, 2, 3, 4, 5, 678901)] * 2, "TIMESTAMP(6)"),
        ([dt.datetime(2020, 1, 2, 3, 4, 5)] * 2, "DATE"),
        ([dt.time(1, 2, 3)] * 2, "TIME"),
        ([[1, 2], None], "ARRAY<BIGINT>"),
        ([[1, None], []], "ARRAY<BIGINT>"),
        ([[[1], []], None], "ARRAY<ARRAY<INT>>"),
        ([{"a": 1}, {"a": 2}], "ROW<a INT>"),
        ([(1,), (2,)], "ROW<a INT>"),
        ([{"a": 1}, None], "MAP<STRING, INT>"),
        ([[("a", 1)], None], "MAP<STRING, INT>"),
    ]

    def made(values):
        def make(s):
            import pandas as pd

            return pd.Series(values)

        return make

    tables = [t.select(whole(made(values), kind)(col("id"))) for values, kind in cases]
    return [outcome(table) for table in tables]


@program(config=PROCESS)
def frames_as_rows(env, t_env):
    t = t_env.from_elements([(1, "a"), (2, None)], ["id", "s"])
    kind = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.BIGINT()), DataTypes.FIELD("y", DataTypes.STRING())])

    def frame(columns):
        def make(i, s):
            import pandas as pd

            return pd.DataFrame({name: i if of == "i" else s for name, of in columns})

        return make

    shapes = [
        [("x", "i"), ("y", "s")],
        [("p", "i"), ("q", "s")],
        [("y", "s"), ("x", "i")],
        [("x", "i")],
        [("x", "i"), ("y", "s"), ("z", "i")],
    ]
    functions = [whole(frame(shape), kind) for shape in shapes]
    tables = [
        *(t.map(function(col("id"), col("s"))) for function in functions),
        *(t.select(function(col("id"), col("s"))) for function in functions),
        t.select(functions[0](col("id"), col("s")).get("y"), functions[0](col("id"), col("s")).get("x")),
        t.map(whole(lambda f: f.iloc[:, ::-1], kind)),
        t.map(whole(lambda f: f, kind)),
    ]
    return [outcome(table) for table in tables]


VALUES = [
    ("BOOLEAN", "TRUE"),
    ("INT", "1"),
    ("CHAR(2)", "'ab'"),
    ("BYTES", "x'61'"),
    ("DECIMAL(5, 2)", "1.50"),
    ("DATE", "DATE '2020-01-02'"),
    ("TIME(0)", "TIME '01:02:03'"),
    ("TIMESTAMP(0)", "TIMESTAMP '2020-01-02 03:04:05'"),
    ("TIMESTAMP(3)", "TIMESTAMP '2020-01-02 03:04:05.123'"),
    ("TIMESTAMP(6)", "TIMESTAMP '2020-01-02 03:04:05.123456'"),
    ("TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(4001, 3)"),
    ("ARRAY<INT>", "ARRAY[1, 2]"),
    ("ARRAY<INT>", "ARRAY[1, CAST(NULL AS INT)]"),
    ("ARRAY<STRING>", "ARRAY['a', 'b']"),
    ("ARRAY<DOUBLE>", "ARRAY[CAST(1.5 AS DOUBLE), CAST(NULL AS DOUBLE)]"),
    ("ARRAY<BOOLEAN>", "ARRAY[TRUE, FALSE]"),
    ("ARRAY<DATE>", "ARRAY[DATE '2020-01-02']"),
    ("ARRAY<TIMESTAMP(3)>", "ARRAY[TIMESTAMP '2020-01-02 03:04:05']"),
    ("ARRAY<DECIMAL(5, 2)>", "ARRAY[CAST(1.5 AS DECIMAL(5, 2))]"),
    ("ARRAY<ARRAY<INT>>", "ARRAY[ARRAY[1], ARRAY[2, 3]]"),
    ("ROW<a INT, b STRING>", "ROW(1, 'x')"),
    ("ROW<a INT, b ARRAY<INT>>", "ROW(1, ARRAY[1])"),
]


def kinds_of(s):
    """Return what a function sees of its argument, in each row."""
    import numpy as np
    import pandas as pd

    def text(value):
        if isinstance(value, np.ndarray):
            return f"array:{value.dtype}[{', '.join(map(text, value))}]"
        return f"{type(value).__name__}:{value!r}"

    if isinstance(s, pd.DataFrame):
        columns = [f"{name}:{s[name].dtype}:{text(s[name].iloc[0])}" for name in s.columns]
        return pd.Series([f"frame {columns}"] * len(s))
    return pd.Series([f"{s.dtype} {text(s.iloc[0])}"] * len(s))


@program(config=PROCESS)
def what_functions_of_pandas_see(env, t_env):
    t_env.create_temporary_function("kinds", whole(kinds_of, DataTypes.STRING()))
    tables = [
        t_env.sql_query(
            f"SELECT kinds(x) FROM (SELECT CASE WHEN id > 0 THEN CAST({value} AS {kind}) END AS x "
            "FROM (VALUES (1), (2)) AS v (id))"
        )
        for kind, value in VALUES
    ]
    return [outcome(table) for table in tables]


@program(config=PROCESS)
def missing_values_that_functions_of_pandas_see(env, t_env):
    t_env.create_temporary_function("kinds", whole(kinds_of, DataTypes.STRING()))
    tables = [
        t_env.sql_query(
            f"SELECT id, kinds(x) FROM (SELECT id, CASE WHEN id = 2 THEN CAST({value} AS {kind}) END AS x "
            "FROM (VALUES (1), (2)) AS v (id))"
        )
        for kind, value in VALUES
    ]
    return [outcome(table) for table in tables]


@program(config=PROCESS)
def literals_for_functions_of_pandas(env, t_env):
    @udf(result_type=DataTypes.STRING(), func_type="pandas")
    def kind(s, other):
        import pandas as pd

        found = "series" if isinstance(other, pd.Series) else f"{type(other).__name__}:{other!r}"
        return pd.Series([found] * len(s))

    t = numbers(t_env, 2)
    t_env.create_temporary_function("kind", kind)
    t_env.create_temporary_view("numbers", t)
    tables = [
        t.select(kind(col("id"), lit(3))),
        t.select(kind(col("id"), "x")),
        t.select(kind(col("id"), lit(3) + 1)),
        t.select(kind(col("id"), col("id"))),
        *(
            t_env.sql_query(f"SELECT kind(id, {literal}) FROM numbers")
            for literal in (
                "3",
                "1.5",
                "'a'",
                "TRUE",
                "CAST(NULL AS INT)",
                "DATE '2020-01-02'",
                "1.5E0",
                "TIME '01:02:03'",
            )
        ),
    ]
    return [outcome(table) for table in tables]


@program(config=PROCESS, order="multiset")
def places_of_functions_of_pandas(env, t_env):
    t = t_env.from_elements([(1, "a"), (2, "b"), (3, "a"), (4, None)], ["id", "s"])
    twice = udf(lambda s: s * 2, result_type=DataTypes.BIGINT(), func_type="pandas")
    t_env.create_temporary_view("t", t)
    t_env.create_temporary_function("twice", twice)
    t_env.create_temporary_function("plain", plain)
    upper = udf(lambda s: s.str.upper(), result_type=DataTypes.STRING(), func_type="pandas")
    t_env.create_temporary_function("upper_", upper)
    tables = [
        t_env.sql_query("SELECT id, twice(id) FROM t WHERE twice(id) > 3 AND id < 4"),
        t_env.sql_query("SELECT CASE WHEN id > 2 THEN twice(id) ELSE plain(id) END FROM t"),
        t_env.sql_query("SELECT twice(plain(id)), plain(twice(id)), twice(twice(id) + 1) FROM t"),
        t_env.sql_query("SELECT upper_(s) || '!' FROM t WHERE s IS NOT NULL"),
        t_env.sql_query("SELECT a.id, b.id FROM t AS a JOIN t AS b ON twice(a.id) = b.id"),
        t_env.sql_query("SELECT id FROM t WHERE id IN (SELECT twice(id) FROM t)"),
        t_env.sql_query("SELECT twice(id), COALESCE(upper_(s), 'none') FROM t"),
        t.order_by(col("id")).fetch(2).select(twice(col("id"))),
    ]
    return [outcome(table) for table in tables]


@program(config={**PROCESS, "table.local-time-zone": "Asia/Shanghai"})
def zoned_times_in_functions_of_pandas(env, t_env):
    same = whole(lambda s: s, DataTypes.TIMESTAMP_LTZ(3))
    plain_times = whole(lambda s: s.dt.tz_localize(None), DataTypes.TIMESTAMP_LTZ(3))
    utc = whole(lambda s: s.dt.tz_convert("UTC"), DataTypes.TIMESTAMP_LTZ(3))
    text = whole(lambda s: s.map(str), DataTypes.STRING())
    t_env.create_temporary_view("t", t_env.from_elements([(1,), (2,)], ["id"]).select(col("id")))
    t_env.create_temporary_view("z", t_env.sql_query("SELECT id, TO_TIMESTAMP_LTZ(id * 1000 + 1, 3) AS x FROM t"))
    for name, function in (("same", same), ("plain_times", plain_times), ("utc", utc), ("text", text)):
        t_env.create_temporary_function(name, function)
    tables = [
        t_env.sql_query("SELECT CAST(x AS STRING) FROM z"),
        t_env.sql_query("SELECT text(x) FROM z"),
        *(t_env.sql_query(f"SELECT CAST({name}(x) AS STRING) FROM z") for name in ("same", "plain_times", "utc")),
    ]
    return [outcome(table) for table in tables]


@program(config=PROCESS)
def names_of_series(env, t_env):
    named = whole(lambda *s: s[0].map(lambda _: str([one.name for one in s])), DataTypes.STRING())
    t = t_env.from_elements([(1, "a")], ["id", "s"])
    t_env.create_temporary_view("t", t)
    t_env.create_temporary_function("named", named)
    tables = [
        t.select(named(col("id"))),
        t.select(named(col("id"), col("s"), col("id") + 1)),
        t.select(named(col("s")), named(col("id").cast(DataTypes.INT()))),
        t_env.sql_query("SELECT s, named(id, s), named(id + 1, id + 2) FROM t"),
        t_env.sql_query("SELECT named(x) FROM (SELECT id + 1 AS x FROM t)"),
        t_env.sql_query("SELECT named(s) FROM t WHERE id > 0"),
    ]
    return [outcome(table) for table in tables]
