"""Jobs on a Spark Connect server of their own, which serves this machine only and asks for a token."""

from __future__ import annotations

import os
import signal
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pyspark
import pytest
from tests.connect_server import TOKEN, NoServerError, running_server
from tests.engine.test_python_dependencies import wheel_of

from flintstream.common import Configuration, Types
from flintstream.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream.state import ValueStateDescriptor
from flintstream.engine.connect.exchange import keys_of_partitions, spark_hash
from flintstream.engine.connect.session import ConnectSession, connect_session, rows_of
from flintstream.errors import FlintstreamError

grpc = pytest.importorskip("grpc", reason="the extra 'connect' is not installed")
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def server():
    """Return the settings of a job on a new server."""
    patch = pytest.MonkeyPatch()
    patch.setattr(pyspark.SparkContext, "_active_spark_context", None)  # of another test in this process
    try:
        with running_server() as found:
            patch.setenv(TOKEN, found.token)
            settings = {"flintstream.master": found.address}
            yield settings
            connect_session(settings).spark.stop()
    except NoServerError as error:
        pytest.skip(str(error))
    finally:
        patch.undo()


def environment(server, **settings):
    configuration = Configuration()
    for key, value in {**server, **settings}.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    return env


class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.count.value()


@pytest.mark.parametrize(
    "mode", [RuntimeExecutionMode.STREAMING, pytest.param(RuntimeExecutionMode.BATCH, marks=pytest.mark.deep)]
)
def test_state_and_timers_see_every_record_once(server, mode):
    env = environment(server)
    env.set_runtime_mode(mode)
    counted = env.from_collection(list(range(10_000))).key_by(lambda number: number % 7).process(Count())
    assert sorted(counted.execute_and_collect()) == [(key, len(range(key, 10_000, 7))) for key in range(7)]


@pytest.mark.deep
def test_each_exchange_may_have_another_number_of_targets(server):
    env = environment(server)
    first = env.from_collection(list(range(1000))).key_by(lambda number: number % 3).map(lambda n: n + 1)
    second = first.set_parallelism(1).rebalance().map(lambda n: n * 2).set_parallelism(5)
    assert sorted(second.execute_and_collect()) == [(n + 1) * 2 for n in range(1000)]


@pytest.mark.parametrize("partitions", [1, 2, 3, 7, 64])
def test_known_keys_meet_each_partition(partitions):
    assert [spark_hash(key) % partitions for key in keys_of_partitions(partitions)] == list(range(partitions))


def test_spark_hashes_numbers_as_we_do(server):
    session = connect_session(server)
    frame = session.spark.range(0, 50).selectExpr("hash(cast(id * 7919 as int)) as h")
    assert [row.h for row in frame.collect()] == [spark_hash(number * 7919) for number in range(50)]


@pytest.mark.deep
def test_where_spark_cannot_be_told_the_partition_known_keys_do_the_same(server, monkeypatch):
    monkeypatch.setattr(connect_session(server), "has_direct_exchange", False)
    env = environment(server)
    counted = env.from_collection(list(range(100))).key_by(lambda number: number % 7).process(Count())
    assert sum(count for _, count in counted.execute_and_collect()) == 100


def test_an_error_of_user_code_is_raised_with_the_frames_of_the_user(server):
    env = environment(server)

    def divide(number):
        return 1 // number

    env.from_collection([1, 0]).map(divide).print()
    with pytest.raises(ZeroDivisionError) as caught:
        env.execute()
    assert "divide" in str(caught.value.__cause__)


class DiesOnce(KeyedProcessFunction):
    """Kills its worker at the record 50, once."""

    def __init__(self, mark):
        self.mark, self.client = mark, os.getpid()

    def open(self, context):
        self.sum = context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value, ctx):
        if value == 50 and not Path(self.mark).exists():
            Path(self.mark).touch()
            assert os.getpid() != self.client, "the function runs in the client"
            os.kill(os.getpid(), signal.SIGKILL)
        self.sum.update((self.sum.value() or 0) + value)
        yield ctx.get_current_key(), self.sum.value()


def test_a_killed_worker_loses_and_repeats_nothing(server, tmp_path):
    settings = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "0 s",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
    }
    env = environment(server, **settings)
    env.enable_checkpointing(100)
    sums = env.from_collection(list(range(100))).key_by(lambda number: number % 2)
    found = list(sums.process(DiesOnce(str(tmp_path / "mark"))).execute_and_collect())
    assert (tmp_path / "mark").exists()
    assert len(found) == 100
    assert {max(s for key, s in found if key == parity) for parity in (0, 1)} == {2450, 2500}


