"""The judgement of a soak, and a short one."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import asdict

import pytest
from tests.soak import job
from tests.soak.__main__ import Soak, judge_page
from tests.soak.chart import picture
from tests.soak.job import LEGS, Plan, expected, large
from tests.soak.samples import heap_in
from tests.soak.slopes import slopes, verdict
from tests.soak.watching import Watcher, watch_page


def results_of(growth):
    """Return results of an hour in which the workers grow by so many MiB, and the legs differ in what they use."""

    def part(kib):
        return {"processes": 2, "rss": kib, "pss": kib, "files": 50, "threads": 20, "cpu": 1.0, "members": []}

    samples = []
    for second in range(0, 3600, 30):
        kib = 300_000 + 100_000 * (second // 600 % 2) + growth * 1024 * second / 3600
        samples.append(
            {
                "seconds": float(second),
                "driver": part(100_000),
                "jvm": part(500_000),
                "workers": part(kib),
                "other": part(0),
                **dict.fromkeys(("checkpoints", "savepoints", "state log", "temporary"), (10, 1 << 20)),
                "lag": 0.5,
            }
        )
    examined = {"heap": 1 << 26, "metaspace": 1 << 26, "classes": 9, "jvm_threads": 9, "objects": 9, "threads": 9}
    journal: list[dict[str, object]] = [{"time": 600.0 * n, "event": "leg", "number": n} for n in range(6)]
    journal += [{"time": 120.0 * n, "event": "examined", **examined} for n in range(1, 30)]
    legs = [asdict(leg) for leg in LEGS]
    results = {"minutes": 60, "legs": legs, "journal": journal, "samples": samples, "kills": [180.0, 360.0]}
    return {**results, "slopes": slopes(results, 600)}


def test_growth_is_told_apart_from_legs_that_differ():
    flat, leaking = results_of(0), results_of(80)
    assert flat["slopes"]["memory: workers"]["per_hour"] == 0
    assert verdict(flat) == []
    assert 75 < leaking["slopes"]["memory: workers"]["per_hour"] < 85
    assert [item.partition(":")[0] for item in verdict(leaking)] == ["memory"]


def test_growth_of_a_worker_is_found_though_the_others_are_killed_again_and_again():
    flat, leaking = results_of(0), results_of(0)
    for results, growth in ((flat, 0), (leaking, 40)):
        for sample in results["samples"]:
            leg = sample["seconds"] // 600 % 2
            sample["spared"] = 1024 * (120 + 20 * leg + growth * sample["seconds"] / 3600)
        results["slopes"] = slopes(results, 600)
    assert verdict(flat) == []
    assert [item.rpartition(":")[0] for item in verdict(leaking)] == ["memory: the spared worker"]


def test_a_worker_that_keeps_state_is_spared_from_the_first_kill_on():
    soak = Soak(Plan("", 1, 1, 1), 1)
    assert soak._spare([]) == 0
    assert soak._spare([(7, 10, 50), (8, 10, 60)]) == 60
    assert soak._spare([(7, 10, 90), (8, 10, 80)]) == 90
    soak.kills.append(1.0)
    assert soak._spare([(7, 10, 90), (9, 10, 95)]) == 90
    assert soak._spare([(9, 10, 95), (10, 10, 40)]) == 95


def test_a_heap_that_java_takes_is_no_growth_and_what_it_takes_elsewhere_is():
    heap, elsewhere = results_of(0), results_of(0)
    for results, part in ((heap, 1), (elsewhere, 0)):
        for sample in results["samples"]:
            grown = int(sample["seconds"] * 100)
            sample["jvm"] = {**sample["jvm"], "rss": 500_000 + grown, "heap": 200_000 + part * grown}
        results["slopes"] = slopes(results, 600)
    assert verdict(heap) == []
    assert [item.rpartition(":")[0] for item in verdict(elsewhere)] == ["memory: JVM outside of its heap"]


def test_what_is_not_a_heap_does_not_count_as_one():
    heap, library = (
        "c0000000-d0000000 rw-p 00000000 00:00 0",
        "7f00a0000000-7f00a0001000 r--p 00000000 08:01 7 /lib/x.so",
    )
    assert heap_in(f"{heap}\nSize: 9 kB\nRss: 70 kB\nVmFlags: rd wr\n{library}\nRss: 4 kB\n") == 70


def test_memory_that_the_c_library_gives_out_is_counted():
    before = large()
    if not before:
        pytest.skip("the C library does not tell")
    kept = bytearray(50_000_000)
    assert large() - before > len(kept) * 0.99


def test_a_soak_fails_for_a_page_that_showed_no_running_job_or_complained(tmp_path):
    watcher = Watcher(tmp_path / "page")
    assert judge_page(None) == []
    assert judge_page(watcher) == ["the page never showed a running job"]
    watcher.views = 1
    assert judge_page(watcher) == []
    watcher.note(["a job: status of 404"], runs=False)
    watcher.note(["the page: net::ERR_CONNECTION_REFUSED"], runs=False)
    assert judge_page(watcher) == [], "the driver has ended, and the page with it"
    watcher.note([], runs=True)
    assert judge_page(watcher) == ["the page: net::ERR_CONNECTION_REFUSED"]
    watcher.note(["a script failed"], runs=False)
    assert judge_page(watcher)[1:] == ["a script failed"]


def test_the_picture_is_well_formed_and_has_every_curve():
    root = ET.fromstring(picture(results_of(0)))  # noqa: S314 - our own
    assert len(root.findall("{*}polyline")) == 15


def test_the_expected_lines_are_those_of_the_program(monkeypatch):
    monkeypatch.setattr(job, "KEYS", 100)
    plan = Plan("", 700, 12, 6)
    lines: Counter[str] = Counter()
    counts: Counter[int] = Counter()
    windows: dict[tuple[int, int], list[int]] = {}
    for number in range(plan.records):
        counts[number % 100] += 1
        if counts[number % 100] % job.EVERY == 0:
            lines[f"c {number % 100} {counts[number % 100]}"] += 1
        start = number * 1000 // plan.rate // 5000 * 5000
        windows.setdefault((number % job.GROUPS, start), []).append(number)
    lines.update(f"w {key} {start} {len(found)} {sum(found)}" for (key, start), found in windows.items())
    visits = range(0, plan.records // job.VISITS, job.VISITORS * job.SAMPLED)
    lines.update(f"v {key} {job.VISITS}" for key in visits)
    assert Counter(expected(plan)) == lines


@pytest.mark.spark
@pytest.mark.kills
@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_each_record_counts_once_in_a_short_soak(tmp_path):
    soak = Soak(Plan(str(tmp_path), 5_000, 120, 30), 25)
    with watch_page(tmp_path / "page") as watcher:
        assert soak.run() == 0, (tmp_path / "log").read_text(errors="replace")[-3000:]
    assert soak.wrong() == []
    assert judge_page(watcher) == []
    assert soak.kills
