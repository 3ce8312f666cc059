"""Figures of the README and the documentation, taken from the files in ``benchmarks/results``.

    python -m benchmarks.pages            # writes the parts between "begin of" and "end of" in the pages
    python -m benchmarks.pages --check    # ends with an error if a page has other figures than the files

A page names a part by a comment, ``<!-- begin of rates -->``; :data:`PARTS` has a function for each name.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Any

from benchmarks.chart import TITLES
from benchmarks.connect import compared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "explanation" / "performance.md",
    ROOT / "docs" / "explanation" / "nexmark.md",
    ROOT / "docs" / "explanation" / "scale.md",
    ROOT / "docs" / "explanation" / "decisions.md",
    ROOT / "docs" / "how-to" / "connectors.md",
    ROOT / "docs" / "moving-over" / "from-bytewax-faust-quix.md",
)
SERIES = ("workloads-2026-11-21", "workloads-2026-11-25", "workloads")
"""The series of all workloads, oldest first. The last one is the one that tables show."""
SHOWN = ("keyed-count-durable", "tumbling-windows", "map-state", "stateless", "json")
"""The workloads of the README's table."""
RUNNABLE = ("yes", "table", "older")
"""The kinds of public programs that can be tried, in the words of ``tests/corpus``."""
_PART = re.compile(r"(<!-- begin of (.+?) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def load(name: str) -> dict[str, Any]:
    """Return the content of a result file."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def rates(series: str) -> dict[str, dict[str, int]]:
    """Return workload -> engine -> records per second of the runs whose results were right."""
    found: dict[str, dict[str, int]] = {}
    for outcome in load(series)["outcomes"]:
        if not outcome["problem"]:
            found.setdefault(outcome["workload"], {})[outcome["engine"]] = outcome["rate"]
    return found


def ratios(series: str, engine: str) -> dict[str, float]:
    """Return for each workload how many times as fast as ``engine`` flintstream was."""
    return {
        workload: measured["flintstream"] / measured[engine]
        for workload, measured in rates(series).items()
        if engine in measured and "flintstream" in measured
    }


def nexmark_ratios(ours: str, theirs: str, *, cpu: bool = False) -> dict[str, float]:
    """Return for each query of Nexmark how many times as fast as PyFlink flintstream was, by the clock or by CPU."""
    first, second = load(ours)["queries"], load(theirs)["queries"]
    return {
        query: second[query]["cpu_us_per_event"] / found["cpu_us_per_event"]
        if cpu
        else found["events_per_second"] / second[query]["events_per_second"]
        for query, found in first.items()
        if "events_per_second" in found and second.get(query, {}).get("checked") == "equal"
        if "events_per_second" in second[query]
    }


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [list(columns), *map(list, rows)]
    written = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([written[0], "|---" * len(lines[0]) + "|", *written[1:]])


def short(ratio: float) -> str:
    """Return a ratio with two digits.

    >>> short(451.2), short(7.66), short(0.826)
    ('451', '7.7', '0.83')
    """
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"


def spread(values: Iterable[float]) -> str:
    """Return the lowest and the highest of some ratios.

    >>> spread([7.7, 9.5]), spread([3.0])
    ('7.7 to 9.5', '3.0')
    """
    found = sorted(values)
    low, high = short(found[0]), short(found[-1])
    return low if low == high else f"{low} to {high}"


def paragraph(text: str, indent: str = "") -> str:
    """Return prose in lines of at most 120 characters."""
    return fill(" ".join(text.split()), 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def speed() -> str:
    """Return the README's sentence about speed."""
    threads = ratios(SERIES[-1], "flink-thread").values()
    bare = ratios(SERIES[-1], "bare").values()
    queries = nexmark_ratios("nexmark-flintstream", "nexmark-pyflink").values()
    sql = nexmark_ratios("nexmark-sql-flintstream", "nexmark-sql-pyflink").values()
    return paragraph(
        f"""* **Fast.** Programs with Python functions process {short(median(threads))} times as many records per second
        as PyFlink in thread mode (the median of {len(threads)} workloads; {spread(threads)}), and
        {short(median(queries))} times as many in Nexmark (the median of {len(queries)} queries; {spread(queries)}),
        with equal results. That is {spread(bare)} of what bare Python loops reach. SQL without Python functions is
        Java in Flink: there the median of {len(sql)} queries was {short(median(sql))} times Flink's rate
        ({spread(sql)}). [One command](docs/explanation/performance.md) repeats the measurements.""",
        indent="  ",
    )


def speed_table() -> str:
    """Return the README's table: some workloads, beside PyFlink, Bytewax and bare Python."""
    measured = rates(SERIES[-1])
    rows = []
    for workload in SHOWN:
        own = measured[workload]["flintstream"]
        rows.append(
            [
                f"{TITLES[workload]}: {own:,} records/s",
                spread(found[workload] for found in (ratios(series, "flink-thread") for series in SERIES)),
                *(short(own / measured[workload][engine]) for engine in ("bytewax", "bare")),
            ]
        )
    return table(
        ["", "PyFlink, thread mode, in three series", "Bytewax, 2 processes", "bare Python, no exchange"], rows
    )


def workloads() -> str:
    """Return the table of all workloads, with the ratios of each series."""
    measured = rates(SERIES[-1])
    series = [ratios(name, "flink-thread") for name in SERIES]
    bare = [ratios(name, "bare") for name in SERIES]
    rows = [
        [
            TITLES[workload],
            f"{engines['flintstream']:,}",
            *(short(found[workload]) for found in reversed(series)),
            short(engines["flintstream"] / engines["bytewax"]) if "bytewax" in engines else "",
            *(short(found[workload]) for found in reversed(bare)),
        ]
        for workload, engines in measured.items()
    ]
    medians = [[found[workload] for workload in measured] for found in (*reversed(series), *reversed(bare))]
    bytewax = ratios(SERIES[-1], "bytewax").values()
    rows.append(
        [
            "**median**",
            "",
            *(f"**{short(median(found))}**" for found in medians[:3]),
            f"**{short(median(bytewax))}**",
            *(f"**{short(median(found))}**" for found in medians[3:]),
        ]
    )
    dates = [_machine(name) for name in reversed(SERIES)]
    columns = ["workload", "records/s", *(f"PyFlink, {date}" for date in dates), "Bytewax"]
    return table([*columns, *(f"bare Python, {date}" for date in dates)], rows)


def _machine(series: str) -> str:
    """Return the date and processor of a series, such as ``22 Nov, Intel``."""
    machine = load(series)["machine"]
    _, month, day = machine["date"].split("-")
    return f"{int(day)} {('Nov', 'Dec')[int(month) - 11]}, {machine['cpu'].partition('(')[0].split()[0]}"


def sql() -> str:
    """Return the sentence about SQL beside Flink's Java."""
    found = nexmark_ratios("nexmark-sql-flintstream", "nexmark-sql-pyflink")
    by_cpu = nexmark_ratios("nexmark-sql-flintstream", "nexmark-sql-pyflink", cpu=True).values()
    slower = [f"{query} {short(ratio)}" for query, ratio in sorted(found.items(), key=lambda one: one[1]) if ratio < 1]
    return paragraph(
        f"""Of {len(found)} queries of Nexmark in SQL, the median ran at {short(median(found.values()))} times the rate
        of Flink, which runs them in Java without Python ({spread(found.values())}); by CPU, the ratio is
        {short(median(by_cpu))} ({spread(by_cpu)}). Slower than Flink: {", ".join(slower) or "none"}."""
    )


def sql_and_streams() -> str:
    """Return the sentence about SQL beside the same queries as streams."""
    sql, streams = load("nexmark-sql-flintstream")["queries"], load("nexmark-sql-streams")["queries"]
    found = {
        query: sql[query]["events_per_second"] / streams[query]["events_per_second"]
        for query in sql
        if "events_per_second" in sql[query] and "events_per_second" in streams.get(query, {})
    }
    below = [f"{query} {short(ratio)}" for query, ratio in sorted(found.items(), key=lambda one: one[1]) if ratio < 0.8]
    return paragraph(
        f"""Beside our own DataStream versions of the same queries, those in SQL ran at {short(median(found.values()))}
        times the rate in the median ({spread(found.values())}). Below 0.8: {", ".join(below) or "none"}."""
    )


def profiles() -> str:
    """Return the table of where queries in SQL spend their time."""
    found = load("nexmark-sql-profile")["groups"]
    parts = list(dict.fromkeys(part for shares in found.values() for part in shares))
    total = {part: sum(shares.get(part, 0) for shares in found.values()) for part in parts}
    rows = [
        [part, *(f"{shares.get(part, 0)} %" for shares in found.values())]
        for part in sorted(parts, key=lambda part: -total[part])
    ]
    return table(["", *found], rows)


_BATCH = {"flintstream": "flintstream", "flink": "Flink, Java", "spark": "Spark SQL", "duckdb": "DuckDB"}


def batch() -> str:
    """Return the table of bounded queries beside other engines."""
    found = load("batch")
    rows = [
        [
            query,
            *(
                f"{outcome['events_per_second']:,}, {short(outcome['cpu_us_per_event'])}" if "rows" in outcome else "-"
                for outcome in (outcomes.get(engine, {}) for engine in _BATCH)
            ),
        ]
        for query, outcomes in found["outcomes"].items()
    ]
    machine = found["machine"]
    about = f"{found['events']:,} events; {machine['date']}, {machine['cpu']}, {machine['cores']} cores:"
    return f"{about}\n\n{table(['events/s, us of CPU per event', *_BATCH.values()], rows)}"


def _cpu(found: dict[str, Any]) -> str:
    return f"{found['cpu_us_per_event']:.1f}"


def bytewax() -> str:
    """Return how fast flintstream is beside Bytewax."""
    found = ratios(SERIES[-1], "bytewax").values()
    return paragraph(
        f"""In return, throughput was {spread(found)} times Bytewax's in [{len(found)}
        workloads](../explanation/performance.md#records-per-second), {short(median(found))} times in the median."""
    )


def public_programs() -> str:
    """Return how many public programs run, and how many are listed apart."""
    programs = json.loads((ROOT / "tests" / "corpus" / "programs.json").read_text(encoding="utf-8"))
    kinds = Counter(program.get("counted", "yes") for program in programs)
    run = sum(program.get("after") == "runs" for program in programs if program.get("counted", "yes") in RUNNABLE)
    authors = {program["repository"].partition("/")[0] for program in programs}
    return paragraph(
        f"""Unmodified means unmodified: [public programs](docs/moving-over/compatibility.md) run on Spark as their
        authors wrote them. Of {len(programs)} programs by {len(authors)} authors, {run} of the
        {sum(kinds[kind] for kind in RUNNABLE)} that could be tried run. The others are listed with their reasons:
        {kinds["broken"]} do not run on PyFlink 2.3.0 either, {kinds["missing"]} need private services, data or models
        of their authors, and {kinds["connector"]} read or write a service whose connector was missing here, such as
        Kinesis, Elasticsearch or Iceberg."""
    )


def _printed(name: str) -> Callable[[], str]:
    """Return a writer of a table that a command printed."""

    def write() -> str:
        found = load("printed-2026-11")["tables"][name]
        about = f"`{found['command']}`; {found['date']}, {found['circumstances']}:"
        return f"{about}\n\n{table(found['columns'], found['rows'])}"

    return write


_ENGINES = {
    "flintstream": "flintstream",
    "flintstream-rows": "the same, by rows",
    "polars": "Polars",
    "daft": "Daft",
    "pyflink": "PyFlink, process mode",
}


def dataframes() -> str:
    """Return the rates of ``map_batches`` beside other libraries."""
    found = load("dataframe")
    rows = [
        [
            _ENGINES[engine],
            *(
                f"{outcome['rows_per_second']:,}, {outcome['cpu_us_per_row']:.2g}" if "found" in outcome else "-"
                for outcome in (found["outcomes"][workload].get(engine, {}) for workload in ("copy", "model"))
            ),
        ]
        for engine in _ENGINES
    ]
    machine = found["machine"]
    about = f"`python -m benchmarks.dataframe`; {machine['date']}, {machine['cores']} cores, {found['circumstances']}:"
    columns = ["rows per second, us of CPU per row", "from Parquet to Parquet", "a model on texts"]
    return f"{about}\n\n{table(columns, rows)}"


def connect() -> str:
    """Return the figures of classic Spark and of Spark Connect."""
    if not (RESULTS / "connect.json").exists():
        return "Not measured yet on a quiet machine: `python -m benchmarks.connect --save` does it."
    about, columns, rows = compared(load("connect"))
    return f"{paragraph(about)}\n\n{table(columns, rows)}"


def systems() -> str:
    """Return the rates of messages to and from servers."""
    found = rates("systems")
    rows = [
        [
            case.replace("-", ", "),
            *(f"{engines[engine]:,.0f}" if engine in engines else "-" for engine in ("flintstream", "bare")),
            short(engines["flintstream"] / engines["bare"]) if {"flintstream", "bare"} <= engines.keys() else "",
        ]
        for case, engines in found.items()
    ]
    machine = load("systems")["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores"
    about = f"`python -m benchmarks.systems`; {where}; the newest row is of {machine['date']}:"
    return f"{about}\n\n{table(['messages per second', 'flintstream', 'bare client', 'ratio'], rows)}"


PARTS: dict[str, Callable[[], str]] = {
    "systems": systems,
    "Spark Connect": connect,
    "DataFrames": dataframes,
    "speed": speed,
    "the speed table": speed_table,
    "the workloads": workloads,
    "SQL": sql,
    "SQL and streams": sql_and_streams,
    "the profiles": profiles,
    "BATCH": batch,
    "Bytewax": bytewax,
    "public programs": public_programs,
    **{
        f"the {name}": _printed(name)
        for name in (
            "latency", "found input", "connectors", "checkpoints", "recovery", "rocksdb changelog", "memory", "start",
            "rocksdb", "slow functions", "memory of SQL", "latency by subtasks",
        )
    },
}  # fmt: skip


def filled(text: str) -> str:
    """Return a page with the figures of the result files.

    Raises:
        KeyError: The page names a part that :data:`PARTS` lacks.
    """

    def replace(match: re.Match[str]) -> str:
        if match[2] in {"the table", "the table of SQL"}:  # benchmarks.nexmark writes these
            return match[0]
        return f"{match[1]}\n{PARTS[match[2]]()}\n\n{match[3]}"

    return _PART.sub(replace, text)


def main() -> None:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(prog="benchmarks.pages", description="Figures of the pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; end with an error if a page is stale")
    options = parser.parse_args()
    stale = [page for page in PAGES if filled(text := page.read_text("utf-8")) != text]
    if options.check and stale:
        sys.exit(f"stale: {', '.join(page.name for page in stale)}; run python -m benchmarks.pages")
    for page in stale:
        page.write_text(filled(page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
