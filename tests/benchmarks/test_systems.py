from __future__ import annotations

import sys
from contextlib import closing

import pytest
from benchmarks.engines import ENGINES
from benchmarks.process import RunError
from benchmarks.systems import __main__ as systems
from benchmarks.systems import run_bare
from tests.connectors.guarantees.systems import KinesisStream


def test_each_case_has_a_bare_program():
    assert set(run_bare.PROGRAMS) == set(systems.CASES)


@pytest.mark.server
@pytest.mark.parametrize("case", ["kinesis-write", "kinesis-read"])
def test_a_run_counts_only_if_the_server_or_the_files_have_all_records(case, tmp_path, monkeypatch):
    with closing(KinesisStream(tmp_path)) as system:
        cost = systems.run_once(case, system, ENGINES["bare"], 400, sys.executable, 100)
        assert cost.seconds > 0
        monkeypatch.setattr(system, "texts", lambda: ["0 0"])
        monkeypatch.setattr(systems, "written_lines", lambda run: ["0 0"])
        with pytest.raises(RunError, match="wrong results of 400 records"):
            systems.run_once(case, system, ENGINES["bare"], 400, sys.executable, 100)
