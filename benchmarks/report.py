"""Tables of the measurements, and the files that keep them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.engines import ENGINES, REPOSITORY, REQUIREMENTS
from benchmarks.measure import Outcome
from benchmarks.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "flintstream"


def machine() -> dict[str, Any]:
    """Return the facts about this machine, and the date."""
    models = [
        text.split(":", 1)[1].strip()
        for text in (Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else "").splitlines()
        if text.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": models[0] if models else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory GiB": round(memory),
        "system": f"{platform.system()} {platform.release()}",
        "commit": output_of(["git", "-C", str(REPOSITORY), "rev-parse", "--short", "HEAD"]),
    }


def versions(environment: str | None, python: str) -> dict[str, str]:
    """Return the versions that matter in an engine's environment."""
    if environment is None:
        java = output_of(["java", "-version"]).splitlines()
        return {
            "Python": platform.python_version(),
            "pyspark": version("pyspark"),
            "Java": java[0] if java else "not found",
        }
    package = REQUIREMENTS[environment][0].split("==")[0]
    program = f"import importlib.metadata as m, platform; print(platform.python_version(), m.version({package!r}))"
    found = output_of([python, "-c", program]).split()
    return dict(zip(("Python", package), found, strict=True)) if len(found) == 2 else {}


def output_of(command: list[str]) -> str:
    """Return the output of a command; an empty text if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - fixed commands
    except (OSError, subprocess.CalledProcessError):
        return ""
    return (done.stdout + done.stderr).strip()


def table(outcomes: list[Outcome]) -> str:
    """Return Markdown: records per second, how many times as fast flintstream is, CPU, start-up and errors."""
    names = dict.fromkeys((*WORKLOADS, *(outcome.workload for outcome in outcomes)))
    rows = {name: {o.engine: o for o in outcomes if o.workload == name} for name in names}
    rows = {name: row for name, row in rows.items() if row}
    engines = [name for name in ENGINES if any(name in row for row in rows.values())]
    others = [name for name in engines if name != OURS] if OURS in engines else []
    parts: list[tuple[str, list[str], Callable[[Outcome, Outcome | None], str]]] = [
        ("Records per second, without start-up", engines, lambda outcome, _: f"{outcome.rate:,.0f}"),
        ("How many times as fast flintstream is", others, lambda o, ours: times(ours.rate / o.rate) if ours else ""),
        ("Microseconds of CPU per record, of all processes", engines, lambda o, _: f"{o.cpu_per_record:.2f}"),
        ("Start-up in seconds", engines, lambda outcome, _: f"{outcome.start_up:.1f}"),
    ]
    lines: list[str] = []
    for title, columns, cell in parts:
        if not columns:
            continue
        lines += [f"{title}:", "", f"| {' | '.join(['workload', *columns])} |", f"|{'---|' * (len(columns) + 1)}"]
        for name, row in rows.items():
            right = {engine: outcome for engine, outcome in row.items() if outcome.rate}
            cells = [cell(right[c], right.get(OURS)) if c in right else "-" if c in row else "" for c in columns]
            lines.append(f"| {' | '.join([name, *cells])} |")
        lines.append("")
    wrong = [o for o in outcomes if not o.rate]
    problems = [f"* {o.workload} on {o.engine}: {(o.problem or 'too short to measure').splitlines()[0]}" for o in wrong]
    return "\n".join([*lines, *(["No result:", "", *problems, ""] if problems else [])])


def times(ratio: float) -> str:
    """Return a ratio with two or three digits."""
    return f"{ratio:.2f} x" if ratio < 10 else f"{ratio:,.0f} x"


class Record:
    """The outcomes of a series, in a JSON file and a file with tables; without a path, only in memory.

    An existing file is continued: a new outcome replaces the old one of the same workload and engine.
    """

    def __init__(self, path: Path | None, pythons: dict[str, str]) -> None:
        self._path = path
        self._facts = {"machine": machine(), "versions": {}}
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        if path is not None and path.exists():
            content = json.loads(path.read_text())
            self._facts["versions"] = content["versions"]
            self.outcomes = {(o["workload"], o["engine"]): outcome_of(o) for o in content["outcomes"]}
        for name, python in pythons.items():
            self._facts["versions"][name] = versions(ENGINES[name].environment, python)

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, and write the files."""
        self.outcomes[outcome.workload, outcome.engine] = outcome
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            outcomes = [{**asdict(o), "rate": round(o.rate)} for o in self.outcomes.values()]
            self._path.write_text(json.dumps({**self._facts, "outcomes": outcomes}, indent=1) + "\n")
            facts = "; ".join(f"{name} {value}" for name, value in self._facts["machine"].items())
            used = [f"* {name}: {value}" for name, value in self._facts["versions"].items()]
            text = "\n".join([f"# Benchmarks\n\n{facts}\n", *map(plain, used), "", self.table()])
            self._path.with_suffix(".md").write_text(text)

    def table(self) -> str:
        """Return the tables of all outcomes."""
        return table(list(self.outcomes.values()))


def outcome_of(content: dict[str, Any]) -> Outcome:
    """Return an outcome that was written as JSON."""
    return Outcome(**{name: value for name, value in content.items() if name != "rate"})


def plain(text: str) -> str:
    """Return a dict's text without its punctuation."""
    return text.translate({ord(character): None for character in "{}'\""})


def progress(outcome: Outcome) -> None:
    """Print an outcome on standard error."""
    title = ENGINES[outcome.engine].title
    if outcome.problem:
        text = outcome.problem.splitlines()[0]
    else:
        text = (
            f"{outcome.rate:,.0f}/s: {outcome.records:,} in {outcome.seconds:.1f} s, start-up {outcome.start_up:.1f} s"
        )
    print(f"{outcome.workload}, {title}: {text}", file=sys.stderr, flush=True)
