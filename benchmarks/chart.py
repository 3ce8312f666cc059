"""Charts of saved results, as SVG for the documentation: ``python -m benchmarks.chart`` draws them again.

Rates differ by two orders of magnitude, so the scale is logarithmic: each grid line is ten times the one before.
"""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
STATIC = ROOT / "docs" / "static"
PICTURES: dict[Path, tuple[str, ...]] = {
    STATIC / "speed.svg": (
        "keyed-count-durable",
        "tumbling-windows",
        "map-state",
        "stateless",
        "json",
    ),
    STATIC / "workloads.svg": (),
    STATIC / "nexmark.svg": (),
    STATIC / "nexmark-sql.svg": (),
}
"""Where pictures are, and the workloads that each shows; all of them if none is named."""

TITLES = {
    "broadcast": "broadcast state",
    "connect": "connected streams",
    "json": "JSON",
    "keyed-count-100": "count, 100 keys",
    "keyed-count-10k": "count, 10,000 keys",
    "keyed-count-1m": "count, 1,000,000 keys",
    "keyed-count-durable": "count, timers, checkpoints",
    "list-state": "list state with TTL",
    "map-state": "map state with TTL",
    "session-windows": "session windows",
    "sliding-windows": "sliding windows",
    "stateless": "map, filter, flat map",
    "timers": "timers",
    "tumbling-windows": "tumbling windows",
    "word-count": "word count of files",
}
ENGINES = {
    "flintstream": ("flintstream", "#1b6ca8"),
    "bytewax": ("Bytewax", "#c8963d"),
    "flink-thread": ("PyFlink, thread mode", "#c8553d"),
    "flink": ("Flink, in Java", "#c8553d"),
    "bare": ("bare Python, no exchange", "#8a8a8a"),
}
LEFT, WIDTH, BAR, GAP, TOP = 190, 520, 11, 12, 46
LOWEST = 3
STYLE = (
    "text{font:12px sans-serif;fill:#444}.small{font-size:11px;fill:#777}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}}"
)


def results_of(picture: Path) -> dict[str, Any]:
    """Return the saved results that a picture shows."""
    if not picture.stem.startswith("nexmark"):
        return {"benchmark": "workloads", **_read("workloads")}
    ours = _read(f"{picture.stem}-flintstream")
    theirs = "flink" if picture.stem == "nexmark-sql" else "flink-thread"
    outcomes = [
        {
            "workload": query,
            "engine": engine,
            "rate": found["events_per_second"],
            "problem": found["checked"] != "equal",
        }
        for engine, results in (("flintstream", ours), (theirs, _read(f"{picture.stem}-pyflink")))
        for query, found in results["queries"].items()
        if "events_per_second" in found
    ]
    return {"benchmark": "nexmark", "machine": ours["machine"], "outcomes": outcomes}


def _read(name: str) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return results


def chart(results: dict[str, Any], workloads: tuple[str, ...]) -> str:
    """Return the SVG of records per second: a group of bars for each workload, a bar for each engine."""
    rates = {
        (result["workload"], result["engine"]): result["rate"]
        for result in results["outcomes"]
        if not result["problem"]
    }
    names = TITLES if results["benchmark"] == "workloads" else dict.fromkeys(name for name, _ in rates)
    shown = workloads or tuple(name for name in names if (name, "flintstream") in rates)
    highest = math.ceil(math.log10(max(rate for name in shown for _, rate in _bars(rates, name))))
    height = TOP + sum(len(_bars(rates, name)) * BAR + GAP for name in shown)

    def x(rate: float) -> float:
        return round(LEFT + WIDTH * (math.log10(rate) - LOWEST) / (highest - LOWEST), 1)

    described = "Records per second on a logarithmic scale, by workload and engine"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 80} {height + 24}" role="img">',
        f"<title>{described}</title><style>{STYLE}</style>",
    ]
    position = LEFT
    drawn = {engine for name in shown for engine, _ in _bars(rates, name)}
    for title, colour in (item for engine, item in ENGINES.items() if engine in drawn):
        parts.append(f'<rect x="{position}" y="6" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{position + 14}" y="15">{escape(title)}</text>')
        position += 30 + 7 * len(title)
    for power in range(LOWEST, highest + 1):
        at = x(10**power)
        parts.append(f'<path stroke="#8884" d="M{at} {TOP - 6}V{height - 4}"/>')
        parts.append(f'<text class="small" x="{at}" y="{TOP - 12}" text-anchor="middle">{10**power:,}</text>')
    top = TOP
    for name in shown:
        bars = _bars(rates, name)
        middle = top + len(bars) * BAR / 2 + 4
        parts.append(f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end">{escape(TITLES.get(name, name))}</text>')
        for engine, rate in bars:
            colour = ENGINES[engine][1]
            parts.append(
                f'<rect x="{LEFT}" y="{top}" width="{x(rate) - LEFT:.1f}" height="{BAR - 2}" fill="{colour}"/>'
            )
            parts.append(f'<text class="small" x="{x(rate) + 4}" y="{top + 8}">{rate:,}</text>')
            top += BAR
        top += GAP
    machine = results["machine"]
    how = "equal to DuckDB's" if results["benchmark"] == "nexmark" else "equal line by line"
    foot = f"records per second, {machine['cores']} cores, {machine['date']}; results {how}"
    parts += [f'<text class="small" x="{LEFT}" y="{height + 14}">{foot}</text>', "</svg>"]
    return "\n".join(parts) + "\n"


def _bars(rates: dict[tuple[str, str], int], workload: str) -> list[tuple[str, int]]:
    return [(engine, rates[workload, engine]) for engine in ENGINES if (workload, engine) in rates]


def main() -> None:
    """Draw all pictures."""
    for path, workloads in PICTURES.items():
        path.write_text(chart(results_of(path), workloads), encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
