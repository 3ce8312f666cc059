"""Fractions of a second with seven to nine digits, and table functions without LATERAL."""

from pyflink.table import DataTypes
from pyflink.table.udf import udf
from tests.table.conformance.registry import BATCH, BOTH, file_table, lines, program, scalars, script

PROCESS = {"python.execution-mode": "process"}
TS = "TIMESTAMP '2020-01-01 00:00:00.123456789'"
SMALLER = "TIMESTAMP '2020-01-01 00:00:00.123456788'"
scalars(
    "nanoseconds_as_texts",
    f"""
    CAST({TS} AS STRING)
    CAST(CAST({TS} AS TIMESTAMP(8)) AS STRING)
    CAST(CAST({TS} AS TIMESTAMP(7)) AS STRING)
    CAST(CAST({TS} AS TIMESTAMP(6)) AS STRING)
    CAST(CAST({TS} AS TIMESTAMP(3)) AS STRING)
    CAST(CAST({TS} AS TIMESTAMP_LTZ(9)) AS STRING)
    CAST(CAST('2020-01-01 00:00:00.123456789' AS TIMESTAMP(9)) AS STRING)
    CAST(CAST('2020-01-01 00:00:00.123456789' AS TIMESTAMP(8)) AS STRING)
    CAST(CAST('2020-01-01 00:00:00.123456789' AS TIMESTAMP) AS STRING)
    CAST(CAST('2020-01-01 00:00:00.12' AS TIMESTAMP(9)) AS STRING)
    CAST(TIMESTAMP '2020-01-01 00:00:00.1234567' AS STRING)
    CAST(TIMESTAMP '2020-01-01 00:00:00.1234567891' AS STRING)
    CAST(TIMESTAMP '2020-01-01 00:00:00.999999999' AS STRING)
    CAST(CAST(TIMESTAMP '2020-01-01 00:00:00.999999999' AS TIMESTAMP(6)) AS STRING)
    CAST(TO_TIMESTAMP('2020-01-01 00:00:00.123456789', 'yyyy-MM-dd HH:mm:ss.SSSSSSSSS') AS STRING)
    CAST(TO_TIMESTAMP('2020-01-01 00:00:00.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS') AS STRING)
    CAST({TS} + INTERVAL '1' SECOND AS STRING)
    CAST(FLOOR({TS} TO SECOND) AS STRING)
    CAST(FLOOR({TS} TO MILLISECOND) AS STRING)
    CAST(CEIL({TS} TO MILLISECOND) AS STRING)
    CAST(ROW({TS}) AS STRING)
    CAST(ARRAY[{TS}] AS STRING)
    JSON_STRING({TS})
    JSON_OBJECT('t' VALUE {TS})
    DATE_FORMAT({TS}, 'HH:mm:ss.SSSSSSSSS')
    DATE_FORMAT({TS}, 'HH:mm:ss.SSSSSS')
    DATE_FORMAT({TS}, 'HH:mm:ss.n')
    CAST(CAST('00:00:00.123456789' AS TIME(9)) AS STRING)
    """,
)
scalars(
    "nanoseconds_in_conditions",
    f"""
    {TS} = {SMALLER}
    {TS} > {SMALLER}
    {TS} <> CAST({TS} AS TIMESTAMP(6))
    {TS} > CAST({TS} AS TIMESTAMP(3))
    EXTRACT(NANOSECOND FROM {TS})
    EXTRACT(MICROSECOND FROM {TS})
    EXTRACT(MILLISECOND FROM {TS})
    EXTRACT(MICROSECOND FROM TIMESTAMP '2020-01-01 00:00:05.123456')
    EXTRACT(NANOSECOND FROM TIMESTAMP '2020-01-01 00:00:05.123')
    TIMESTAMPDIFF(SECOND, {TS}, TIMESTAMP '2020-01-01 00:00:01.123456788')
    UNIX_TIMESTAMP('2020-01-01 00:00:00.123456789')
    """,
)
LTZ = f"CAST({TS} AS TIMESTAMP_LTZ(9))"
scalars(
    "digits_of_rounding_and_of_points_in_time",
    f"""
    CAST(CEIL(TIMESTAMP '2020-02-03 04:05:06.000000789' TO SECOND) AS STRING)
    CAST(CEIL(TIMESTAMP '2020-02-03 04:05:06.000000789' TO MILLISECOND) AS STRING)
    CAST(CEIL(TIMESTAMP '2020-02-03 04:05:06.001000789' TO SECOND) AS STRING)
    CAST(CEIL(TIMESTAMP '2020-02-03 00:00:00.000001' TO DAY) AS STRING)
    CAST(CEIL(TIMESTAMP '2020-02-01 00:00:00.000001' TO MONTH) AS STRING)
    CAST(CEIL(TIMESTAMP '2020-01-01 00:00:00.000000001' TO YEAR) AS STRING)
    CAST(CEIL(CAST(TIMESTAMP '2020-02-03 04:05:00.000000789' AS TIMESTAMP_LTZ(9)) TO MINUTE) AS STRING)
    DATE_FORMAT({LTZ}, 'HH:mm:ss.SSSSSSSSS')
    DATE_FORMAT(CAST({TS} AS TIMESTAMP_LTZ(3)), 'HH:mm:ss.SSSSSSSSS')
    CAST(TO_TIMESTAMP_LTZ(1234567891, 0) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1234567891, 2) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1234567891, 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1234567891, 5) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1234567891, 6) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(1234567891, 9) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(-1, 9) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(-1234567, 7) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(1.5 AS DOUBLE), 0) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(-1.0001 AS DOUBLE), 3) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(1234567.8 AS DOUBLE), 6) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(1.5 AS DOUBLE), 9) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(-1.5 AS DOUBLE), 9) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(-1234567.8 AS DOUBLE), 6) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(12345.6789 AS DOUBLE), 4) AS STRING)
    CAST(TO_TIMESTAMP_LTZ(CAST(1234567.8912 AS DECIMAL(20, 4)), 6) AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00.123456789', 'yyyy-MM-dd HH:mm:ss.SSSSSSSSS') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00.12345', 'yyyy-MM-dd HH:mm:ss.SSSSS') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00', 'yyyy-MM-dd HH:mm:ss') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00.123456789') AS STRING)
    CAST(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'Asia/Tokyo') AS STRING)
    TYPEOF(TO_TIMESTAMP_LTZ(1234567891, 2))
    TYPEOF(TO_TIMESTAMP_LTZ(1234567891, 5))
    TYPEOF(TO_TIMESTAMP_LTZ(1234567891, 9))
    TYPEOF(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00.12345', 'yyyy-MM-dd HH:mm:ss.SSSSS'))
    TYPEOF(TO_TIMESTAMP_LTZ('2020-01-01 00:00:00.123456', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'Asia/Tokyo'))
    CAST(TO_TIMESTAMP('2020-01-01 00:00:00.123456789', 'yyyy-MM-dd HH:mm:ss.SSSSSSSSS') AS STRING)
    """,
)
ROWS = "(VALUES (3, 'c', 1), (1, 'a', 1), (2, 'b', 2)) AS s(a, b, k)"
script(
    "order_of_collected_values",
    f"""
    SELECT JSON_ARRAYAGG(b ORDER BY a DESC) AS x FROM {ROWS};
    SELECT JSON_ARRAYAGG(b ORDER BY a) AS x FROM {ROWS};
    SELECT JSON_ARRAYAGG(b) WITHIN GROUP (ORDER BY a) AS x FROM {ROWS};
    SELECT k, JSON_ARRAYAGG(b ORDER BY b DESC) AS x FROM {ROWS} GROUP BY k;
    SELECT JSON_ARRAYAGG(NULLIF(b, 'a') NULL ON NULL) AS x FROM {ROWS};
    SELECT ARRAY_AGG(b ORDER BY a) AS x FROM {ROWS};
    SELECT ARRAY_AGG(DISTINCT k ORDER BY k DESC) AS x FROM {ROWS};
    SELECT LISTAGG(b) WITHIN GROUP (ORDER BY a DESC) AS x FROM {ROWS};
    """,
    modes=BOTH,
    order="folded",
    level=3,
)
CSV_LINES = (
    "1,2020-01-01 00:00:00.123456789,2020-01-01 00:00:00.123456789Z",
    "2,2020-01-01 00:00:00.123456788,2020-01-01 00:00:00.1234567Z",
    "2,2020-01-01 00:00:00.123456,2020-01-01 00:00:00Z",
    "3,1969-12-31 23:59:59.999999999,1969-12-31 23:59:59.999999999Z",
    "3,2020-01-01 00:00:00.123456789,2020-01-01 00:00:00.5Z",
)
JSON_LINES = (
    '{"a":1,"t":"2020-01-01 00:00:00.123456789","z":"2020-01-01 00:00:00.123456789Z"}',
    '{"a":2,"t":"2020-01-01 00:00:00.1","z":"2020-01-01 00:00:00.000000001Z"}',
    '{"a":3,"t":null,"z":null}',
)
COLUMNS = "a INT, t TIMESTAMP(9), z TIMESTAMP_LTZ(9)"
script(
    "nanoseconds_in_files",
    f"""
    {lines("c", *CSV_LINES)}
    {lines("j", *JSON_LINES)}
    {file_table("c", COLUMNS, file="c")}
    {file_table("c7", "a INT, t TIMESTAMP(7), z STRING", file="c")}
    {file_table("j", COLUMNS, file="j", form="json")}
    SELECT a, CAST(t AS STRING), CAST(z AS STRING) FROM c;
    SELECT a, CAST(t AS STRING) FROM c7;
    SELECT a, CAST(t AS STRING), CAST(z AS STRING) FROM j;
    SELECT CAST(t AS STRING), COUNT(*), MAX(a) FROM c GROUP BY t;
    SELECT CAST(MIN(t) AS STRING), CAST(MAX(t) AS STRING), CAST(MAX(z) AS STRING) FROM c;
    SELECT DISTINCT CAST(z AS STRING) FROM c;
    SELECT x.a, y.a, CAST(x.t AS STRING) FROM c AS x JOIN j AS y ON x.t = y.t;
    SELECT a, CAST(t AS STRING) FROM c WHERE t > TIMESTAMP '2020-01-01 00:00:00.123456788';
    SELECT a, CAST(t AS STRING) FROM c ORDER BY t, a;
    SELECT CAST(LAST_VALUE(t) AS STRING), CAST(COLLECT(t) AS STRING) FROM j WHERE a <> 2;
    {file_table("cc", COLUMNS, file="cc")}
    {file_table("jj", COLUMNS, file="jj", form="json")}
    INSERT INTO cc SELECT * FROM c;
    INSERT INTO jj SELECT * FROM c;
    {file_table("ct", "line STRING", file="cc", form="raw")}
    {file_table("jt", "line STRING", file="jj", form="raw")}
    SELECT * FROM ct;
    SELECT * FROM jt;
    SELECT a, PRINTF('%s %tN', t, t) FROM c;
    """,
    modes=BATCH,
    order="multiset",
)
script(
    "printed_nanoseconds",
    f"""
    SELECT {TS} AS t, CAST({TS} AS TIMESTAMP(7)) AS t7, CAST({TS} AS TIMESTAMP_LTZ(9)) AS z, ARRAY[{TS}] AS l, ROW({TS}) AS r;
    SELECT CAST({TS} AS TIMESTAMP(1)) AS a, CAST({TS} AS TIMESTAMP(4)) AS b, CAST({TS} AS TIMESTAMP(0)) AS c,
      ARRAY[CAST({TS} AS TIMESTAMP(3))] AS d, ARRAY[CAST({TS} AS TIMESTAMP(0))] AS e,
      MAP['a', CAST({TS} AS TIMESTAMP(1))] AS f, ROW(CAST({TS} AS TIMESTAMP_LTZ(3)), DATE '2020-01-01', TIME '10:11:12') AS g;
    """,
    printed=True,
)


