"""A worker's ``__main__`` has the definitions of the program's."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import ModuleType

import pytest

from flintstream.common._user_code import by_value
from flintstream.runtime import main_module
from flintstream.runtime.main_module import MainModule

PROGRAM = '''
"""A program."""
import functools, json, os, pickle, threading

COUNT = 3
NAMES = {"a": [1, 2]}
loaded = []

class Reading:
    def __init__(self, value):
        self.value = value
    def __getstate__(self):
        loaded.append("pickled")
        return self.__dict__
    class Inner:
        pass

class OfAReading:
    def get(self):
        return json.dumps(COUNT)

reading = Reading(1)
lock = threading.Lock()

@functools.lru_cache
def cached(n):
    return n * COUNT

def locked():
    return lock

def _private():
    return helper(1)

def helper(n):
    return n + COUNT

big = "x" * (2 << 20)
'''


@pytest.fixture
def program(monkeypatch, tmp_path):
    """A module that is ``__main__`` while it is described."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    module = ModuleType("__main__")
    module.__file__ = str(path)
    exec(compile(PROGRAM, str(path), "exec"), module.__dict__)  # noqa: S102 - a program of ours
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def in_worker(described, code):
    """Run code in a process that has entered the description; return what it prints."""
    work = f"import pickle, sys\npickle.loads({pickle.dumps(described)!r}).enter()\n{code}"
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("import __main__; print(__main__.COUNT, __main__.NAMES['a'])", "3 [1, 2]"),
        ("from __main__ import cached, helper; print(cached(2), helper(1))", "6 4"),
        ("import __main__; print(__main__._private())", "4"),
        (
            "import __main__, os; print(__main__.os is os, __main__.__doc__, __main__.__name__)",
            "True A program. __main__",
        ),
        ("import __main__, os; print(os.path.basename(__main__.__file__))", "program.py"),
        ("import __main__; print(__main__.Reading is __main__.Reading, 'Reading' in dir(__main__))", "True True"),
        ("import __main__; print(pickle.loads(pickle.dumps(__main__.OfAReading())).get())", "3"),
        (
            "import __main__; print(pickle.loads(pickle.dumps(__main__.Reading.Inner)))",
            "<class '__main__.Reading.Inner'>",
        ),
        ("import __main__; print(hasattr(__main__, 'nothing'))", "False"),
        ("from __main__ import nothing", "ImportError: cannot import name 'nothing' from '__main__'"),
        ("pickle.loads(b'c__main__\\nlock\\n.')", "the workers do not have 'lock' of the program"),
        ("pickle.loads(b'c__main__\\nlocked\\n.')", "cannot pickle '_thread.lock' object"),
        ("pickle.loads(b'c__main__\\nreading\\n.')", "objects of the class Reading are sent with the functions"),
        ("pickle.loads(b'c__main__\\nbig\\n.')", "more than 1 MB"),
    ],
)
def test_what_a_worker_finds(program, code, shown):
    assert shown in in_worker(MainModule.of(program), code)


def test_a_class_of_a_pickle_by_name_is_that_of_the_functions(program):
    described = MainModule.of(program)
    function = by_value.dumps(eval("lambda made: isinstance(made, Reading)", program.__dict__))  # noqa: S307
    data = pickle.dumps(program.reading)
    assert in_worker(described, f"print(pickle.loads({function!r})(pickle.loads({data!r})))") == "True"


def test_objects_of_the_program_are_not_asked_for_their_state(program):
    MainModule.of(program)
    assert program.loaded == []


def test_a_function_with_much_data_is_not_sent(program, monkeypatch):
    monkeypatch.setattr(main_module, "LIMIT", 1 << 20)
    exec("def large(): return big", program.__dict__)  # noqa: S102
    described = MainModule.of(program)
    assert "more than 1 MB" in described.absent["large"]
    assert "helper" in described.pickled


def test_a_later_job_brings_what_was_defined_since(program):
    first = MainModule.of(program)
    program.COUNT = 4
    second = MainModule.of(program)
    code = f"import __main__; print(__main__.COUNT); pickle.loads({pickle.dumps(second)!r}).enter()\n"
    assert in_worker(first, code + "import __main__; print(__main__.COUNT)") == "3\n4"
