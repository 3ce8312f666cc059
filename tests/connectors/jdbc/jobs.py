"""Programs for the tests of JDBC."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from flintstream.common import Types
from flintstream.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink

PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])


def options(url, user=None, password=None):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if user is not None:
        builder.with_user_name(user)
    if password is not None:
        builder.with_password(password)
    return builder.build()


def execution(size=5000, interval_ms=0, retries=3):
    return (
        JdbcExecutionOptions.builder()
        .with_batch_size(size)
        .with_batch_interval_ms(interval_ms)
        .with_max_retries(retries)
        .build()
    )


def sqlite_sink(path, sql, type_info, **executed):
    return JdbcSink.sink(sql, type_info, options(f"jdbc:sqlite:{path}"), execution(**executed))


def query(path, sql, *parameters):
    """Execute a statement in SQLite and return its result."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql, parameters).fetchall()


def write(sink, *blocks):
    """Write blocks of records like a task, with the end of an epoch at the end."""
    with closing(sink.create_writer(None)) as writer:
        for block in blocks:
            writer.write(block, None)
        writer.prepare_commit(end_of_input=True)
