"""The environment of DataFrames and the settings that wait for it."""

from __future__ import annotations

import json
import time

import pytest

import flintstream.dataframe as pf
from flintstream.table import EnvironmentSettings, TableDescriptor, TableEnvironment


def test_settings_choose_the_catalog_of_the_environment():
    pf.set_table_environment(None)
    pf.config._buffered.clear()
    pf.config.set("table.builtin-catalog-name", "mine")
    try:
        assert pf.get_or_create_table_environment().get_current_catalog() == "mine"
    finally:
        pf.set_table_environment(None)
        pf.config._buffered.clear()


def test_settings_that_wait_are_not_for_a_given_environment(batch):
    given = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    with pytest.raises(RuntimeError, match="buffered values"):
        pf.set_table_environment(given)
    assert pf.get_table_environment() is batch


@pytest.mark.parametrize(("target", "waits"), [("local", True), ("remote", False)])
def test_writers_wait_for_jobs_unless_they_run_elsewhere(batch, monkeypatch, target, waits):
    batch.get_config().set("execution.target", target)
    awaited: list[object] = []
    frame = pf.range(3)
    inserted = type(frame.to_table()).execute_insert

    def insert(table, *arguments, **settings):
        result = inserted(table, *arguments, **settings)
        wait = result.wait
        vars(result)["wait"] = lambda *_: awaited.append(wait())
        return result

    monkeypatch.setattr(type(frame.to_table()), "execute_insert", insert)
    frame.write_generic("blackhole", options={})
    assert bool(awaited) is waits


def test_a_file_of_lines_ends_by_the_check_interval_while_nothing_comes(streaming, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"id": 1}\n', encoding="utf-8")
    streaming.get_config().set("execution.checkpointing.interval", "100 ms")
    rows = pf.read_json(str(tmp_path / "in"), schema={"id": pf.DataType.int64()}, monitor_interval="50ms")
    sink = TableDescriptor.for_connector("filesystem").option("path", str(tmp_path / "out")).option("format", "json")
    sink.option("sink.rolling-policy.rollover-interval", "100ms").option("sink.rolling-policy.check-interval", "50ms")
    client = rows.to_table().execute_insert(sink.build()).get_job_client()
    assert client is not None
    try:
        until = time.monotonic() + 60
        while not (files := list((tmp_path / "out").glob("part-*"))) and time.monotonic() < until:
            time.sleep(0.05)
        assert [json.loads(file.read_text(encoding="utf-8")) for file in files] == [{"id": 1}]
    finally:
        client.cancel().result()
