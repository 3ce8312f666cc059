"""A connector is one class: a program or package adds it under a name, and all statements use it."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from typing import ClassVar

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import Row, Types
from flintstream.connectors.collection import CollectionSource
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.table._connectors import registry
from flintstream.table._errors import SqlError
from flintstream.table.connectors import (
    CHANGES,
    INSERTIONS,
    UPSERTS,
    Records,
    SinkConnector,
    SourceConnector,
    TableSink,
    TableSource,
    register,
)


class Shelf(SourceConnector, SinkConnector):
    """Tables in memory by their option ``shelf``: rows by primary key."""

    tables: ClassVar[dict] = {}
    columns_read: ClassVar[list] = []

    def source(self, table):
        rows = list(self.tables[table.options.required("shelf")].values())
        positions = table.names

        def with_columns(names):
            self.columns_read.append(names)
            return CollectionSource([
                tuple(value if name in names else None for name, value in zip(positions, row, strict=True))
                for row in rows
            ])  # fmt: skip

        return TableSource(CollectionSource(rows), with_columns=with_columns, lookup=lambda keys: Found(rows, keys))

    def sink(self, table):
        key = [table.names.index(name) for name in table.primary_key]
        return TableSink(ShelfSink(table.options.required("shelf"), key), changes=UPSERTS, parallelism=1)


class Found:
    def __init__(self, rows, keys):
        self.rows, self.keys = rows, keys

    def find(self, keys):
        of = [(tuple(row[i] for i in self.keys), row) for row in self.rows]
        return {key: [row for own, row in of if own == key] for key in keys}

    def close(self):
        """There is nothing to close."""


class ShelfSink(Sink):
    def __init__(self, name, key):
        self.name, self.key = name, key

    def create_writer(self, context):
        return ShelfWriter(self.name, self.key)


class ShelfWriter(SinkWriter):
    def __init__(self, name, key):
        self.name, self.key = name, key

    def write(self, values, timestamps):
        rows = Shelf.tables[self.name]
        for *row, kind in values:
            assert kind != 1, "the row that an update replaces is left out"
            key = tuple(row[i] for i in self.key)
            if kind == 3:
                rows.pop(key, None)
            else:
                rows[key] = tuple(row)


class Letters(SourceConnector):
    """Changes of rows in the form that the option ``form`` names."""

    def source(self, table):
        form = table.options.required("form")
        return {
            "rows": TableSource(CollectionSource([Row("a"), Row("b")]), Records.ROWS),
            "lists": TableSource(CollectionSource([(("a", 0), ("a", 1), ("b", 2)), ()]), Records.LISTS, CHANGES),
            "newest": TableSource(CollectionSource([("a", 2), ("a", 2), ("b", 2), ("a", 3)]), changes=UPSERTS),
            "none": TableSource(None, lookup=lambda keys: Found([("a",)], keys)),
        }[form]


class Numbers(SinkConnector):
    def sink(self, table):
        return TableSink(ShelfSink(table.name, [0]), changes=INSERTIONS)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(Shelf, "tables", {"stock": {}, "items": {}})
    monkeypatch.setattr(Shelf, "columns_read", [])
    register("shelf", Shelf)
    register("letters", Letters)
    register("numbers", Numbers)


def declare(t_env, name, columns, connector, **options):
    given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
    t_env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ('connector' = '{connector}'{given})")


def rows(t_env, query):
    with t_env.execute_sql(query).collect() as found:
        return sorted((tuple(row) for row in found), key=repr)


STOCK = "id INT, n BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED"


def test_a_connector_of_one_class_is_written_read_and_looked_up(env, t_env):
    declare(t_env, "stock", STOCK, "shelf", shelf="stock")
    stream = env.from_collection(
        [Row(i % 3, i) for i in range(30)], Types.ROW_NAMED(["id", "n"], [Types.INT(), Types.INT()])
    )
    t_env.create_temporary_view("sales", t_env.from_data_stream(stream))
    t_env.execute_sql("INSERT INTO stock SELECT id, SUM(n), 'x' FROM sales GROUP BY id").wait()
    assert Shelf.tables["stock"] == {(0,): (0, 135, "x"), (1,): (1, 145, "x"), (2,): (2, 155, "x")}

    assert rows(t_env, "SELECT * FROM stock WHERE n > 140") == [(1, 145, "x"), (2, 155, "x")]
    assert rows(t_env, "SELECT n + 1 FROM stock WHERE id = 2") == [(156,)]
    assert Shelf.columns_read == [{"id", "n"}]

    t_env.execute_sql("CREATE TEMPORARY VIEW asked AS SELECT n, PROCTIME() AS p FROM sales WHERE n < 4")
    join = "LEFT JOIN stock FOR SYSTEM_TIME AS OF a.p AS s ON a.n = s.id"
    assert rows(t_env, f"SELECT a.n, s.n FROM asked AS a {join}") == [(0, 135), (1, 145), (2, 155), (3, None)]


def test_rows_are_deleted_from_a_sink_of_upserts(env, t_env):
    declare(t_env, "stock", STOCK, "shelf", shelf="stock")
    declare(t_env, "letters", "letter STRING", "letters", form="lists")
    query = "SELECT CAST(ASCII(letter) AS INT), COUNT(*), letter FROM letters GROUP BY letter"
    t_env.execute_sql(f"INSERT INTO stock {query} ON CONFLICT DO DEDUPLICATE").wait()
    assert Shelf.tables["stock"] == {(98,): (98, 1, "b")}


@pytest.mark.parametrize(
    ("form", "expected"),
    [("rows", [("a",), ("b",)]), ("lists", [("a",), ("a",), ("b",)]), ("newest", [("a",), ("a",), ("b",)])],
)
def test_records_of_a_source_have_the_form_that_it_names(t_env, form, expected):
    declare(t_env, "letters", "letter STRING, PRIMARY KEY (letter) NOT ENFORCED", "letters", form=form)
    assert rows(t_env, "SELECT letter FROM letters") == expected


def test_a_source_of_newest_rows_needs_a_key(t_env):
    declare(t_env, "letters", "letter STRING", "letters", form="newest")
    with pytest.raises(SqlError, match=r"'letters': the connector reads the newest row of each key, .* PRIMARY KEY"):
        t_env.sql_query("SELECT * FROM letters")


def test_a_table_without_a_source_is_only_looked_up(env, t_env):
    declare(t_env, "letters", "letter STRING", "letters", form="none")
    stream = env.from_collection([Row("a"), Row("b")], Types.ROW_NAMED(["l"], [Types.STRING()]))
    t_env.create_temporary_view("plain", t_env.from_data_stream(stream))
    t_env.execute_sql("CREATE TEMPORARY VIEW asked AS SELECT l, PROCTIME() AS p FROM plain")
    join = "JOIN letters FOR SYSTEM_TIME AS OF a.p AS s ON a.l = s.letter"
    assert rows(t_env, f"SELECT l, letter FROM asked AS a {join}") == [("a", "a")]
    with pytest.raises(SqlError, match="'letters' can only be read by key: JOIN letters FOR SYSTEM_TIME AS OF"):
        t_env.execute_sql("SELECT * FROM letters")


@pytest.mark.parametrize(
    ("connector", "options", "statement", "message"),
    [
        ("shelv", {}, "SELECT * FROM t", "the connector 'shelv' is unknown; did you mean 'shelf'?"),
        (
            "pulsar",
            {},
            "SELECT * FROM t",
            "is unknown; available: blackhole, datagen, .*, kafka, kinesis, .*letters, mongodb, numbers, ",
        ),
        ("numbers", {}, "SELECT * FROM t", "the connector 'numbers' only writes: the table cannot be read"),
        ("letters", {"form": "rows"}, "INSERT INTO t SELECT * FROM one", "'letters' only reads: the table cannot be"),
        ("shelf", {"shelf": "stock", "shelv": "x"}, "SELECT * FROM t", "has no option 'shelv'; did you mean 'shelf'?"),
        ("numbers", {"x": "y"}, "INSERT INTO t SELECT * FROM one", "the connector 'numbers' has no option 'x'"),
        ("numbers", {}, "INSERT INTO t SELECT COUNT(*) FROM one", "'numbers' only takes insertions"),
        ("shelf", {"shelf": "stock"}, "INSERT INTO t SELECT COUNT(*) FROM one", "please declare primary key for sink"),
    ],
)
def test_what_a_connector_does_not_do_is_refused(t_env, connector, options, statement, message):
    declare(t_env, "t", "n BIGINT", connector, **options)
    t_env.execute_sql("CREATE TEMPORARY VIEW one AS SELECT CAST(1 AS BIGINT) AS n")
    with pytest.raises(SqlError, match=message.replace("?", re.escape("?"))):
        t_env.execute_sql(statement)


def test_metadata_that_a_connector_does_not_have_is_refused(t_env):
    declare(t_env, "t", "id INT, place STRING METADATA", "shelf", shelf="stock")
    with pytest.raises(SqlError, match=r"Invalid metadata key 'place' .* the connector 'shelf' has none"):
        t_env.sql_query("SELECT * FROM t")


def test_an_installed_package_adds_a_connector(t_env, monkeypatch):
    found = EntryPoint("letters-of-a-package", f"{__name__}:Letters", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [found] if group == registry.GROUP else [])
    declare(t_env, "letters", "letter STRING", "letters-of-a-package", form="rows")
    assert rows(t_env, "SELECT * FROM letters") == [("a",), ("b",)]
    declare(t_env, "other", "letter STRING", "letters-of-packages", form="rows")
    with pytest.raises(SqlError, match="did you mean 'letters-of-a-package'"):
        t_env.sql_query("SELECT * FROM other")


def test_a_built_in_name_and_what_is_not_a_connector_are_not_registered():
    with pytest.raises(ValueError, match="built-in connector 'kafka'"):
        register("kafka", Letters)
    for other in (Letters(), Sink, "Letters"):
        with pytest.raises(TypeError, match="subclass of SourceConnector or SinkConnector, but got"):
            register("other", other)  # type: ignore[arg-type] # the test


def test_every_built_in_connector_reads_or_writes():
    for name in registry.BUILT_IN:
        assert isinstance(registry.find("t", name), (SourceConnector, SinkConnector))
