"""What a program has built and not executed."""

from __future__ import annotations

import gc

import pytest

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.options import command_line
from flintstream.options.command_line import MOST, note_executed, steps_not_executed, without_sink

SHOWN = "Print to Std. Out"


@pytest.fixture(autouse=True)
def nothing(monkeypatch):
    gc.collect()
    for name in ("_unexecuted", "_lost", "_without_sink"):
        monkeypatch.setattr(command_line, name, type(getattr(command_line, name))())


def environment(*, prints=True):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    stream = env.from_collection([1]).map(lambda n: n).name("same")
    if prints:
        stream.print()
    return env


def test_steps_of_an_environment_that_is_gone_are_still_named():
    env = environment()
    assert steps_not_executed() == [SHOWN]
    del env
    gc.collect()
    assert steps_not_executed() == [SHOWN]


def test_environments_without_end_take_no_memory():
    for _ in range(3 * MOST):
        environment()
    gc.collect()
    assert steps_not_executed() == [SHOWN] * MOST
    assert not command_line._unexecuted


def test_an_environment_that_has_executed_its_steps_leaves_no_note(capsys):
    env = environment()
    for _ in range(3):
        env.execute()
        env.from_collection([2]).print()
    env.execute()
    del env
    gc.collect()
    assert steps_not_executed() == []
    assert capsys.readouterr().out


def test_the_names_of_jobs_without_a_sink_are_limited_too():
    env = environment(prints=False)
    for number in range(3 * MOST):
        note_executed(env, str(number), has_sink=False)
    assert without_sink() == [str(number) for number in range(MOST)]
