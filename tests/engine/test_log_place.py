"""The log of keyed state in a store: what it holds, and who deletes what a killed driver has left."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest

from flintstream.engine.spark import log_place
from flintstream.engine.spark.engine import SparkEngine
from flintstream.engine.spark.log_place import DEAD_SECONDS, SIGNS, LogPlace
from flintstream.errors import FlintstreamError
from flintstream.runtime.state_log.log import NATIVE, DirectoryStateLog, StoreStateLog
from flintstream.storage.stores import file_store


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    return file_store(tmp_path / "log" if request.param == "local" else f"memory://{uuid.uuid4().hex}/log")


@pytest.fixture
def places(store):
    """Return a function that opens the log of a job."""
    opened = []

    def place(job_id, start="start"):
        opened.append(LogPlace(store, job_id))
        return opened[-1], opened[-1].open(start)

    yield place
    for item in opened:
        item.close()


def signed(store, job_id, seconds_ago):
    store.write(f"{SIGNS}/{job_id}", str(int((time.time() - seconds_ago) * 1000)).encode())


def test_a_log_holds_blobs_and_the_files_of_a_backend(places, store):
    _, log = places("job")
    assert type(log) is (DirectoryStateLog if hasattr(store, "root") and store.root.startswith("/") else StoreStateLog)
    log.write("a", b"one")
    name = f"b{NATIVE}"
    with log.storing(name) as directory:
        for path in (Path(directory, "uid", "1.sst"), Path(directory, "other", "MANIFEST")):
            path.parent.mkdir(parents=True)
            path.write_text(path.name)
    log.write(name, b"two")
    assert (log.read("a"), log.read(name)) == (b"one", b"two")
    with log.open_files(name) as directory:
        found = {str(path.relative_to(directory)): path.read_text() for path in Path(directory).rglob("*.*")}
        assert found == {"uid/1.sst": "1.sst"}
        assert Path(directory, "other", "MANIFEST").read_text() == "MANIFEST"
    log.delete("a")
    log.delete(name)
    assert not [path for path in store.list("") if not path.startswith(SIGNS)]


def test_the_end_of_a_job_leaves_nothing(places, store):
    place, log = places("job")
    log.write("a", b"one")
    place.close()
    assert not store.list("")


def test_the_next_start_of_a_job_deletes_what_a_killed_driver_left(places, store):
    _, left = places("job", "first")
    left.write("a", b"one")
    _, log = places("job", "second")
    log.write("b", b"two")
    assert store.list("") == [f"{SIGNS}/job", "job/second/b"]


def test_a_start_deletes_the_logs_of_other_jobs_that_show_no_sign_of_life_and_no_others(places, store):
    for job_id, age in (("dead", DEAD_SECONDS + 60), ("alive", DEAD_SECONDS - 600), ("future", -600)):
        store.write(f"{job_id}/start/a", b"")
        signed(store, job_id, age)
    places("new")
    assert sorted(store.list("")) == [
        f"{SIGNS}/alive", f"{SIGNS}/future", f"{SIGNS}/new", "alive/start/a", "future/start/a",
    ]  # fmt: skip


def test_a_running_job_shows_signs_of_life(places, store, monkeypatch):
    monkeypatch.setattr(log_place, "RENEW_SECONDS", 0.01)
    places("job")
    first, until = store.read(f"{SIGNS}/job"), time.monotonic() + 300
    while store.read(f"{SIGNS}/job") == first:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_job_starts_even_if_old_logs_cannot_be_deleted(places, store, monkeypatch, caplog):
    def broken(*_):
        raise PermissionError("no")

    signed(store, "dead", DEAD_SECONDS + 60)
    monkeypatch.setattr(type(store), "delete_tree", broken)
    _, log = places("job")
    log.write("a", b"one")
    assert log.read("a") == b"one"
    assert "cannot delete old state" in caplog.text


def test_a_worker_without_the_directory_says_what_to_set(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no directory .*/gone on this worker: set 'flintstream\.state\.dir'"):
        DirectoryStateLog(str(tmp_path / "gone")).write("a", b"")


def keyed(env):
    env.from_collection([("a", 1)]).key_by(lambda row: row[0]).reduce(lambda a, _: a).print()


def stateless(env):
    env.from_collection([1]).map(lambda x: x).rebalance().print()


CLUSTER = {"flintstream.master": "spark://127.0.0.2:1"}


def checked(program, settings, mode):
    from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(getattr(RuntimeExecutionMode, mode)).set_parallelism(2)
    program(env)
    SparkEngine(settings).check(env._program().compile("job").plan)


@pytest.fixture
def no_context(monkeypatch):
    monkeypatch.setattr("flintstream.engine.spark.session._active_context", lambda: None)
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_context")
def test_keyed_state_on_a_cluster_needs_a_place_when_the_job_is_built():
    with pytest.raises(FlintstreamError, match=r"spark://127\.0\.0\.2:1, workers exchange keyed state through files"):
        checked(keyed, CLUSTER, "STREAMING")


@pytest.mark.usefixtures("no_context")
@pytest.mark.parametrize(
    ("program", "settings", "mode"),
    [
        (keyed, CLUSTER, "BATCH"),
        (stateless, CLUSTER, "STREAMING"),
        (keyed, {"flintstream.master": "local[2]"}, "STREAMING"),
        (keyed, {**CLUSTER, "flintstream.state.dir": "memory://state"}, "STREAMING"),
        (
            keyed,
            {
                **CLUSTER,
                "execution.checkpointing.interval": "10 s",
                "execution.checkpointing.dir": "memory://tests/checkpoints",
            },
            "STREAMING",
        ),
    ],
)
def test_other_jobs_need_no_place_for_keyed_state(program, settings, mode):
    checked(program, settings, mode)
