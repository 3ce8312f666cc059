from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks.runners import __file__ as runners
from benchmarks.state_memory import KINDS, descriptor, in_backend, in_dict, in_pyflink, setter

from benchmarks import memory, state_memory
from flintstream.state.hash_map import HashMapStateBackend

FAKE = f"""#!{sys.executable}
import json, pathlib, sys
run = json.loads(sys.argv[3])
sizes = [1000 * number * number for number in range(len(run["settings"]["kinds"]) + 1)]
pathlib.Path(run["directory"], "output").write_text("".join(f"{{size}}\\n" for size in sizes))
"""


@pytest.fixture
def fake_python(tmp_path):
    """Return an interpreter that writes what the program in PyFlink would measure."""
    python = tmp_path / "python"
    python.write_text(FAKE)
    python.chmod(0o755)
    return str(python)


@pytest.mark.parametrize("ttl", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_state_has_a_key_per_number(kind, ttl):
    backend = HashMapStateBackend()
    put = setter(backend.state(descriptor(kind, ttl=ttl)), kind)
    for backend.key in range(10):
        put(backend.key)
    assert backend.keys("state") == list(range(10))


def test_memory_grows_by_as_much_as_there_is(monkeypatch):
    sizes = iter([1000, 5000, 2000, 4000])
    monkeypatch.setattr(state_memory, "resident", lambda: next(sizes))
    assert in_dict("map", 100, ttl=True) == 40
    backend = HashMapStateBackend()
    assert in_backend("list", backend, 100, ttl=False) == 20
    assert backend.take_delta() == []
    assert set(range(100)) <= set(backend.keys("state"))


def test_figures_of_pyflink_are_the_growth_of_its_heap(fake_python):
    kinds = [("value", False), ("value", True), ("map", False)]
    assert in_pyflink(fake_python, 100, kinds) == [10, 30, 50]


def test_the_program_in_pyflink_has_all_kinds():
    program = (Path(runners).parent / "state_memory_pyflink.py").read_text()
    assert all(f'"{kind}":' in program for kind in KINDS)


def test_the_table_has_a_line_for_each_kind_without_and_with_a_time_to_live(monkeypatch, capsys, fake_python):
    where = {"dict": 70.4, "hashmap": 74.6, "rocksdb": 61.0}
    monkeypatch.setattr(state_memory, "in_process", lambda settings: where[settings["where"]] + 100 * settings["ttl"])
    memory.main(["--states", "--keys", "1000", "--kinds", "value"])
    assert capsys.readouterr().out.splitlines() == [
        "| bytes per key | dict | hash map | RocksDB |",
        "|---|---|---|---|",
        "| value | 70 | 75 | 61 |",
        "| value, time-to-live | 170 | 175 | 161 |",
    ]
    memory.main(["--states", "--keys", "1000", "--kinds", "value", "--pyflink", fake_python])
    assert capsys.readouterr().out.splitlines()[-1] == "| value, time-to-live | 170 | 175 | 161 | 3 |"


def test_unknown_kinds_are_refused(capsys):
    with pytest.raises(SystemExit):
        memory.main(["--states", "--kinds", "value,guess"])
    assert "unknown kinds: guess" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("where", ["dict", "hashmap", "rocksdb"])
def test_each_figure_is_of_a_separate_process(where, capsys):
    settings = {"kind": "value", "keys": 100_000, "ttl": False, "where": where}
    assert 1 < state_memory.in_process(settings) < 500
    memory.main(["--run", json.dumps(settings)])
    assert float(capsys.readouterr().out) < 500
