"""Joins of rows within the same window: pairs, rows without a partner, and state that ends with the window."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.common import RowKind
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._expressions.times.helpers import from_millis
from flintstream.table._operators.joins.window import WindowJoin, WindowSemiJoin
from flintstream.testing.harness import KeyedTwoInputHarness

LEFT = [(1, "a", 1), (6, "a", 2), (2, "b", 4), (3, "a", 7), (4, None, 8), (5, "c", 21)]
RIGHT = [(1, "a", 3), (2, "b", 6), (3, "a", 9), (4, None, 8), (5, "d", 21), (6, "a", 30)]
"""Number, key, second: windows have 5 seconds."""
SAME = "l.window_start = r.window_start AND l.window_end = r.window_end"


def tables(directory, engine, mode):
    settings = {"flintstream.master": "local[2]"} if engine == "spark" else {"flintstream.engine": "inline"}
    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("execution.runtime-mode", mode)
    for name, given in (("lefts", LEFT), ("rights", RIGHT)):
        lines = "".join(f"{n},{k or ''},{second * 1000}\n" for n, k, second in given)
        (directory / name).write_text(lines, encoding="utf-8")
        t_env.execute_sql(
            f"CREATE TABLE {name} (n INT, k STRING, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), "
            f"WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'format' = 'csv', "
            f"'path' = '{directory / name}', 'csv.null-literal' = '')"
        )
        windows = f"TABLE(TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '5' SECOND))"
        t_env.execute_sql(f"CREATE TEMPORARY VIEW {name[0]}w AS SELECT * FROM {windows}")
    return t_env


def meets(left, right):
    return left[1] is not None and left[1] == right[1] and left[2] // 5 == right[2] // 5


def expected(kind):
    pairs = [(a[0], b[0]) for a in LEFT for b in RIGHT if meets(a, b)]
    alone = [(a[0], None) for a in LEFT if not any(meets(a, b) for b in RIGHT)]
    others = [(None, b[0]) for b in RIGHT if not any(meets(a, b) for a in LEFT)]
    return pairs + (alone if kind in {"LEFT", "FULL"} else []) + (others if kind in {"RIGHT", "FULL"} else [])


def rows(t_env, query):
    table = t_env.sql_query(query)
    with table.execute().collect() as found:
        listed = list(found)
    assert {row.get_row_kind() for row in listed} <= {RowKind.INSERT}
    return sorted((tuple(row) for row in listed), key=repr)


CASES = [("inline", mode) for mode in ("STREAMING", "BATCH")]


@pytest.mark.parametrize(
    ("engine", "mode", "kind"),
    [
        *((*case, kind) for case in CASES for kind in ("INNER", "LEFT", "RIGHT", "FULL")),
        pytest.param("spark", "STREAMING", "FULL", marks=pytest.mark.spark),
    ],
)
def test_rows_meet_within_a_window(tmp_path, engine, mode, kind):
    t_env = tables(tmp_path, engine, mode)
    query = f"SELECT l.n, r.n FROM lw AS l {kind} JOIN rw AS r ON l.k = r.k AND {SAME}"
    assert ("WindowJoin" in t_env.sql_query(query).explain()) == (mode == "STREAMING")
    assert rows(t_env, query) == sorted(expected(kind), key=repr)


@pytest.mark.parametrize(("engine", "mode"), CASES)
def test_rows_with_or_without_a_partner_in_their_window_are_chosen(tmp_path, engine, mode):
    t_env = tables(tmp_path, engine, mode)
    partners = f"SELECT 1 FROM rw AS r WHERE l.k = r.k AND {SAME}"
    found = rows(t_env, f"SELECT n FROM lw AS l WHERE EXISTS ({partners})")
    assert found == sorted({(a,) for a, _ in expected("INNER")})
    found = rows(t_env, f"SELECT n FROM lw AS l WHERE NOT EXISTS ({partners})")
    assert found == sorted((a,) for a, b in expected("LEFT") if b is None)


def test_the_rest_of_the_condition_and_windows_of_results_work(tmp_path):
    t_env = tables(tmp_path, "inline", "STREAMING")
    more = f"SELECT l.n, r.n FROM lw AS l LEFT JOIN rw AS r ON {SAME} AND l.n + r.n > 6"
    assert rows(t_env, more) == [(1, None), (2, None), (3, 4), (4, 3), (4, 4), (5, 5), (6, 1)]
    joined = f"SELECT l.n, l.window_start, l.window_end FROM lw AS l JOIN rw AS r ON l.k = r.k AND {SAME}"
    counts = f"SELECT window_end, COUNT(*) FROM ({joined}) GROUP BY window_start, window_end"
    assert len(t_env.sql_query(counts).explain()) > 0
    sums = (
        "SELECT k, window_start, window_end, SUM(n) AS s FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end"
    )
    query = f"SELECT l.s, r.s FROM ({sums.format('lefts')}) l JOIN ({sums.format('rights')}) r ON l.k = r.k AND {SAME}"
    assert "WindowJoin" in t_env.sql_query(query).explain()
    assert rows(t_env, query) == [(3, 3), (7, 1)]


def test_different_windows_are_joined_as_other_rows(tmp_path):
    t_env = tables(tmp_path, "inline", "STREAMING")
    other = "TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    query = f"SELECT l.n, r.n FROM lw AS l JOIN {other} AS r ON {SAME}"
    assert "WindowJoin" not in t_env.sql_query(query).explain()


def harness(join, **settings):
    return KeyedTwoInputHarness(
        lambda left, right: left.connect(right).key_by(lambda r: r[0], lambda r: r[0]).process(join), **settings
    )


def join(outer=(True, True), anti=None):
    settings: dict[str, Any] = {
        "ends": (1, 1),
        "event_time": True,
        "kinds": (False, False),
        "widths": (3, 3),
        "condition": None,
    }
    if anti is not None:
        return WindowSemiJoin(anti=anti, keys=1, **settings)
    return WindowJoin(outer=outer, keys=1, **settings)


def row(key, end, value):
    return (key, from_millis(end), value)


def test_state_ends_with_the_window_and_late_rows_are_dropped_and_counted():
    with harness(join()) as tested:
        tested.process_element1(row("a", 1000, 1), 10)
        tested.process_element1(row("a", 1000, 2), 20)
        tested.process_element2(row("a", 1000, 3), 30)
        tested.process_element2(row("b", 1000, 4), 30)
        tested.process_both_watermarks(998)
        assert tested.extract_output_values() == []
        assert tested.num_keyed_state_entries() > 0
        tested.process_both_watermarks(999)
        nothing = (None, None, None)
        assert sorted(tested.extract_output_values(), key=repr) == sorted(
            [
                row("a", 1000, 1) + row("a", 1000, 3),
                row("a", 1000, 2) + row("a", 1000, 3),
                nothing + row("b", 1000, 4),
            ],
            key=repr,
        )
        assert (tested.num_keyed_state_entries(), tested.num_event_time_timers()) == (0, 0)
        tested.process_element1(row("a", 1000, 9), 10)
        tested.end_input()
        assert len(tested.extract_output_values()) == 3
        assert tested.get_metrics()["numLateRecordsDropped"] == 1


@pytest.mark.parametrize(("parallelism", "restored"), [(1, 3), (4, 2)])
def test_an_open_window_is_restored_at_another_parallelism(parallelism, restored):
    keys = [f"k{i}" for i in range(20)]

    def built(count):
        return harness(join((True, False)), parallelism=count, max_parallelism=16)

    with built(parallelism) as before:
        for i, key in enumerate(keys):
            before.process_element1(row(key, 1000, i), 10)
        snapshot = before.snapshot()
    with built(restored) as after:
        after.initialize_state(snapshot)
        for key in keys[::2]:
            after.process_element2(row(key, 1000, -1), 20)
        after.process_both_watermarks(2000)
        found = {(values[2], values[5]) for values in after.extract_output_values()}
    assert found == {(i, None if i % 2 else -1) for i in range(20)}