def test_a_job_can_be_cancelled_during_an_epoch(server, tmp_path):
    env = environment(server)
    mark = str(tmp_path / "runs")

    def wait(number):
        Path(mark).touch()
        time.sleep(60)
        return number

    env.from_collection([1]).map(wait).print()
    client = env.execute_async()
    until = time.monotonic() + 60
    while not Path(mark).exists() and time.monotonic() < until:
        time.sleep(0.05)
    client.cancel().result()
    assert client.get_job_status().result().name in {"CANCELED", "CANCELLING"}


def read(path):
    return lambda value: f"{value} {Path(path).read_text()}"


@pytest.fixture
def bundle(tmp_path):
    """Return the settings of a program with a module, an archive, a tar archive and a package."""
    (tmp_path / "shipped_module.py").write_text("WORD = 'module'")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("inner/text.txt", "zip")
    (tmp_path / "text.txt").write_text("tar")
    with tarfile.open(tmp_path / "more.data", "w:gz") as tar:
        tar.add(tmp_path / "text.txt", "text.txt")
    wheel_of(tmp_path, "flintstream_connect_package", "WORD = 'package'")
    (tmp_path / "requirements.txt").write_text("flintstream_connect_package==1.0\n")
    return {
        "python.files": f"{tmp_path}/shipped_module.py",
        "python.archives": f"{tmp_path}/data.zip#data.zip,{tmp_path}/more.data#given",
        "python.requirements": f"{tmp_path}/requirements.txt#{tmp_path}",
    }


def test_modules_archives_and_packages_of_a_program_reach_the_workers(server, bundle):
    def words(value):
        import flintstream_connect_package  # type: ignore[import-not-found]
        import shipped_module  # type: ignore[import-not-found]

        return f"{value} {shipped_module.WORD} {flintstream_connect_package.WORD}"

    env = environment(server, **bundle)
    numbers = env.from_collection([1, 2])
    found = numbers.map(words).union(numbers.map(read("data.zip/inner/text.txt")), numbers.map(read("given/text.txt")))
    expected = [f"{number} {word}" for number in (1, 2) for word in ("module package", "tar", "zip")]
    assert sorted(found.execute_and_collect()) == expected
    again = environment(server, **bundle).from_collection([3]).map(read("given/text.txt"))
    assert list(again.execute_and_collect()) == ["3 tar"]


def test_a_directory_of_a_session_keeps_its_archive(server, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with zipfile.ZipFile(tmp_path / name / "kept.zip", "w") as archive:
            archive.writestr("text.txt", name)
    first = environment(server, **{"python.archives": f"{tmp_path}/one/kept.zip#kept"}).from_collection([1])
    assert list(first.map(read("kept/text.txt")).execute_and_collect()) == ["1 one"]
    env = environment(server, **{"python.archives": f"{tmp_path}/two/kept.zip#kept"})
    with pytest.raises(FlintstreamError, match="has another archive in the directory 'kept'"):
        list(env.from_collection([1]).map(read("kept/text.txt")).execute_and_collect())


def test_an_interpreter_is_refused_since_the_server_chooses_it(server):
    env = environment(server, **{"python.executable": "/usr/bin/python3"})
    with pytest.raises(FlintstreamError, match="PYSPARK_PYTHON"):
        list(env.from_collection([1]).execute_and_collect())


@pytest.mark.parametrize("size", [1 << 20, pytest.param(140 << 20, marks=pytest.mark.deep)])
def test_a_plan_that_is_larger_than_a_message_reaches_the_workers(server, size, monkeypatch):
    sent = []
    send = ConnectSession.add_data

    def send_and_note(session, data):
        sent.append(len(data))
        return send(session, data)

    monkeypatch.setattr(ConnectSession, "add_data", send_and_note)
    data = b"x" * size
    assert list(environment(server).from_collection([1]).map(lambda n: len(data) + n).execute_and_collect()) == [
        size + 1
    ]
    assert len(sent) == 1
    assert sent[0] > size


@pytest.mark.parametrize(
    "text",
    [
        "<_MultiThreadedRendezvous ... RESOURCE_EXHAUSTED, CLIENT: Sent message larger than max (5 vs. 4)",
        "RESOURCE_EXHAUSTED: gRPC message exceeds maximum size 4194304: 5242934\n\tat io.grpc",
    ],
)
def test_a_message_that_is_too_large_names_the_option(text):
    class Frame:
        def toArrow(self):  # noqa: N802 - Spark's name
            raise RuntimeError(text)

    frame: Any = Frame()
    with pytest.raises(FlintstreamError, match=r"spark\.connect\.grpc\.maxInboundMessageSize") as caught:
        rows_of(frame)
    assert "\n" not in str(caught.value)


def test_a_client_that_is_too_old_is_refused(monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "3.5.8")
    with pytest.raises(
        FlintstreamError, match=r"Spark Connect needs PySpark 4\.0 or later, but this is PySpark 3\.5\.8"
    ):
        connect_session({"flintstream.master": "sc://127.0.0.1:1"})
