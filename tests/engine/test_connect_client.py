"""A client that has only ``pyspark-client`` and no Java, and a server that has only PySpark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.connect_server import TOKEN, running_server
from tests.versions.environments import NoEnvironmentError, environment, python_of

ROOT = Path(__file__).parents[2]
SPARK = "4.2"
PROGRAM = """
from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        n = (self.count.value() or 0) + 1
        self.count.update(n)
        yield ctx.get_current_key(), n


env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(["to", "be", "or", "not", "to", "be"]).key_by(lambda word: word).process(Count()).print()
env.execute()
"""


def client(directory):
    """Return the command ``flintstream`` of a new environment without the classic PySpark."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    connect = re.search(r"^connect = \[(.*)\]", text, re.MULTILINE)
    needed = [name for part in (listed, connect) if part for name in re.findall(r'"(.+?)"', part[1])]
    needed = [name for name in needed if not name.startswith("pyspark")]
    subprocess.run([python_of(SPARK), "-m", "venv", directory], check=True)  # noqa: S603 - a command of our own
    pip = [directory / "bin" / "python", "-m", "pip", "install", "--quiet"]
    for arguments in ([f"pyspark-client=={SPARK}.*", *needed], ["--no-deps", ROOT]):
        done = subprocess.run([*pip, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            pytest.skip(f"the client's packages cannot be installed: {done.stderr[-300:]}")
    return directory / "bin" / "flintstream"


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_a_job_runs_with_the_client_alone_and_without_java(tmp_path):
    try:
        server_python = environment(SPARK)
    except (NoEnvironmentError, TimeoutError) as error:
        pytest.skip(str(error))
    command = client(tmp_path / "client")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "env").symlink_to(shutil.which("env"))
    (tmp_path / "job.py").write_text(PROGRAM)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAVA", "PYSPARK", "SPARK"))}

    with running_server(str(server_python)) as server:
        done = subprocess.run(  # noqa: S603
            [command, "run", "--master", server.address, "-p", "1", "job.py"],
            env={**kept, "PATH": str(tools), TOKEN: server.token},
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["('to', 1)", "('be', 1)", "('or', 1)", "('not', 1)", "('to', 2)", "('be', 2)"]
