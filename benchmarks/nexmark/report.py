"""Print results, keep them as JSON, and write the table of ``docs/explanation/nexmark.md``."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from benchmarks.engines import REPOSITORY
from benchmarks.report import machine, plain, times, versions

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from benchmarks.nexmark.measure import Measured, Measurement

RESULTS = REPOSITORY / "benchmarks" / "results"
PAGE = REPOSITORY / "docs" / "explanation" / "nexmark.md"
_MARKS = {
    False: ("<!-- begin of the table -->\n", "<!-- end of the table -->\n"),
    True: ("<!-- begin of the table of SQL -->\n", "<!-- end of the table of SQL -->\n"),
}


def path_of(engine: str, *, sql: bool = False) -> Path:
    """Return the file of an engine's results."""
    return RESULTS / f"nexmark-{'sql-' if sql else ''}{engine}.json"


def circumstances(measurement: Measurement, options: argparse.Namespace) -> dict[str, Any]:
    """Return date, machine and versions of a measurement."""
    return {
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        "versions": versions(measurement.engine.environment, measurement.python),
        "events": options.events,
        "rate": options.rate,
        "parallelism": options.parallelism,
        "checked_on": options.check_events,
        "repeat": options.repeat,
    }


def keep(file: Path, about: dict[str, Any], results: list[Measured]) -> None:
    """Write results as JSON."""
    content = {"benchmark": "nexmark", **about, "queries": {result.query: result.to_json() for result in results}}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=2) + "\n")


def line(result: Measured) -> str:
    """Return the line of one query for the terminal."""
    if result.problem:
        return f"{result.query:6}  {result.problem}; {result.checked}".removesuffix("; ")
    if not result.events:
        return f"{result.query:63}{result.checked}"
    cpu = result.cpu / result.events * 1e6
    return (
        f"{result.query:6}{result.rate:>12,.0f}{result.seconds:>9.1f}{result.cpu:>9.1f}{cpu:>12.1f}"
        f"{result.start_up:>12.1f}   {result.checked}"
    )


HEADINGS = f"{'query':6}{'events/s':>12}{'s':>9}{'CPU s':>9}{'CPU us/ev.':>12}{'start-up s':>12}   result"


def table(ours: dict[str, Any], theirs: dict[str, Any], mode: str = "thread mode") -> str:
    """Return the table of the page from the results of flintstream and of PyFlink.

    >>> figures = {"checked": "equal", "events_per_second": 200_000, "cpu_us_per_event": 9.5, "start_up": 4.9}
    >>> theirs = {"checked": "equal", "events_per_second": 10_000, "cpu_us_per_event": 150.0, "start_up": 9.0}
    >>> print(_rows({"q0": figures}, {"q0": theirs}))
    | q0 | 200,000 | 9.5 | 10,000 | 150 | 20 x | 16 x |
    >>> print(_rows({"q0": figures}, {"q0": {"problem": "not done in 600 s"}}))
    | q0 | 200,000 | 9.5 | not done in 600 s | | | |
    """
    lines = [f"{_about('flintstream', ours)} {_about(f'PyFlink, {mode}', theirs)}".strip(), ""]
    lines += [
        "| query | events/s | CPU us/event | PyFlink: events/s | CPU us/event | events/s, ratio | CPU, ratio |",
        "|---|---|---|---|---|---|---|",
        _rows(ours.get("queries", {}), theirs.get("queries", {})),
    ]
    return "\n".join(lines) + "\n"


def _about(engine: str, results: dict[str, Any]) -> str:
    if not results:
        return ""
    checked = sum(query.get("checked") == "equal" for query in results["queries"].values())
    return (
        f"{engine}: {results['events']:,} events; {plain(str(results['machine']))}, load {results['load']} before it "
        f"began; {plain(str(results['versions']))}; {checked} of {len(results['queries'])} results were equal to "
        f"DuckDB's on {results['checked_on']:,} events."
    )


def _rows(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    rows = []
    for query in sorted({*ours, *theirs}, key=lambda name: int(name[1:])):
        left, right = ours.get(query, {}), theirs.get(query, {})
        ratios = ["", ""]
        if _measured(left) and _measured(right):
            ratios = [
                times(left["events_per_second"] / right["events_per_second"]),
                times(right["cpu_us_per_event"] / left["cpu_us_per_event"]),
            ]
        rows.append(" ".join(f"| {cell}".rstrip() for cell in [query, *_cells(left), *_cells(right), *ratios]) + " |")
    return "\n".join(rows)


def _measured(figures: dict[str, Any]) -> bool:
    """Return whether there are figures of a right result: not of a wrong one, and not if starting took all the time."""
    right = "problem" not in figures and figures.get("checked") == "equal"
    return right and figures["events_per_second"] > 0 < figures["cpu_us_per_event"]


def _cells(figures: dict[str, Any]) -> list[str]:
    if _measured(figures):
        cpu = figures["cpu_us_per_event"]
        return [f"{figures['events_per_second']:,}", f"{cpu:.1f}" if cpu < 100 else f"{cpu:.0f}"]
    problem = figures.get("problem") or figures.get("checked", "")
    if problem == "equal":
        problem = "too few events to tell"
    return [problem.splitlines()[0][:80].replace("|", "/") if problem else "", ""]


def fill_page(*, sql: bool = False) -> None:
    """Write the table of the existing results into the page."""
    ours, theirs = (
        json.loads(path_of(engine, sql=sql).read_text()) if path_of(engine, sql=sql).exists() else {}
        for engine in ("flintstream", "pyflink")
    )
    begin, end = _MARKS[sql]
    text = PAGE.read_text()
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    made = table(ours, theirs, "SQL in Java") if sql else table(ours, theirs)
    PAGE.write_text(f"{before}{begin}\n{made}\n{end}{after}")
