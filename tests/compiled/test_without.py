"""Programs run without the compiled modules, and a variable leaves them out."""

from __future__ import annotations

import os
import subprocess
import sys

from flintstream.compiled import PURE_PYTHON

PROGRAM = """
from flintstream.compiled import load
from flintstream.common import Types
from flintstream.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
words = env.from_collection("to be or not to be".split(), Types.STRING())
counts = words.map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.LONG()])).key_by(lambda pair: pair[0])
with counts.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect() as found:
    print(sorted(found), [load(name) is None for name in ("exchange", "keyed", "rows", "windows")])
"""

COUNTS = [("be", 1), ("be", 2), ("not", 1), ("or", 1), ("to", 1), ("to", 2)]


def test_a_program_runs_without_compiled_modules():
    environment = {**os.environ, PURE_PYTHON: "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == f"{COUNTS} {[True] * 4}\n"
