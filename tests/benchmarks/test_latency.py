from __future__ import annotations

import sys
from typing import Any

import pytest
from benchmarks.beats import PATIENCE_SECONDS, TICKS, Beats
from benchmarks.latency import PEERS, WARM_UP_SECONDS, Latencies, Metronome, latencies, read_options, row_of, rows_of
from benchmarks.runners.latency_flintstream import Lines

from benchmarks import latency
from flintstream.common import WatermarkStrategy
from flintstream.connectors.source import Fetch
from flintstream.datastream import StreamExecutionEnvironment

RATES = (1, 300, 1000, 1234.5, 400_000)


def read(reader, split, size):
    batches: list[Any] = list(reader.read(split, Fetch(size=size)))
    return [batch.values for batch in batches]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_the_ticks_of_all_parts_have_each_record_once(rate, parts):
    beats = Beats(rate, 2.0, parts)
    found = [number for part in range(parts) for tick in range(beats.ticks) for number in beats.of_tick(tick, part)]
    assert sorted(found) == list(range(beats.records))


@pytest.mark.parametrize("rate", RATES)
def test_a_record_is_in_the_first_tick_after_it_is_due(rate):
    beats = Beats(rate, 2.0)
    for tick in range(beats.ticks - 1):
        for number in beats.of_tick(tick):
            assert (tick - 1) * 1000 / TICKS < beats.due(number) + 1e-6
            assert beats.due(number) <= tick * 1000 / TICKS + 1e-6


def test_no_more_records_are_due_than_there_are():
    beats = Beats(100, 3)
    assert [beats.until(ms) for ms in (0, 9, 10, 2990, 60_000)] == [1, 1, 2, 300, 300]
    assert not beats.is_over(4_900)
    assert beats.is_over(5_100)


def test_the_metronome_reads_batches_of_the_requested_size(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("benchmarks.latency.time.time", lambda: now[0])
    source = Metronome(rate=1000, seconds=1)
    (split,) = source.create_enumerator(1).discover()
    reader = source.create_reader()
    assert read(reader, split, 2) == [[(0, 1_000_000.0)]]
    now[0] += 0.0045
    batches = read(reader, split, 3)
    assert [[number for number, _ in batch] for batch in batches] == [[1, 2, 3], [4]]
    assert batches[1][0][1] == 1_000_004.0


def test_the_metronome_ends_when_the_time_for_its_records_is_over(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("benchmarks.latency.time.time", lambda: now[0])
    source = Metronome(rate=1000, seconds=1, to_the_end=False)
    (split,) = source.create_enumerator(1).discover()
    list(source.create_reader().read(split, Fetch()))
    now[0] += 1 + PATIENCE_SECONDS + 0.1
    reading = source.create_reader().read(split, Fetch())
    with pytest.raises(StopIteration) as stop:
        next(reading)
    assert stop.value.value is True


def test_the_first_seconds_do_not_count():
    beats = Beats(1, 12)
    rows = [(due * 1000.0, due * 1000.0 + due, due * 1000.0 + 2 * due) for due in range(1, 13)]
    found = latencies(beats, rows)
    assert found.keeps_up
    assert list(found.emitted) == [WARM_UP_SECONDS + 1, WARM_UP_SECONDS + 2]
    assert list(found.committed) == [2 * (WARM_UP_SECONDS + 1), 2 * (WARM_UP_SECONDS + 2)]


@pytest.mark.parametrize("rows", [11, 12])
def test_an_engine_that_emits_late_or_too_little_does_not_keep_up(rows):
    beats = Beats(1, 12)
    late = (12 + PATIENCE_SECONDS) * 1000 + 1001
    found = latencies(beats, [(due * 1000.0, due * 1000.0 if due < 12 else late) for due in range(1, rows + 1)])
    assert not found.keeps_up
    assert found.in_time == 11
    assert "does not keep up: 1 records per second" in row_of("bytewax", beats, found)


def test_a_row_of_the_table_has_three_percentiles():
    found = Latencies(100, in_time=100)
    found.emitted.extend(range(1, 101))
    assert row_of("flintstream", Beats(1000, 0.1), found) == "| 1,000 | flintstream | 50 | 90 | 99 |"


def test_the_lines_of_all_engines_are_read(tmp_path):
    (tmp_path / "part-0").write_text("(1.5,2.5)\n(1.6E3,2.5)\n")
    (tmp_path / "part-1").write_text("(1.0,2.0)\n(1.1,2.0)\n(1.2,2.0)\n")
    (tmp_path / ".commits-part-1").write_text("2,3.0\n1,4.0\n")
    (tmp_path / ".unfinished").write_text("nonsense")
    expected = [(1.0, 2.0, 3.0), (1.1, 2.0, 3.0), (1.2, 2.0, 4.0), (1.5, 2.5), (1600.0, 2.5)]
    assert sorted(rows_of(str(tmp_path))) == expected


def test_the_program_writes_a_line_for_each_record(tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    env.set_parallelism(1)
    ticks = env.from_source(Metronome(1000, 0.1), WatermarkStrategy.no_watermarks(), "metronome")
    counted = ticks.key_by(lambda value: value[0] % 7).process(latency.Count())
    counted.sink_to(Lines(str(tmp_path)))
    env.execute()
    rows = list(rows_of(str(tmp_path)))
    assert len(rows) == 100
    assert all(due - 1 <= emitted <= committed for due, emitted, committed in rows)


def test_engines_are_chosen_by_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["latency", "--engines", ",".join(PEERS), "--rates", "1000,10000"])
    assert read_options().rates == "1000,10000"
    monkeypatch.setattr(sys, "argv", ["latency", "--engines", "carrier-pigeon"])
    with pytest.raises(SystemExit):
        read_options()
    assert "unknown engines: carrier-pigeon" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["latency", "--seconds", "10"])
    with pytest.raises(SystemExit):
        read_options()
