"""``python -m tests.soak``: a job on Spark for an hour, with kills and rescaling, whose resources are sampled.

The driver serves the web page, which a browser keeps open where there is one.

``--minutes 60`` ends it after that time, plus what it takes to catch up. It fails if a record was not counted exactly
once, or if anything that should be flat has grown.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.faults.processes import Process, below, kill, wait_for_end
from tests.faults.rounds import PYTHON
from tests.soak.chart import picture
from tests.soak.job import LEGS, Plan, expected
from tests.soak.samples import sample
from tests.soak.slopes import slopes, verdict
from tests.soak.watching import Watcher, watch_page

from flintstream.coordinator import registry

SAMPLE_SECONDS = 10.0
GRACE_SECONDS = 900
"""How much longer than planned the job may take."""


class Soak:
    """One soak."""

    def __init__(self, plan: Plan, kill_seconds: float) -> None:
        """Prepare it in the plan's directory."""
        self.plan, self.kill_seconds = plan, kill_seconds
        self.samples: list[dict[str, Any]] = []
        self.kills: list[float] = []
        self.spared: int | None = None
        """The worker that is never killed, so that it shows what a worker grows by in an hour."""

    def run(self) -> int:
        """Run the job to its end; return its exit code."""
        for name in ("tmp", "jobs", "checkpoints", "savepoints"):
            self.plan.path(name).mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            **PYTHON,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(self.plan.path("tmp")),
            registry.DIRECTORY: str(self.plan.path("jobs")),
        }
        command = [sys.executable, "-m", "tests.soak.job", json.dumps(asdict(self.plan))]
        self.began = time.monotonic()
        with self.plan.path("log").open("wb") as log:
            job = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603
        seen: set[Process] = set()
        next_kill = self.began + self.kill_seconds
        try:
            while job.poll() is None:
                time.sleep(SAMPLE_SECONDS)
                seen.update(below(job.pid))
                self.samples.append(sample(self.plan, job.pid, self.began))
                self.samples[-1]["spared"] = self._spare(self.samples[-1]["workers"]["members"])
                if len(self.samples) % 6 == 0:
                    self._say(self.samples[-1])
                if time.monotonic() > next_kill:
                    next_kill += self.kill_seconds
                    self._kill(job.pid)
                if time.monotonic() > self.began + self.plan.seconds + GRACE_SECONDS:
                    raise AssertionError(f"the job has not ended {GRACE_SECONDS} s after its last record was due")
        finally:
            for process in below(job.pid):
                kill(process)
            job.wait()
        wait_for_end(seen, 30)
        return job.returncode

    def _say(self, now: dict[str, Any]) -> None:
        sizes = ", ".join(f"{part} {now[part]['rss'] // 1024} MiB" for part in ("driver", "jvm", "workers"))
        print(f"{now['seconds']:6.0f} s  {sizes}, lag {now['lag']} s, load {now['load']:.1f}", flush=True)

    def _spare(self, workers: list[tuple[int, int, int]]) -> int:
        """Choose the worker to spare, the largest at the first kill; return its size (KiB)."""
        sizes = {process: size for process, _, size in workers}
        if not self.kills or self.spared not in sizes:
            self.spared = max(sizes, key=lambda process: sizes[process], default=None)
        return sizes.get(self.spared, 0) if self.spared is not None else 0

    def _kill(self, driver: int) -> None:
        """Kill a sticky worker. The others only pass tasks on, and the sticky worker of a task dies with one."""
        largest = sorted(self.samples[-1]["workers"]["members"], key=lambda worker: worker[-1])[-2:]
        chosen = [process for process, _, _ in largest if process != self.spared][-1:]
        for process in below(driver):
            if process.pid in chosen and kill(process):
                self.kills.append(round(time.monotonic() - self.began, 1))

    def journal(self) -> list[dict[str, Any]]:
        """Return what the job recorded, with times since the beginning."""
        entries = [json.loads(line) for line in self.plan.path("journal").read_text("utf-8").splitlines()]
        return [{**entry, "time": round(entry["time"] - self.began, 1)} for entry in entries]

    def wrong(self) -> list[str]:
        """Return lines of the output that are missing, or that should not be there."""
        output = (path for path in self.plan.path("output").rglob("*") if path.is_file())
        lines: Counter[str] = Counter()
        for path in output:
            if not path.name.startswith("."):
                lines.update(path.read_text("utf-8").splitlines())
        lines.subtract(expected(self.plan))
        return [f"{count:+d} of {line}" for line, count in lines.items() if count]

    def left(self) -> list[str]:
        """Return the temporary files that are left after the end."""
        return sorted(str(path.relative_to(self.plan.directory)) for path in self.plan.path("tmp").rglob("*"))


def judge_page(watcher: Watcher | None) -> list[str]:
    """Return what was wrong with the page, if a browser had it open."""
    if watcher is None:
        return []
    return watcher.errors or ([] if watcher.views else ["the page never showed a running job"])


def main() -> int:
    """Run the command line; return 1 if the soak fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=20_000, help="records per second")
    parser.add_argument("--leg-minutes", type=float, default=10, help="from one change of the parallelism to the next")
    parser.add_argument("--kill-minutes", type=float, default=3, help="from one kill of a worker to the next")
    parser.add_argument("--warm-up-minutes", type=float, help="not part of the slopes; 10, or a sixth of a short soak")
    parser.add_argument("--results", type=Path, help="where to write the samples")
    parser.add_argument("--picture", type=Path, help="where to write the curves, as SVG")
    parser.add_argument("--again", type=Path, help="only judge and draw these samples")
    options = parser.parse_args()
    warm_up = 60 * (min(10, options.minutes / 6) if options.warm_up_minutes is None else options.warm_up_minutes)
    if options.again:
        results = json.loads(options.again.read_text("utf-8"))
    else:
        directory = tempfile.mkdtemp(prefix="soak-")
        plan = Plan(directory, options.rate, int(options.minutes * 60), int(options.leg_minutes * 60))
        soak = Soak(plan, options.kill_minutes * 60)
        print(f"in {directory}", flush=True)
        with watch_page(plan.path("page")) as watcher:
            code = soak.run()
        wrong = [*(soak.wrong() if code == 0 else [f"exit code {code}"]), *judge_page(watcher)]
        results = {
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}",
            "records": plan.records,
            "rate": plan.rate,
            "minutes": options.minutes,
            "wrong": wrong[:20],
            "views": watcher.views if watcher else None,
            "left": soak.left(),
            "kills": soak.kills,
            "legs": [asdict(leg) for leg in LEGS],
            "journal": soak.journal(),
            "samples": soak.samples,
        }
    results["slopes"] = slopes(results, warm_up)
    if options.results:
        lines = [f"{json.dumps(name)}: {_laid_out(value)}" for name, value in results.items()]
        options.results.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    if options.picture:
        options.picture.write_text(picture(results), encoding="utf-8")
    for name, slope in results["slopes"].items():
        print(
            f"{name:24} mean {slope['mean']:14,.1f} {slope['unit']:8} slope {slope['per_hour']:+10,.1f} "
            f"(error {slope['error']:,.1f}) per hour"
        )
    grown = verdict(results)
    print(
        f"{results['records']:,} records, {len(results['kills'])} kills, "
        f"{results.get('views')} views of the page; wrong: {results['wrong']}; grown: {grown}"
    )
    return 1 if results["wrong"] or grown else 0


def _laid_out(value: Any) -> str:
    """Return JSON with one element of a list per line."""
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n" + ",\n".join(json.dumps(item) for item in value) + "\n]"


if __name__ == "__main__":
    sys.exit(main())