@program(config=PROCESS, modes=BOTH)
def nanoseconds_in_python_functions(_env, t_env):
    """Functions of Python get microseconds, those of pandas nanoseconds."""
    moment = DataTypes.TIMESTAMP(9)

    @udf(result_type=DataTypes.STRING())
    def shown(value):
        return f"{type(value).__name__} {value.isoformat()} {value == value.replace(microsecond=value.microsecond)}"

    @udf(result_type=moment)
    def same(value):
        return value

    @udf(result_type=moment, func_type="pandas")
    def same_series(value):
        return value

    @udf(result_type=DataTypes.BIGINT(), func_type="pandas")
    def nanoseconds(value):
        return value.dt.nanosecond.astype("int64")

    t_env.create_temporary_view("t", t_env.sql_query(f"SELECT * FROM (VALUES (1, {TS}), (2, {SMALLER})) AS v (a, t)"))
    t_env.create_temporary_function("shown", shown)
    t_env.create_temporary_function("same", same)
    t_env.create_temporary_function("same_series", same_series)
    t_env.create_temporary_function("nanoseconds", nanoseconds)
    frame = t_env.sql_query("SELECT a, t FROM t").to_pandas()
    return [
        t_env.sql_query("SELECT a, shown(t) AS s, CAST(same(t) AS STRING) AS p FROM t"),
        t_env.sql_query("SELECT a, nanoseconds(t) AS n, CAST(same_series(t) AS STRING) AS s FROM t"),
        [str(frame.t.dtype), *map(str, frame.t)],
    ]
