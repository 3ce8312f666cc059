"""A process that a user's function forks, and that returns from the function, ends there."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.waiting import wait_for

from flintstream.common import Time, Types, WatermarkStrategy
from flintstream.connectors.sink import (
    Sink,
    SinkWriter,
    TwoPhaseCommitter,
    TwoPhaseCommittingSink,
    TwoPhaseWriter,
)
from flintstream.connectors.source import Source, SourceReader, SourceSplit, SplitEnumerator
from flintstream.datastream import AsyncDataStream
from flintstream.datastream.functions import AsyncFunction, KeyedProcessFunction, MapFunction, SourceFunction
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.testing import CollectSink

RECORDS = 30
SETTINGS = {"flintstream.epoch.max-duration": "50", "flintstream.epoch.idle-duration": "50"}


class Forks:
    """Forks at some calls; the ids of the new processes are the names of files."""

    def __init__(self, directory, ending="return", every=10):
        self.directory = str(directory)
        self.ending = ending
        self.every = every
        self.calls = 0
        Path(directory).mkdir(exist_ok=True)

    def __call__(self):
        self.calls += 1
        if self.calls % self.every != self.every // 2:
            return
        pid = os.fork()
        if pid:
            Path(self.directory, str(pid)).touch()
            return
        if self.ending == "raise":
            raise ValueError("from the child")
        if self.ending == "exit":
            sys.exit(3)
        if self.ending == "os._exit":
            os._exit(0)

    def check(self, least=1):
        """Check that there were children, and that all of them end."""
        pids = [int(path.name) for path in Path(self.directory).iterdir()]
        assert len(pids) >= least
        wait_for(lambda: [pid for pid in pids if runs(pid)], until=lambda left: not left)


def runs(pid):
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


class Sums(KeyedProcessFunction):
    def __init__(self, forks=lambda: None):
        self.forks = forks

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value)
        self.forks()
        yield value, self.sum.value()


class Lines(Sink):
    """Append records to a file at once, so that each one shows that was written."""

    def __init__(self, path):
        self.path = str(path)

    def create_writer(self, context):
        return LineWriter(self.path)

    def create_committer(self):
        return None


class LineWriter(SinkWriter):
    def __init__(self, path):
        self.path = path

    def write(self, values, timestamps):
        with Path(self.path).open("a") as file:
            file.write("".join(f"{value}\n" for value in values))

    def prepare_commit(self, *, end_of_input, checkpoint=True):
        return ()


def numbers(env, pause=0.002):
    return env.from_source(PacedSource(RECORDS, pause), WatermarkStrategy.no_watermarks(), "numbers")


def sums(env, path, forks=lambda: None):
    numbers(env).key_by(lambda n: n % 3).process(Sums(forks)).sink_to(Lines(path))
    env.execute("sums")
    return sorted(map(eval, Path(path).read_text().splitlines()))


EXPECTED = sorted((n, sum(range(n % 3, n + 1, 3))) for n in range(RECORDS))


@pytest.mark.on_spark
@pytest.mark.parametrize("ending", ["return", "raise", "exit", "os._exit"])
def test_a_fork_of_a_keyed_function_processes_nothing(make_env, ending, tmp_path):
    forks = Forks(tmp_path / "forks", ending)
    assert sums(make_env(2, SETTINGS), tmp_path / "lines", forks) == EXPECTED
    forks.check(2)
    for attempt in range(3):  # in the processes of the first job
        assert sums(make_env(2, SETTINGS), tmp_path / f"later-{attempt}") == EXPECTED


class Calling(MapFunction):
    def __init__(self, forks):
        self.forks = forks

    def map(self, value):
        self.forks()
        return value


@pytest.mark.on_spark
def test_a_fork_before_a_sink_in_the_same_chain_writes_nothing(make_env, tmp_path):
    forks = Forks(tmp_path / "forks")
    env = make_env(1, SETTINGS)
    numbers(env).map(Calling(forks)).sink_to(Lines(tmp_path / "lines"))
    env.execute("sinks")
    assert sorted(map(int, (tmp_path / "lines").read_text().split())) == list(range(RECORDS))
    forks.check(2)


def test_the_exit_status_of_a_fork_is_the_one_it_asked_for(make_inline_env, tmp_path):
    class Waiting(MapFunction):
        def map(self, value):
            pid = os.fork()
            if not pid:
                sys.exit({0: None, 1: 7, 2: "no number"}[value])
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    sink = CollectSink()
    env = make_inline_env(1)
    env.from_collection([0, 1, 2]).map(Waiting()).sink_to(sink)
    env.execute()
    assert sink.get_results(True, False) == [0, 7, 1]


def double(number, connection):
    connection.send(2 * number)


@pytest.mark.on_spark
def test_processes_of_multiprocessing_work_as_ever(make_env):
    def doubled(number):
        receiving, sending = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(target=double, args=(number, sending))
        process.start()
        found = receiving.recv()
        process.join()
        return found

    sink = CollectSink()
    env = make_env(1)
    env.from_collection([1, 2, 3]).map(doubled).sink_to(sink)
    env.execute()
    assert sink.get_results(True, False) == [2, 4, 6]


# -- other places of user code -----------------------------------------------------------------------------------------


class Pushing(SourceFunction):
    def __init__(self, forks):
        self.forks = forks
        self.cancelled = False

    def run(self, ctx):
        for number in range(RECORDS):
            if self.cancelled:
                return
            self.forks()
            ctx.collect(number)

    def cancel(self):
        self.cancelled = True


class Asking(AsyncFunction):
    def __init__(self, forks):
        self.forks = forks

    async def async_invoke(self, value):
        self.forks()
        return [value]

    def timeout(self, value):
        return []


class Splits(Source):
    def __init__(self, forks):
        self.forks = forks

    def create_enumerator(self, parallelism):
        return Enumerator(self.forks)

    def create_reader(self):
        return Reader()


class Enumerator(SplitEnumerator):
    def __init__(self, forks):
        self.forks = forks
        self.left = list(range(RECORDS))

    def discover(self):
        self.forks()
        return [SourceSplit(str(self.left.pop())) for _ in range(min(1, len(self.left)))]

    def is_finished(self):
        return not self.left


class Reader(SourceReader):
    def read(self, split, fetch):
        if not getattr(split, "read", False):  # the epoch may end after the record
            split.read = True
            yield [int(split.split_id)]
        return True


class Transactions(TwoPhaseCommittingSink):
    def __init__(self, path, forks):
        self.path = str(path)
        self.forks = forks

    def create_writer(self, context):
        return TransactionWriter()

    def create_committer(self):
        return TransactionCommitter(self)


class TransactionWriter(TwoPhaseWriter):
    def __init__(self):
        self.rows = []

    def write(self, values, timestamps):
        self.rows += values

    def precommit(self):
        rows, self.rows = self.rows, []
        return rows


class TransactionCommitter(TwoPhaseCommitter):
    def __init__(self, sink):
        self.sink = sink

    def commit_one(self, transaction):
        self.sink.forks()
        with Path(self.sink.path).open("a") as file:
            file.write(f"{transaction}\n")


def of_source_function(env, forks, path):
    env.add_source(Pushing(forks), "pushing").sink_to(Lines(path))


def of_async_function(env, forks, path):
    AsyncDataStream.ordered_wait(numbers(env, 0), Asking(forks), Time.seconds(300)).sink_to(Lines(path))


def of_enumerator(env, forks, path):
    env.from_source(Splits(forks), WatermarkStrategy.no_watermarks(), "splits").sink_to(Lines(path))


def of_committer(env, forks, path):
    env.from_collection(list(range(RECORDS))).sink_to(Transactions(path, forks))


PLACES = [of_source_function, of_async_function, of_enumerator, of_committer]


@pytest.mark.on_spark("of_async_function", "of_source_function")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_fork_elsewhere_does_nothing_either(make_env, place, tmp_path):
    forks = Forks(tmp_path / "forks")
    env = make_env(1, SETTINGS)
    place(env, forks, tmp_path / "lines")
    client = env.execute_async("elsewhere")
    if place is of_source_function:  # which never ends
        wait_for(lambda: len((tmp_path / "lines").read_text().split()) if (tmp_path / "lines").exists() else 0,
                 client, lambda count: count >= RECORDS)  # fmt: skip
        client.cancel().result()
    else:
        client.get_job_execution_result().result()
    # A forked process has the file's end of its own, and leaves before it writes: each record is there once.
    written = sorted(map(int, (tmp_path / "lines").read_text().split()))
    forked = len(list((tmp_path / "forks").iterdir()))
    if place is of_committer:  # the function itself goes on until it returns
        assert [n for n in range(RECORDS) if n not in written] == []
        assert len(written) <= RECORDS + forked
    else:
        assert written == list(range(RECORDS))
    forks.check(2)


# -- the driver --------------------------------------------------------------------------------------------------------


class Lasting(MapFunction):
    """Fork a process that lasts, then, once, end by a signal."""

    def __init__(self, directory):
        self.directory = str(directory)

    def map(self, value):
        marker = Path(self.directory, "killed")
        if value == RECORDS // 2 and not marker.exists():
            pid = os.fork()
            if not pid:
                time.sleep(600)
                os._exit(0)
            marker.write_text(str(pid))
            os.kill(os.getpid(), signal.SIGKILL)
        return value


@pytest.mark.kills
@pytest.mark.spark
def test_the_end_of_a_worker_is_noticed_although_a_process_that_it_forked_lasts(make_spark_env, tmp_path):
    env = make_spark_env(1, SETTINGS)
    numbers(env).rebalance().map(Lasting(tmp_path)).sink_to(sink := CollectSink())
    try:
        env.execute("lasting")
    finally:
        os.kill(int((tmp_path / "killed").read_text()), signal.SIGKILL)
    assert sorted(sink.get_results(True, False)) == list(range(RECORDS))


PROGRAM = """
import os, sys
from pathlib import Path
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.engine.spark.provision import packing
from flintstream.engine.spark.session import spark_context
from flintstream.errors import FlintstreamError
from flintstream.storage.temporary import temporary_directory

def sums():
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.master": "local[1]"}).set_parallelism(1)
    with env.from_collection([1, 2, 3]).key_by(lambda n: 1).reduce(lambda a, b: a + b).execute_and_collect() as found:
        return list(found)

assert sums()[-1] == 6
directory = temporary_directory("test-")
pid = os.fork()
if not pid:
    try:
        sums()
    except FlintstreamError as error:
        print(error, flush=True)
        sys.exit(5)
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
assert Path(directory).exists(), "the forked process has removed it"
assert sums()[-1] == 6
print(directory)
"""


@pytest.mark.spark
def test_a_fork_of_the_driver_does_not_use_its_context_or_remove_its_files(tmp_path):
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    told, directory = done.stdout.splitlines()[-2:]
    assert "this process was forked from one with a Spark context" in told
    assert not Path(directory).exists()
