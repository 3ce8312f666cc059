"""Sinks with a primary key: changes of a key come in order, and NOT NULL holds."""

from __future__ import annotations

import random
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, RowKind, Types
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._errors import SqlError
from flintstream.table._operators.upserts import SinkMaterializer
from flintstream.testing.harness import KeyedHarness


def environment(parallelism=4, engine="inline"):
    given_ = {"flintstream.master": "local[2]"} if engine == "spark" else {"flintstream.engine": "inline"}
    env = StreamExecutionEnvironment.get_execution_environment(given_).set_parallelism(parallelism)
    return env, StreamTableEnvironment.create(env)


def sink(t_env, path, columns="name STRING, n BIGINT", key="name", **options):
    stored = ", ".join(part.split()[0] for part in columns.split(", "))
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE sink ({stored}, PRIMARY KEY ({key}))")
    more = "".join(f", '{name}' = '{value}'" for name, value in options.items())
    t_env.execute_sql(
        f"CREATE TABLE sink ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ('connector' = 'jdbc', "
        f"'url' = 'jdbc:sqlite:{path}', 'table-name' = 'sink'{more})"
    )


def contents(path):
    with sqlite3.connect(path) as connection:
        return sorted(connection.execute("SELECT * FROM sink").fetchall(), key=repr)


def events(env, t_env, rows):
    stream = env.from_collection(
        [Row(*row) for row in rows], Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    )
    t_env.create_temporary_view("events", t_env.from_data_stream(stream))


LATEST = "SELECT name, n FROM (SELECT id, LAST_VALUE(name) AS name, COUNT(*) AS n FROM events GROUP BY id)"
"""A name belongs to one id at the end, and to several on the way: changes of a name come from several subtasks."""


@pytest.mark.parametrize("engine", ["inline", pytest.param("spark", marks=pytest.mark.spark)])
def test_changes_of_a_key_that_is_not_that_of_the_groups_come_in_order(tmp_path, engine):
    path = tmp_path / "db"
    env, t_env = environment(engine=engine)
    sink(t_env, path)
    rng = random.Random(5)
    rows = [(i, f"n{rng.randrange(20)}") for i in range(20) for _ in range(20)]
    rng.shuffle(rows)
    events(env, t_env, [*rows, *((i, f"n{i}") for i in range(20))])
    t_env.execute_sql(f"INSERT INTO sink {LATEST} ON CONFLICT DO DEDUPLICATE").wait()
    assert contents(path) == sorted(((f"n{i}", 21) for i in range(20)), key=repr)


def steps(env, t_env, statement):
    """Return the names of the steps that a statement adds."""
    statements = t_env.create_statement_set()
    statements.add_insert_sql(statement)
    statements.attach_as_datastream()
    return env.get_execution_plan()


@pytest.mark.parametrize(
    ("mode", "query", "materializes"),
    [
        ("AUTO", LATEST, True),
        ("NONE", LATEST, False),
        ("FORCE", "SELECT name, COUNT(*) FROM events GROUP BY name", True),
        ("AUTO", "SELECT name, COUNT(*) FROM events GROUP BY name", False),
        ("AUTO", "SELECT name, COUNT(*) FROM events GROUP BY name, id", True),
        ("AUTO", "SELECT 'all', COUNT(*) FROM events", False),
        ("AUTO", "SELECT name, CAST(id AS BIGINT) FROM events", False),
        ("AUTO", "SELECT UPPER(name), n FROM (SELECT name, COUNT(*) AS n FROM events GROUP BY name)", True),
        (
            "AUTO",
            (
                "SELECT name, CAST(id AS BIGINT) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY id) AS r "
                "FROM events) WHERE r = 1"
            ),
            False,
        ),
        (
            "AUTO",
            (
                "SELECT a.name, b.n FROM (SELECT name, COUNT(*) AS n FROM events GROUP BY name) a LEFT JOIN "
                "(SELECT name, MAX(id) AS n FROM events GROUP BY name) b ON a.name = b.name"
            ),
            False,
        ),
        (
            "AUTO",
            (
                "SELECT a.name, CAST(b.id AS BIGINT) FROM (SELECT name, COUNT(*) AS n FROM events GROUP BY name) a "
                "JOIN events b ON a.name = b.name"
            ),
            True,
        ),
    ],
)
def test_rows_are_kept_only_if_changes_may_come_out_of_order(tmp_path, mode, query, materializes):
    env, t_env = environment()
    t_env.get_config().set("table.exec.sink.upsert-materialize", mode)
    sink(t_env, tmp_path / "db")
    events(env, t_env, [(1, "a")])
    clause = "ON CONFLICT DO DEDUPLICATE" if mode == "AUTO" and materializes else ""
    assert ("SinkMaterializer" in steps(env, t_env, f"INSERT INTO sink {query} {clause}")) == materializes


