"""What a record has cost from commit to commit: ``python -m benchmarks.history`` saves it and draws the chart.

The figures are those of the guard (``benchmarks/work.py``), which every change of ``tests/benchmarks/test_work.py`` has
entered: bytecode instructions per record, counted with one version of Python and independent of the machine. Rates of
different days are not comparable in this way, because the machine is shared.
"""

from __future__ import annotations

import json
import re
import subprocess
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.chart import ROOT, STYLE, TITLES

GUARD = "tests/benchmarks/test_work.py"
RESULTS = ROOT / "benchmarks" / "results" / "instructions.json"
PICTURE = ROOT / "docs" / "static" / "instructions.svg"
COLOURS = (
    "#1b6ca8",
    "#c8963d",
    "#c8553d",
    "#4c956c",
    "#8e6bbf",
    "#8a8a8a",
    "#d48bb0",
    "#5aa9b8",
    "#a0762b",
    "#2b4c7e",
    "#d4622b",
)
LEFT, RIGHT, TOP, BOTTOM, LABELS = 50, 560, 30, 300, 220


def recorded() -> list[dict[str, Any]]:
    """Return what the guard allowed after each commit that changed one of its figures, oldest first."""
    found: list[dict[str, Any]] = []
    for line in _git("log", "--reverse", "--format=%h %ad", "--date=short", "--", GUARD).splitlines():
        commit, date = line.split()
        figures = re.findall(r'^ +"([a-z0-9-]+)": (\d+),$', _git("show", f"{commit}:{GUARD}"), re.MULTILINE)
        instructions = {name: int(number) for name, number in figures}
        if not found or found[-1]["instructions"] != instructions:
            found.append({"commit": commit, "date": date, "instructions": instructions})
    return found


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True, text=True).stdout  # noqa: S603, S607


def chart(commits: list[dict[str, Any]]) -> str:
    """Return the SVG: a line for each workload whose cost has changed by 2 % or more, in percent of its first one."""
    first, last = commits[0]["instructions"], commits[-1]["instructions"]
    lines: dict[str, list[float]] = {
        name: [100 * commit["instructions"][name] / first[name] for commit in commits]
        for name in TITLES
        if name in first and any(abs(commit["instructions"][name] / first[name] - 1) >= 0.02 for commit in commits)
    }
    lowest = min(min(line) for line in lines.values()) // 10 * 10
    highest = max(max(line) for line in lines.values())
    step = (RIGHT - LEFT) / max(len(commits) - 1, 1)

    def y(percent: float) -> float:
        return float(round(BOTTOM - (BOTTOM - TOP) * (percent - lowest) / (highest - lowest), 1))

    described = "Instructions per record from commit to commit, in percent of the first count, by workload"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {RIGHT + LABELS} {BOTTOM + 60}" role="img">',
        f"<title>{described}</title><style>{STYLE}</style>",
    ]
    for percent in range(int(lowest), int(highest) + 1, 10):
        parts.append(f'<path stroke="#8884" d="M{LEFT} {y(percent)}H{RIGHT}"/>')
        parts.append(f'<text class="small" x="{LEFT - 6}" y="{y(percent) + 4}" text-anchor="end">{percent} %</text>')
    for number, item in enumerate(commits):
        at = round(LEFT + number * step, 1)
        parts.append(f'<text class="small" x="{at}" y="{BOTTOM + 20}" text-anchor="middle">{item["commit"][:7]}</text>')
        parts.append(f'<text class="small" x="{at}" y="{BOTTOM + 35}" text-anchor="middle">{item["date"][5:]}</text>')
    below = float(TOP)
    for name, colour in zip(sorted(lines, key=lambda name: -lines[name][-1]), cycle(COLOURS), strict=False):
        points = "L".join(f"{round(LEFT + n * step, 1)} {y(percent)}" for n, percent in enumerate(lines[name]))
        parts.append(f'<path d="M{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        below = max(below, y(lines[name][-1]) + 4)
        parts.append(f'<path d="M{RIGHT + 4} {below - 4}h14" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{RIGHT + 22}" y="{below}">{escape(TITLES[name])}: {last[name]}</text>')
        below += 16
    foot = "commits that changed a figure of the guard; right: instructions now; other workloads: less than 2 % changed"
    parts += [f'<text class="small" x="{LEFT}" y="{BOTTOM + 54}">{foot}</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Save the figures of all commits, and draw them."""
    commits = recorded()
    RESULTS.write_text(json.dumps({"python": "3.11", "commits": commits}, indent=1) + "\n", encoding="utf-8")
    PICTURE.write_text(chart(commits), encoding="utf-8")
    for path in (RESULTS, PICTURE):
        print(Path(path).relative_to(ROOT))


if __name__ == "__main__":
    main()
