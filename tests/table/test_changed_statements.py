"""What becomes of the state of a query that has changed since the savepoint."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed")

from tests.table.test_grouping import left, numbers
from tests.waiting import wait_for_numbers

from flintstream.errors import CheckpointError
from flintstream.testing import CollectSink

COUNTS = "SELECT k, COUNT(*) AS n FROM numbers GROUP BY k"
WINDOWS = """
    SELECT k, COUNT(*) AS n, window_end FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' DAY))
    GROUP BY k, window_start, window_end"""
JOIN = "SELECT a.k, b.n FROM numbers AS a JOIN (SELECT n, ms FROM numbers) AS b ON a.n = b.n"
RANK = "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS r FROM numbers) WHERE r = 1"

UNION = (
    "SELECT a.k, b.n FROM numbers AS a JOIN (SELECT * FROM numbers UNION ALL SELECT * FROM numbers) AS b ON a.n = b.n"
)
WINDOWED = """
    SELECT k, n FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY n DESC) AS r
        FROM TABLE(TUMBLE(TABLE numbers, DESCRIPTOR(ts), INTERVAL '1' DAY)))
    WHERE r = 1"""


@pytest.fixture
def run(tmp_path):
    def run(first, second, **more):
        settings = {
            "flintstream.engine": "inline",
            "parallelism.default": "2",
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        }
        sink = CollectSink()

        def start(query, **given):
            env, t_env = numbers(settings | given)
            t_env.to_changelog_stream(t_env.sql_query(query)).sink_to(sink).uid("sink")
            return env.execute_async("numbers")

        job = start(first)
        wait_for_numbers(job, numCheckpoints=2)
        savepoint = job.stop_with_savepoint(False, (tmp_path / "savepoints").as_uri()).result()
        job = start(second, **{"execution.savepoint.path": savepoint}, **more)
        job.get_job_execution_result().result()
        return left([(str(row.get_row_kind()), *row) for row in sink.get_results(True, False)])

    return run


@pytest.mark.parametrize(
    "second",
    [
        "SELECT k AS name, COUNT(*) FROM numbers GROUP BY k",
        "SELECT k, COUNT(*) AS n FROM (SELECT * FROM numbers WHERE n >= 0) WHERE ms < 1000000 GROUP BY k HAVING COUNT(*) > 0",
    ],
    ids=["names", "filters"],
)
def test_a_group_keeps_its_state_when_names_and_filters_change(run, second):
    assert run(COUNTS, second) == {(k, len(range(k, 2000, 7))): 1 for k in range(7)}


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (COUNTS, "SELECT k, MAX(n) AS n FROM numbers GROUP BY k", "GroupAggregate"),
        (COUNTS, "SELECT k, COUNT(*) AS n, SUM(n) FROM numbers GROUP BY k", "GroupAggregate"),
        (COUNTS, "SELECT CAST(k AS STRING), COUNT(*) AS n FROM numbers GROUP BY CAST(k AS STRING)", "GroupAggregate"),
        (COUNTS, "SELECT k, COUNT(*) FILTER (WHERE n > 5) AS n FROM numbers GROUP BY k", "GroupAggregate"),
        (WINDOWS, WINDOWS.replace("COUNT(*)", "SUM(n)"), "WindowAggregate"),
        (WINDOWS, WINDOWS.replace("'1' DAY", "'2' DAY"), "WindowAggregate"),
        (JOIN, JOIN.replace("a.n = b.n", "a.n = b.ms"), "Join"),
        (JOIN, JOIN.replace("a.k, b.n", "a.k, b.n, a.ms"), "Join"),
        (RANK, RANK.replace("SELECT k, n FROM (", "SELECT k, n, ms FROM ("), "Rank"),
        (RANK, RANK.replace("n DESC", "ms"), "Rank"),
        (UNION, UNION.replace("a.k, b.n", "a.k, b.n, b.ms"), "Join"),
        (WINDOWED, WINDOWED.replace("SELECT k, n FROM (", "SELECT k, n, ms FROM ("), "Rank"),
    ],
    ids=[
        "function",
        "more",
        "key",
        "filter",
        "window function",
        "window size",
        "join",
        "columns of a join",
        "columns of a rank",
        "rank",
        "columns of a union",
        "columns of windows",
    ],
)
def test_state_of_another_form_is_refused(run, first, second, name):
    with pytest.raises(CheckpointError, match=rf"holds state of .*'{name}'.*keys, aggregates and column types"):
        run(first, second)


def test_state_of_another_form_can_be_left_behind(run):
    rows = run(
        COUNTS,
        "SELECT k, MAX(n) AS n FROM numbers GROUP BY k",
        **{"execution.savepoint.ignore-unclaimed-state": "true"},
    )
    assert {(k, n) for k, n in rows if n > 1900} == {(k, range(k, 2000, 7)[-1]) for k in range(7)}
