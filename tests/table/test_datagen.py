"""Generated rows: nested values, lengths and NULL."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table._errors import SqlError


def made(t_env, columns, *options):
    more = "".join(f", {option}" for option in options)
    t_env.execute_sql(f"CREATE TABLE g ({columns}) WITH ('connector' = 'datagen', 'number-of-rows' = '40'{more})")
    with t_env.from_path("g").execute().collect() as rows:
        found = [tuple(row) for row in rows]
    assert len(found) == 40
    return found


def test_nested_values_follow_the_options_of_their_parts(t_env):
    columns = "r ROW<a INT, b STRING>, l ARRAY<INT>, m MAP<STRING, BIGINT>, t TIME, b BYTES, c CHAR(3)"
    options = [
        "'fields.r.a.min' = '5', 'fields.r.a.max' = '6', 'fields.r.b.length' = '2', 'fields.l.length' = '4'",
        "'fields.l.element.min' = '1', 'fields.l.element.max' = '1', 'fields.m.key.length' = '9'",
    ]
    for r, l, m, clock, b, c in made(t_env, columns, *options):  # noqa: E741 - the column
        assert r[0] in {5, 6}
        assert len(r[1]) == 2
        assert l == [1, 1, 1, 1]
        assert len(m) == 3
        assert all(len(key) == 9 for key in m)
        assert clock.microsecond == 0
        assert (len(b), len(c)) == (100, 3)


def test_lengths_vary_on_demand(t_env):
    lengths = {len(row[0]) for row in made(t_env, "s STRING", "'fields.s.length' = '50', 'fields.s.var-len' = 'true'")}
    assert len(lengths) > 3
    assert max(lengths) <= 50


def test_parts_of_rows_are_null_at_their_rate(t_env):
    found = [row[0][0] for row in made(t_env, "r ROW<a INT>", "'fields.r.a.null-rate' = '0.5'")]
    assert 0 < found.count(None) < 40


def test_a_part_that_no_row_has_is_refused(t_env):
    with pytest.raises(SqlError, match=r"table 'g': .*did you mean 'fields\.r\.a\.min'"):
        made(t_env, "r ROW<a INT>", "'fields.r.aa.min' = '5'")


def test_decimals_have_any_precision(t_env):
    assert all(-row[0].as_tuple().exponent == 2 for row in made(t_env, "d DECIMAL(38, 2)"))