@pytest.mark.parametrize("parallelism", [None, 3])
def test_the_changes_of_a_single_group_come_in_order(tmp_path, parallelism):
    path = tmp_path / "db"
    env, t_env = environment()
    options = {"sink.buffer-flush.max-rows": 1} | ({} if parallelism is None else {"sink.parallelism": parallelism})
    sink(t_env, path, **options)
    events(env, t_env, [(i, "x") for i in range(500)])
    t_env.execute_sql("INSERT INTO sink SELECT 'all', COUNT(*) FROM events").wait()
    assert contents(path) == [("all", 500)]


@pytest.mark.parametrize("parallelism", [1, 3, 6])
def test_a_sink_of_another_parallelism_gets_the_changes_of_a_key_in_order(tmp_path, parallelism):
    path = tmp_path / "db"
    env, t_env = environment()
    sink(t_env, path, **{"sink.buffer-flush.max-rows": 1, "sink.parallelism": parallelism})
    events(env, t_env, [(i, f"n{i % 7}") for i in range(700)])
    t_env.execute_sql("INSERT INTO sink SELECT name, COUNT(*) FROM events GROUP BY name").wait()
    assert contents(path) == sorted(((f"n{i}", 100) for i in range(7)), key=repr)


CHANGES = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2)), max_size=25)


@settings(max_examples=60)
@given(CHANGES, st.randoms(use_true_random=False))
def test_whatever_the_order_of_subtasks_a_row_that_is_left_is_what_the_key_has(changes, rng):
    """Each of four subtasks has a row whose key changes; the materializer gets their changes interleaved."""
    per_subtask: dict[int, list[tuple[str, int, RowKind]]] = {}
    rows: dict[int, tuple[str, int]] = {}
    for subtask, key, value in changes:
        queue = per_subtask.setdefault(subtask, [])
        if subtask in rows:
            queue.append((*rows[subtask], RowKind.UPDATE_BEFORE))
        rows[subtask] = (key, value)
        queue.append((key, value, RowKind.UPDATE_AFTER))
    with KeyedHarness(lambda s: s.key_by(lambda r: r[0]).process(SinkMaterializer(0))) as tested:
        waiting = [iter(queue) for queue in per_subtask.values()]
        while waiting:
            queue = rng.choice(waiting)
            step = next(queue, None)
            if step is None:
                waiting.remove(queue)
            else:
                tested.process_element((*step[:2], step[2].value))
        table: dict[str, int] = {}
        for key, value, kind in tested.extract_output_values():
            if kind == RowKind.DELETE.value:
                assert table.pop(key) == value
            else:
                assert (key in table) == (kind == RowKind.UPDATE_AFTER.value)
                table[key] = value
        entries = tested.num_keyed_state_entries()
    assert table.keys() == {key for key, _ in rows.values()}
    assert all((key, value) in rows.values() for key, value in table.items())
    assert entries == len(table)


NULLS = "INSERT INTO sink SELECT name, CAST(id AS BIGINT) FROM events"


