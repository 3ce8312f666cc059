"""A program has the same environment under ``flintstream run`` as under ``python``."""

from __future__ import annotations

import os
import py_compile
import re
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import flintstream

pytestmark = pytest.mark.slow

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1]), "PYTHONHASHSEED": "0"}
RUN = ("-m", "flintstream.cli", "run")


def python(*arguments, cwd, text=""):
    return subprocess.run(  # noqa: S603 - our own programs
        [sys.executable, *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        cwd=cwd,
        timeout=300,
    )


def both(*arguments, cwd, text=""):
    """Run a program in both ways; return both results."""
    plain = ["-m", *arguments[1:]] if arguments[0] == "-pym" else arguments
    with ThreadPoolExecutor() as pool:
        ways = [
            pool.submit(python, *plain, cwd=cwd, text=text),
            pool.submit(python, *RUN, *arguments, cwd=cwd, text=text),
        ]
        return [(done.returncode, done.stdout, done.stderr) for done in (way.result() for way in ways)]


# The output must not depend on addresses, nor on other imported modules.
REPORT = '''"""What this program is for."""
import builtins, dataclasses, gc, inspect, json, locale, logging, os, signal, sys, threading, typing, warnings

limit: int = 3

@dataclasses.dataclass
class Point:
    x: int
    y: "list[int]" = dataclasses.field(default_factory=list)

def area(a: int, b: float = 2.0) -> float:
    local: str = ""
    return a * b

class Rows(typing.NamedTuple):
    key: str

spec = __spec__ and (__spec__.name, __spec__.origin, __spec__.cached, __spec__.parent, type(__spec__.loader).__name__)
print(json.dumps(
    dict(
        names=list(globals()),
        main=[__name__, __file__, __doc__, __package__, __cached__, spec, type(__loader__).__name__, __debug__],
        is_main=sys.modules["__main__"].__dict__ is globals(),
        builtins=[type(__builtins__).__name__, __builtins__ is builtins, locals() is globals()],
        annotations=[repr(__annotations__), repr(inspect.signature(area)), repr(area.__annotations__)],
        fields=[repr(field.type) for field in dataclasses.fields(Point)],
        hints=[repr(typing.get_type_hints(of)) for of in (Point, area, Rows, sys.modules["__main__"])],
        source=[inspect.getsource(area), inspect.getsourcefile(Point), inspect.getfile(area)],
        flags=[repr(sys.flags), repr(sys.warnoptions), sys._xoptions, sys.dont_write_bytecode],
        path=sys.path,
        argv=sys.argv,
        executable=[sys.executable, sys.prefix],
        where=os.getcwd(),
        environment={name: value for name, value in os.environ.items() if name != "_"},
        warnings=repr(warnings.filters),
        signals=[repr(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)],
        hooks=[sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__,
               threading.excepthook is threading.__excepthook__, sys.gettrace(), sys.getprofile(),
               sys.unraisablehook is sys.__unraisablehook__, sys.breakpointhook is sys.__breakpointhook__],
        streams=[repr(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        same_streams=[sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__],
        logging=[repr(logging.root), repr(logging.root.handlers), logging.root.manager.disable],
        limits=[sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold(), gc.isenabled()],
        locale=locale.setlocale(locale.LC_ALL),
        threads=[thread.name for thread in threading.enumerate()],
        handled=repr(sys.exc_info()),
    ),
    indent=1,
))
'''


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The same program in every form."""
    top = tmp_path_factory.mktemp("programs")
    (top / "jobs").mkdir()
    (top / "jobs" / "report.py").write_text(REPORT)
    (top / "jobs" / "__init__.py").touch()
    (top / "link.py").symlink_to(Path("jobs") / "report.py")
    (top / "linked").symlink_to("jobs")
    (top / "directory").mkdir()
    (top / "directory" / "__main__.py").write_text(REPORT)
    with zipfile.ZipFile(top / "archive.zip", "w") as archive:
        archive.writestr("__main__.py", REPORT)
    py_compile.compile(str(top / "jobs" / "report.py"), cfile=str(top / "compiled.pyc"))
    (top / "with space.txt").write_text(REPORT)
    (top / "windows.py").write_bytes(b"\xef\xbb\xbf" + REPORT.replace("\n", "\r\n").encode())
    (top / "latin.py").write_bytes(
        b"# -*- coding: latin-1 -*-\n"
        + REPORT.replace("print(json", "Rows.__doc__ = 'Gr\xfc\xdfe'\nprint(json").encode("latin-1")
    )
    return top


@pytest.mark.parametrize(
    "arguments",
    [
        ["jobs/report.py", "-p", "3", "--help", "--", "x"],
        pytest.param(["./jobs/../jobs/report.py"], marks=pytest.mark.deep),
        pytest.param(["link.py", "a"], marks=pytest.mark.deep),
        ["linked/report.py"],
        pytest.param(["directory", "a"], marks=pytest.mark.deep),
        ["archive.zip", "--input", "x"],
        pytest.param(["compiled.pyc"], marks=pytest.mark.deep),
        pytest.param(["with space.txt"], marks=pytest.mark.deep),
        pytest.param(["windows.py"], marks=pytest.mark.deep),
        pytest.param(["latin.py"], marks=pytest.mark.deep),
        ["-pym", "jobs.report", "--input", "3"],
        pytest.param(["-pym", "directory"], marks=pytest.mark.deep),
    ],
    ids=lambda arguments: arguments[0] if len(arguments) == 1 else "-".join(arguments[:2]),
)
def test_a_program_finds_what_it_finds_under_python(programs, arguments):
    plain, ours = both(*arguments, cwd=programs)
    assert plain[0] == 0, plain
    assert ours == plain


def test_a_program_by_its_absolute_path_finds_the_same_from_any_directory(programs, tmp_path):
    plain, ours = both(str(programs / "jobs" / "report.py"), cwd=tmp_path)
    assert plain[0] == 0
    assert ours == plain


def test_the_installed_command_leaves_no_trace_on_the_search_path(programs):
    command = Path(sys.executable).with_name("flintstream")
    if not command.exists():
        pytest.skip("the command is not installed beside this Python")
    done = python(str(command), "run", "jobs/report.py", cwd=programs)
    assert (done.returncode, done.stdout, done.stderr) == both("jobs/report.py", cwd=programs)[0]


def test_without_a_directory_on_the_search_path_there_is_none(programs):
    plain = python("-P", "jobs/report.py", cwd=programs)
    ours = python("-P", *RUN, "jobs/report.py", cwd=programs)
    assert ours.stdout == plain.stdout


ENDINGS = {
    "nothing": "print('x')",
    "exit": "import sys; sys.exit()",
    "exit 0": "import sys; sys.exit(0)",
    "exit 3": "import sys; sys.exit(3)",
    "exit text": "import sys; sys.exit('what is wrong')",
    "exit tuple": "import sys; sys.exit((1, 2))",
    "exit of a class": "raise SystemExit",
    "exit at once": "import os; print('lost'); os._exit(4)",
    "exit in a thread": "import threading, sys; threading.Thread(target=lambda: sys.exit(5)).start()",
    "signal": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "exception": "def f(n):\n    return 1 / n\n\nf(0)",
    "cause": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('b') from error",
    "context": "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('b')",
    "suppressed": "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('b') from None",
    "note": "error = ValueError('a')\nerror.add_note('look here')\nraise error",
    "group": "raise ExceptionGroup('several', [ValueError('a'), KeyError('b')])",
    "own BaseException": "class Stop(BaseException):\n    pass\nraise Stop('now')",
    "cancelled": "import asyncio\nraise asyncio.CancelledError",
    "generator": "raise GeneratorExit",
    "name": "count = 1\nprint(cuont)",
    "attribute": "import collections\ncollections.defaultdcit()",
    "import": "from collections import OrderedDcit",
    "forgotten import": "print(math.pi)",
    "missing module": "import nothing_of_this_name",
    "syntax": "print('never')\nx = = 1",
    "indentation": "if True:\nx = 1",
    "click": "import click\nprint(click.get_current_context(silent=True))\nraise click.ClickException('a')",
    "broken pipe": "raise BrokenPipeError(32, 'a')",
    "hook": "import sys\nsys.excepthook = lambda *about: print(about[:2], about[2].tb_lineno)\n1 / 0",
    "warning": "import warnings\nwarnings.warn('old', DeprecationWarning)",
    "unclosed": "import warnings\nwarnings.simplefilter('always')\nopen(__file__)",
    "at exit": (
        "import atexit, threading, time\n"
        "atexit.register(print, 'first registered')\natexit.register(print, 'last registered')\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()\n"
        "print('no newline', end='')"
    ),
    "at exit of a failure": (
        "import atexit, threading, time\natexit.register(print, 'at exit')\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()\n1 / 0"
    ),
    "pool": (
        "from concurrent.futures import ThreadPoolExecutor\nimport time\n"
        "ThreadPoolExecutor(2).submit(lambda: (time.sleep(0.2), print('done')))"
    ),
    "daemon": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "failure in a thread": "import threading\nthreading.Thread(target=lambda: 1 / 0, name='mine').start()",
    "failure at exit": "import atexit\n\n@atexit.register\ndef fail():\n    1 / 0",
    "fork": "import os, sys\nif os.fork() == 0:\n    sys.exit(6)\nprint(os.wait()[1])",
    "finalizer": "class A:\n    def __del__(self):\n        print('gone')\na = A()",
    "standard input": "print(input(), input())",
    "trace": (
        "import sys\nlines = []\n"
        "def trace(frame, event, argument):\n    lines.append((frame.f_code.co_name, event))\n    return trace\n"
        "def f():\n    return 1\n\nsys.settrace(trace)\nf()\nprint(lines, sys.gettrace() is trace)"
    ),
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A, A.__module__)",
    "asyncio": "import asyncio\nasync def f():\n    print('in')\nasyncio.run(f())",
    "processes": (
        "import multiprocessing as m, sys\nimport pickle\n"
        "def f(n):\n    return n, __name__, __file__, sys.argv, sys.path\n\n"
        "if __name__ == '__main__':\n    for way in ('fork', 'spawn', 'forkserver'):\n"
        "        with m.get_context(way).Pool(1) as pool:\n            print(pool.map(f, [1]))"
    ),
    "child fails": (
        "import multiprocessing as m\ndef f():\n    raise SystemExit(7)\n"
        "if __name__ == '__main__':\n    p = m.get_context('spawn').Process(target=f)\n    p.start()\n    p.join()\n"
        "    print(p.exitcode)"
    ),
}


USUAL_ENDINGS = ("nothing", "exit 3", "cause", "syntax", "at exit", "signal", "standard input")


@pytest.mark.parametrize("names", [USUAL_ENDINGS, pytest.param(ENDINGS, marks=pytest.mark.deep)], ids=["usual", "all"])
def test_a_program_ends_as_under_python(tmp_path, names):
    assert len(ENDINGS) > 40

    def differs(name):
        script = tmp_path / name.replace(" ", "_") / "job.py"
        script.parent.mkdir()
        content = ENDINGS[name]
        script.write_text(content)
        plain, ours = both("job.py", "x", cwd=script.parent, text="first\nsecond\n")
        plain, ours = ([re.sub("0x[0-9a-f]+", "0x", str(part)) for part in way] for way in (plain, ours))
        return None if plain == ours else (name, plain, ours)

    with ThreadPoolExecutor(2) as pool:
        different = [item for item in pool.map(differs, names) if item is not None]
    assert different == []


@pytest.mark.parametrize("content", [b"x = '\xff'", b"# coding: nothing\nx = 1"])
def test_a_program_that_cannot_be_read_is_a_syntax_error(tmp_path, content):
    (tmp_path / "job.py").write_bytes(content)
    plain, ours = both("job.py", cwd=tmp_path)
    assert (ours[0], ours[1]) == (plain[0], plain[1]) == (1, "")
    assert "SyntaxError" in ours[2]
    assert "Traceback" not in ours[2]


CHILDREN = """
import multiprocessing
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

def work(n):
    import pyflink.common
    environment = StreamExecutionEnvironment.get_execution_environment()
    return n, pyflink.common.Types.__module__, environment.get_parallelism()

if __name__ == "__main__":
    for way in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(1) as pool:
            print(pool.map(work, [1]))
"""


def test_child_processes_of_any_kind_have_pyflink_and_the_options(tmp_path):
    (tmp_path / "job.py").write_text(CHILDREN)
    for program in (["job.py"], ["-pym", "job"]):
        done = python(*RUN, "-p", "3", *program, cwd=tmp_path)
        assert (done.stdout, done.stderr) == ("[(1, 'flintstream.common.typeinfo', 3)]\n" * 3, "")


def test_child_processes_of_a_program_that_calls_install_have_pyflink(tmp_path):
    guarded = 'if __name__ == "__main__":\n    from flintstream.compat.pyflink import install\n    install()\n'
    text = CHILDREN.replace("import Types\n", "import Types\n", 1)
    head, _, rest = text.partition("from pyflink.common")
    (tmp_path / "job.py").write_text(f"{head}{guarded}from pyflink.common{rest}")
    done = python("job.py", cwd=tmp_path)
    assert (done.stdout.count("flintstream.common"), done.stderr) == (3, "")


def test_frames_that_are_not_the_programs_are_left_out_and_a_line_says_so(tmp_path):
    (tmp_path / "job.py").write_text("from pyflink.common import Duration\n\nDuration.parse('ten seconds')\n")
    done = python(*RUN, "job.py", cwd=tmp_path)
    assert done.stderr.splitlines()[:3] == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path}/job.py", line 3, in <module>',
        "    Duration.parse('ten seconds')",
    ]
    assert done.stderr.count("  File ") == 1
    assert done.stderr.endswith("\n(run with --verbose for the full traceback)\n")


def test_a_debugger_stops_in_the_program_and_at_its_failure(tmp_path):
    (tmp_path / "job.py").write_text("def half(n):\n    return n / 0\n\nhalf(4)\n")
    commands = f"break {tmp_path}/job.py:2\ncontinue\nprint('n is', n)\ncontinue\nprint('at', n)\nquit\n"
    done = python("-m", "pdb", *RUN, "job.py", cwd=tmp_path, text=commands)
    assert "n is 4" in done.stdout
    assert "Uncaught exception. Entering post mortem debugging" in done.stdout
    assert "at 4" in done.stdout


def test_the_lines_of_the_program_are_counted_by_who_traces_it(tmp_path):
    (tmp_path / "job.py").write_text("for n in range(3):\n    print(n)\n")
    done = python("-m", "trace", "--count", "--missing", "-C", "counts", "--module", *RUN[1:], "job.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    counted = (tmp_path / "counts" / "job.cover").read_text()
    assert "    3:     print(n)" in counted


def test_after_the_program_python_can_be_asked(tmp_path):
    (tmp_path / "job.py").write_text("answer = 42\n1 / 0\n")
    done = python(
        "-i",
        *RUN,
        "job.py",
        cwd=tmp_path,
        text="import sys; print('last', sys.last_value, sys.modules['__main__'].answer)\n",
    )
    assert "last division by zero 42" in done.stdout


def test_ctrl_c_ends_with_130_also_while_threads_run(tmp_path):
    (tmp_path / "job.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, *RUN, "job.py"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=tmp_path
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
