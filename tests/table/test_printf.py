"""PRINTF writes what Java's formatter writes: patterns by types by values, recorded from PyFlink 2.3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sqlglot", reason="the extra 'table' is not installed: make setup")

from flintstream.table import EnvironmentSettings, TableEnvironment
from flintstream.table._expressions.printf import printf

RECORDED = json.loads((Path(__file__).parent / "printf.json").read_text())
YEARS = {"9223372036854775807", "-9223372036854775808"}
"""Times with years that Python does not have; their parts are NULL."""


@pytest.fixture(scope="module")
def t_env():
    t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    t_env.get_config().set("flintstream.engine", "inline").set("parallelism.default", "1")
    return t_env


def literal(value, kind):
    text = "NULL" if value == "NULL" else "'" + value.replace("'", "''") + "'"
    return f"CAST({text} AS {kind})"


@pytest.mark.parametrize("kind", RECORDED["results"])
def test_every_pattern_gives_the_text_that_java_gives(t_env, kind):
    patterns, lines = RECORDED["patterns"], RECORDED["results"][kind]
    rows = ", ".join(f"({i}, {literal(line[0], kind)})" for i, line in enumerate(lines))
    columns = ", ".join(f"PRINTF('{pattern}', v)" for pattern in patterns)
    with t_env.execute_sql(f"SELECT i, {columns} FROM (VALUES {rows}) AS t (i, v)").collect() as found:
        texts = {row[0]: list(row)[1:] for row in found}
    differences = [
        (line[0], pattern, wanted, text)
        for i, line in enumerate(lines)
        for pattern, wanted, text in zip(patterns, line[1:], texts[i], strict=True)
        if text != wanted and not (line[0] in YEARS and pattern[:2] == "%t")
    ]
    assert differences == []


@given(
    st.text("-#+ 0,(<", max_size=3),
    st.none() | st.integers(0, 30),
    st.none() | st.integers(0, 30),
    st.sampled_from("dxocbhsefgaDXCBHSEGA%nti"),
    st.one_of(st.none(), st.booleans(), st.integers(-(1 << 31), (1 << 31) - 1), st.floats(), st.text(max_size=5)),
)
def test_no_pattern_fails_a_job(flags, width, digits, letter, value):
    pattern = f"%{flags}{'' if width is None else width}{'' if digits is None else f'.{digits}'}{letter}"
    size = 64 if isinstance(value, float) else 32 if isinstance(value, int) else 0
    text = printf((size, 64), pattern, value, 1.5)
    assert text is None or len(text) >= (width or 0) - sum(character > "\uffff" for character in text)