def test_a_row_with_null_in_a_column_that_is_not_null_fails_the_job(tmp_path):
    env, t_env = environment(1)
    sink(t_env, tmp_path / "db", "name STRING, n BIGINT NOT NULL")
    events(env, t_env, [(1, "a"), (None, "b")])
    with pytest.raises(ValueError, match="table 'sink': the column 'n' is NOT NULL, but a row has NULL in it"):
        t_env.execute_sql(NULLS).wait()


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_rows_with_null_are_left_out_if_an_option_says_so(tmp_path, mode):
    env, t_env = environment(2)
    t_env.get_config().set("table.exec.sink.not-null-enforcer", "DROP").set("execution.runtime-mode", mode)
    path = tmp_path / "db"
    sink(t_env, path, "name STRING, n BIGINT NOT NULL")
    events(env, t_env, [(1, "a"), (None, "b"), (3, None)])
    t_env.execute_sql(NULLS).wait()
    assert contents(path) == [("a", 1)]


@pytest.mark.parametrize(
    ("mode", "parallelism", "exchanges"), [("AUTO", None, 1), ("FORCE", None, 2), ("NONE", 3, 1), ("AUTO", 3, 2)]
)
def test_the_rows_of_a_key_go_to_one_subtask_of_the_sink(tmp_path, mode, parallelism, exchanges):
    env, t_env = environment()
    t_env.get_config().set("table.exec.sink.keyed-shuffle", mode)
    sink(t_env, tmp_path / "db", **({} if parallelism is None else {"sink.parallelism": str(parallelism)}))
    events(env, t_env, [(1, "a")])
    plan = steps(env, t_env, "INSERT INTO sink SELECT name, COUNT(*) FROM events GROUP BY name")
    assert plan.count("HASH") == exchanges


@pytest.mark.parametrize("key", ["table.exec.sink.not-null-enforcer", "table.exec.sink.upsert-materialize"])
def test_a_wrong_option_is_named(tmp_path, key):
    env, t_env = environment()
    t_env.get_config().set(key, "DROPPED")
    sink(t_env, tmp_path / "db")
    events(env, t_env, [(1, "a")])
    with pytest.raises(SqlError, match=rf"the option '{key}' must be one of \w+.*, got 'DROPPED'"):
        t_env.execute_sql("INSERT INTO sink SELECT name, COUNT(*) FROM events GROUP BY name")


def test_the_declared_key_of_a_source_is_known_behind_computed_columns(tmp_path):
    env, t_env = environment()
    sink(t_env, tmp_path / "db", "id INT, n BIGINT", "id")
    for name, more in (("a", ", twice AS id * 2"), ("b", "")):
        t_env.execute_sql(
            f"CREATE TABLE {name} (id INT, v BIGINT, k INT{more}, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = "
            "'datagen', 'number-of-rows' = '5')"
        )
    query = "INSERT INTO sink SELECT a.id, b.v FROM a LEFT JOIN b ON a.{0} = b.{0}"
    assert "SinkMaterializer" not in steps(env, t_env, query.format("id"))
    assert "SinkMaterializer" in steps(env, t_env, query.format("k") + " ON CONFLICT DO DEDUPLICATE")


@pytest.mark.parametrize(("parallelism", "restored"), [(1, 3), (4, 2)])
def test_the_rows_of_a_key_are_restored_at_another_parallelism(parallelism, restored):
    insert, before = RowKind.INSERT.value, RowKind.UPDATE_BEFORE.value

    def built(count):
        return KeyedHarness(
            lambda s: s.key_by(lambda r: r[0]).process(SinkMaterializer(0)), parallelism=count, max_parallelism=16
        )

    keys = [f"k{i}" for i in range(12)]
    with built(parallelism) as first:
        for key in keys:
            first.process_element((key, 1, insert))
            first.process_element((key, 2, insert))
        snapshot = first.snapshot()
    with built(restored) as second:
        second.initialize_state(snapshot)
        for key in keys:
            second.process_element((key, 2, before))
        found = sorted(second.extract_output_values())
    assert found == sorted((key, 1, RowKind.UPDATE_AFTER.value) for key in keys)
