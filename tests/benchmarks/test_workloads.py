from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from benchmarks.__main__ import ABLE
from benchmarks.workload import Run, line
from benchmarks.workloads import WORKLOADS
from tests.conformance.ours import alias

from flintstream.common import Configuration
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "workloads"


def module_of(run, engine):
    return importlib.import_module(f"benchmarks.workloads.{run.package}.{engine}")


def bare_lines(run):
    return sorted(line(values) for number in range(2) for values in module_of(run, "bare").subtask(number, run))


def inline_lines(run):
    with alias():
        env = StreamExecutionEnvironment.get_execution_environment(
            Configuration().set_string("flintstream.engine", "inline")
        )
        env.set_parallelism(2)
        sink = CollectSink()
        module_of(run, "pyflink").build(env, run).add_sink(sink)
        env.execute(run.package)
    return sorted(line(tuple(values)) for values in sink.get_results(is_python_object=True, stringify=False))


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_program_and_the_bare_loop_give_the_same_results(name, tmp_path):
    workload = WORKLOADS[name]
    run = Run(workload.package, 50_000, str(tmp_path), workload.settings)
    prepare = getattr(importlib.import_module(f"benchmarks.workloads.{run.package}"), "prepare", None)
    if prepare is not None:
        prepare(run)
    expected = bare_lines(run)
    assert len(expected) > 100
    assert inline_lines(run) == expected


def test_engines_without_a_workload_are_not_among_those_that_are_measured():
    assert {"pathway", "bytewax", "flintstream"} <= set(ABLE)
    assert "quix" not in ABLE


def test_programs_import_pyflink_and_nothing_of_flintstream():
    programs = list(PROGRAMS.glob("*/pyflink.py"))
    assert len(programs) == len({workload.package for workload in WORKLOADS.values()})
    for program in programs:
        text = program.read_text()
        assert "pyflink" in text
        assert "flintstream import" not in text
        assert "import flintstream" not in text
