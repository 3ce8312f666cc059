"""Sources, sinks, checkpoints and savepoints in S3, on a server with its API."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import fsspec
import pytest
from tests.connectors.files.test_kills import FilesCourse
from tests.connectors.files.test_object_stores import TEXT, listed, open_writer, records_of, rows_sink
from tests.engine.conftest import maker
from tests.engine.faults import Faults, FaultyMap
from tests.engine.tally import expected, ordered, tally
from tests.engine.test_recovery import FIXED_DELAY, settings
from tests.faults.counting import Count, check, counted
from tests.faults.rounds import Round, run_round
from tests.waiting import wait_for_numbers

from flintstream.common import Types, WatermarkStrategy
from flintstream.connectors.files.recoverable import remote as recoverable_remote
from flintstream.datastream.connectors.file_system import FileSource, RollingPolicy

RECORDS = 240
KEYS = 4


def slow(line):
    time.sleep(0.002)
    return int(line)


def unfinished_uploads(s3):
    system, bucket = fsspec.core.url_to_fs(s3)
    return system.list_multipart_uploads(bucket)


def in_s3(s3, tmp_path, state="hashmap"):
    own = {"execution.checkpointing.dir": f"{s3}/checkpoints", "execution.checkpointing.interval": "100 ms"}
    return {**settings(tmp_path, state), **own}


@pytest.mark.parametrize("state", ["hashmap-changelog", "rocksdb"])
def test_what_is_read_counted_and_written_counts_once_when_the_job_fails(s3, tmp_path, state):
    system, top = fsspec.core.url_to_fs(s3)
    lines = [f"{number}\n".encode() for number in range(RECORDS)]
    system.pipe_file(f"{top}/in/a.txt", b"".join(lines[:200]))
    system.pipe_file(f"{top}/in/b/c.txt.gz", gzip.compress(b"".join(lines[200:])))
    faults = Faults(tmp_path / "faults", [("map", 150)])
    env = maker("inline")(2, {**in_s3(s3, tmp_path, state), **FIXED_DELAY})
    source = FileSource.for_record_stream_format(TEXT, f"{s3}/in").build()
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "files").map(slow, Types.INT())
    keyed = numbers.map(FaultyMap(faults), Types.INT()).key_by(lambda number: number % KEYS, Types.INT())
    keyed.process(Count(), Types.STRING()).sink_to(rows_sink(f"{s3}/out", RollingPolicy.on_checkpoint_rolling_policy()))
    result = env.execute().get_all_accumulator_results()
    assert result["numRestarts"] == 1
    assert result["numCheckpoints"] > 1
    visible, hidden = listed(f"{s3}/out")
    check(counted(line for data in visible.values() for line in data.decode().splitlines()), RECORDS, KEYS)
    assert (hidden, listed(f"{s3}/checkpoints"), unfinished_uploads(s3)) == ({}, ({}, {}), [])


@pytest.mark.parametrize("state", ["hashmap", "rocksdb"])
def test_a_job_goes_on_from_a_savepoint_there(s3, tmp_path, state):
    env = maker("inline")(2, in_s3(s3, tmp_path, state))
    sink = tally(env, 60, 0.01, hold=tmp_path / "never")
    client = env.execute_async("tally")
    wait_for_numbers(client, numRecordsOut=11)
    path = client.stop_with_savepoint(False, f"{s3}/savepoints").result()
    before = sink.get_results(True, False)
    assert path.startswith(f"{s3}/savepoints/")
    assert 10 < len(before) < 60
    env = maker("inline")(3, {**in_s3(s3, tmp_path, state), "execution.state-recovery.path": path})
    tally(env, 60, 0.001, sink=sink)
    env.execute("tally")
    assert ordered(before + sink.get_results(True, False)) == expected(range(60))


def test_large_files_are_uploaded_in_parts_and_those_of_lost_attempts_removed(s3, monkeypatch):
    part = 5 << 20  # the minimum that S3 accepts
    monkeypatch.setitem(fsspec.config.conf, "s3", {"default_block_size": part})
    monkeypatch.setattr(recoverable_remote, "PIECE_BYTES", part)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    base = f"{s3}/out"
    lines = [f"{number:09}" for number in range(1_200_000)]  # 12 MB
    sink = rows_sink(base)
    lost = open_writer(sink, "1")
    lost.write(lines, None)
    lost.prepare_commit(end_of_input=False)
    assert len(listed(base)[1]) == 1
    writer = open_writer(sink, "2")
    writer.write(lines, None)
    sink.create_committer().commit(writer.prepare_commit(end_of_input=True))
    visible, hidden = listed(base)
    assert records_of(TEXT, base) == lines
    assert len(visible) == 1
    assert (hidden, unfinished_uploads(s3)) == ({}, [])


class S3Course(FilesCourse):
    """The same in a bucket, together with the checkpoints."""

    bucket = ""
    looked = 0.0

    def _output(self):
        return f"{self.bucket}/output"

    def _settings(self):
        own = {"execution.checkpointing.dir": f"{self.bucket}/checkpoints", "flintstream.epoch.idle-duration": "800"}
        return {**super()._settings(), **own}

    def _arguments(self):
        (local,) = super()._arguments()
        remote = f"{self.bucket}/files"
        system, place = fsspec.core.url_to_fs(remote)
        if not system.exists(place):
            system.put(local, place, recursive=True)
        return [remote]

    def _look_at_files(self):
        if time.monotonic() > self.looked + 0.5:  # the server has others to serve
            super()._look_at_files()
            self.looked = time.monotonic()

    def _present(self):
        system, top = fsspec.core.url_to_fs(self._output())
        system.invalidate_cache()
        found = ((Path(name), details["size"]) for name, details in system.find(top, detail=True).items())
        return {path: size for path, size in found if not path.name.startswith(".")}

    def _check(self):
        super()._look_at_files()
        system, top = fsspec.core.url_to_fs(self._output())
        local = self.directory / "output"
        system.get(top, str(local), recursive=True)
        self.files = {local / path.relative_to(top): size for path, size in self.files.items()}
        super()._check()
        assert listed(f"{self.bucket}/checkpoints") == ({}, {})


@pytest.mark.kills
@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_records_are_there_once_whatever_is_killed(s3, monkeypatch):
    monkeypatch.setattr(S3Course, "bucket", s3)
    plan = Round(6, "local", "rocksdb", True, (("worker", 0.3), ("tree", 0.5)), (2, 1, 2))
    assert run_round(plan, kind=S3Course) == {"worker": 1, "tree": 1}
