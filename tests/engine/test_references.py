"""Functions and objects that a program refers to by name, in the tasks of its job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import flintstream
from flintstream.errors import UserCodeError, notes

SCRIPTS = Path(__file__).parents[1] / "conformance" / "scripts"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])}

PROGRAM = """
import functools, pickle
from pyflink.datastream import StreamExecutionEnvironment

@functools.lru_cache
def cached(x):
    return x * 10

class Reading:
    def __init__(self, value):
        self.value = value

env = StreamExecutionEnvironment.get_execution_environment()
readings = env.from_collection([1, 2]).map(cached).map(lambda x: pickle.dumps(Reading(x)))
print(sorted(readings.map(lambda data: pickle.loads(data).value).execute_and_collect()))
"""


def printed(*command, given=None, cwd=None):
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, *command], input=given, cwd=cwd, capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


MORE = {"cachedprop", "dataclass", "lru_local", "singledispatch"}
"""Cases that PyFlink cannot pickle, or pickles without the fields of a data class."""


@pytest.mark.spark
def test_a_script_finds_what_it_defines_as_on_pyflink():
    recorded = json.loads((SCRIPTS / "references.json").read_text(encoding="utf-8"))["process"]
    works = {name: told for name, told in recorded.items() if "ok" in told}
    names = sorted({*works, *MORE})
    told = json.loads(printed("-m", "flintstream.cli", "run", str(SCRIPTS / "references.py"), "process", *names))
    assert len(works) > 35
    for name in works.keys() - MORE:
        theirs = {"ok": sorted(works[name]["ok"]), "at_build": works[name]["at_build"]}
        assert {**told["cases"][name], "ok": sorted(told["cases"][name]["ok"])} == theirs, name
    assert all(len(told["cases"][name]["ok"]) == 3 for name in MORE)
    assert told["taken_later"] == 0


@pytest.mark.deep
@pytest.mark.spark
def test_a_program_that_is_run_as_a_module(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "job.py").write_text(PROGRAM)
    assert printed("-m", "flintstream.cli", "run", "-pym", "package.job", cwd=tmp_path) == "[10, 20]"


@pytest.mark.deep
@pytest.mark.spark
def test_a_program_that_is_typed_in():
    installed = "from flintstream.compat.pyflink import install; install()"
    assert printed("-", given=installed + PROGRAM) == "[10, 20]"


class _Unloadable:
    def __call__(self, value, *others):
        return value

    def __getstate__(self):
        return {"one": 1}

    def __setstate__(self, state):
        raise RuntimeError("cannot be loaded")


@pytest.mark.parametrize(
    ("step", "where"),
    [
        (lambda ds: ds.map(_Unloadable()).name("score"), "operator 'score', subtask 1"),
        (lambda ds: ds.key_by(_Unloadable()).map(lambda x: x), "operator 'Collection Source -> key_by', subtask 1"),
        (lambda ds: ds.partition_custom(_Unloadable(), lambda x: x), "operator 'Collection Source', subtask 1"),
    ],
    ids=["a function", "a key selector", "a partitioner"],
)
def test_what_a_task_cannot_load_is_named(make_env, step, where):
    env = make_env()
    step(env.from_collection([1])).print()
    with pytest.raises(RuntimeError, match="cannot be loaded") as failure:
        env.execute()
    assert isinstance(failure.value.__cause__, UserCodeError)
    assert str(failure.value.__cause__).splitlines()[0] == where
    assert "raised when a task unpickled an object of the class _Unloadable" in notes(failure.value)


def test_state_is_taken_once_for_each_step(make_inline_env):
    taken = []

    class Selector:
        def __call__(self, value):
            return value

        def __reduce__(self):
            taken.append("taken")
            return Selector, ()

    env = make_inline_env()
    env.from_collection([1, 2]).key_by(Selector()).map(lambda x: x).key_by(lambda x: x).map(Selector()).print()
    env.execute()
    assert taken == ["taken", "taken"]


def test_data_that_changes_between_steps_is_as_it_was_then(make_inline_env):
    env = make_inline_env()
    stream = env.from_collection([0])
    for offset in (1, 10, 100):
        stream = stream.map(lambda x: x + offset)  # noqa: B023 - the loop's variable is the point
    assert list(stream.execute_and_collect()) == [111]
