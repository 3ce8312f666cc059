"""Write ``docs/moving-over/compatibility.md`` from the list."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.corpus.checking import UNTRIED, shares

from flintstream.cli.checking.finding import ERROR

if TYPE_CHECKING:
    from tests.corpus.listing import Program

PAGE = Path(__file__).parents[2] / "docs" / "moving-over" / "compatibility.md"

APART = {
    "broken": (
        "Programs that PyFlink 2.3.0 does not run either",
        "They use features that newer versions of PyFlink no longer have, or contain errors.",
    ),
    "missing": (
        "Programs that need private resources of their author",
        "They need services, data or trained models that are not public, or that the test machine cannot reach.",
    ),
    "connector": (
        "Programs whose connector or service was missing",
        "flintstream lacks their connector, or the test machine their service.",
    ),
}

HEAD = """# Public programs

flintstream runs PyFlink programs without changes. This page has the results for {programs} public programs by
{authors} authors. None of them was changed.

| | programs | ran at commit 3c3faaa | run now |
|---|---|---|---|
| streams, for PyFlink 2.3.0 | {counted} | {before} | {after} |
| tables (the Table API or SQL), for PyFlink 2.3.0 | {tables} | not run | {tables_after} |
| of these, both: streams become tables, or tables become streams | {mixed} | not run | {mixed_after} |
| for earlier releases, with features that PyFlink 2 no longer has | {older} | {older_before} | {older_after} |

{rest} more could not be tried, and are listed separately with the reason: {apart}.

For comparison, {oracle} programs of the first row ran on real PyFlink 2.3.0, {oracle_ran} of them without an error. The
outputs of {comparable} can be compared: {same} are the same. Of {table_oracle} programs with tables, {table_oracle_ran}
ran on PyFlink, of which {table_both} run here. The outputs of {table_comparable} can be compared: {table_same} are the
same.

Each program runs with `flintstream run` on Spark, within a time limit. A program that ends must end without an
error, and must print the same as real PyFlink 2.3.0 if that output was recorded ("the same"). A program that runs
forever must write records to its topics, files, tables or standard output, and continue without an error.

The runner provides the input: messages in a real Kafka broker, files, tables in a real database, arguments, and, for
Kinesis, S3 and Elasticsearch, servers that stand in for them. It redirects the addresses of the authors' servers to its
own while a program runs, and changes no file.

`tests/corpus` has the list and the runner. No program is part of this repository:

    python -m tests.corpus FOLDER                 # FOLDER holds a checkout OWNER+NAME of each repository
    python -m tests.corpus FOLDER --only kafka    # programs with this in their name
    python -m tests.corpus                        # writes this page from the list

{new} of these programs, by {new_authors} authors, were added after all others ran. Of the {new_right} that PyFlink
runs and that need no private resources, {new_failed} ({new_share}) failed at first: they group the rows of `SESSION`
by columns other than those of its `PARTITION BY`. They run now.

## What `flintstream check` predicts

[`flintstream check`](../reference/command-line.md#checking-a-program) reads programs without running them. Of
{failed} programs above that fail here because of errors in the program, it reports an error in {foreseen}
({foreseen_share} %). Of {ran} programs that run, it reports an error in {false}. `python -m tests.corpus FOLDER
--check` compares. It cannot predict errors that depend on data or on another file: {unforeseen}.

## Libraries

These libraries use PyFlink. Their own tests run unchanged on the inline engine, where `import pyflink` finds
flintstream. A test that its authors expect to fail on Flink counts as passed if it fails. Clients of the REST
interface call `flintstream rest`. `tests/corpus/libraries.json` has the list.

{libraries}

## PyFlink's own tests

Of PyFlink's own {upstream_counted} Table tests that use no Java, {upstream} run unmodified on the inline engine.
{upstream_java} more call Java, name classes of Flink's test jars, or read its plans. The tests are those of Flink's
main branch of December 2025, which led to 2.3; their base classes, which start a cluster in Java, are replaced, and so
is a private function, by what `from_elements` checks values with here.
Of the others, five need worker processes (archives and requirements of Python: four of them pass with `--engine
spark`), three need a connector or the catalog of Java, two are skipped by their authors, one fails on PyFlink 2.3.0,
too, and one expects the names that Flink's planner gives to columns.
`python -m tests.corpus.upstream CHECKOUT` runs them; `tests/corpus/upstream/results.json` has the error of each other
test.

With `--part dataframe`, it runs the tests of `pyflink.dataframe`, which is in Flink's main branch since July 2026. No
checkout of it could be had, so its 17 files with tests were typed from stored versions of August to October 2026, those
of OVER windows in part. On 30 November 2026, three files were run again, and of the file of `DataFrame` those classes
that are new or have changed, 78 tests among them, and later the eight tests that had failed because of the words of an
error; the results of the others are some hours older. Of their {frames_counted} tests that use no Java, \
{frames} run (96 %); 13 use it.
Names that are private to PyFlink, such as those of its adapters, stand for functions of flintstream there. The other
23:

| tests | reason |
|---|---|
| 6 | expect Java's error where a job fails here with the cause, or the name of Flink's class in a message |
| 2 | expect that a stream cannot have several frames in one query, or that a wrong frame is an error \
of the job and not of the query |
| 3 | expect that streams have no set operations but `UNION ALL` and no pandas aggregates without windows, or that \
BATCH mode has no aggregate functions of rows; all of these run here |
| 2 | expect that `explain()` in BATCH mode refuses a directory that is read for good |
| 1 | expects the words of Flink's plan |
| 4 | look at what only PyFlink has: names of a declaration, an import of its module, a row as one argument, a step of \
an earlier version |
| 2 | expect that a `DataFrame` has no display for notebooks |
| 1 | expects that functions run in another process than the program, which the inline engine does not have |
| 1 | expects that `DataType` has no further names; `DataType.variant` is one |
| 1 | compares how a type of an interval is written |

`tests/corpus/upstream/dataframe.json` has them.

## The SQL cookbook

Of {recipes} recipes of the [SQL cookbook](https://github.com/ververica/flink-sql-cookbook), {recipes_here} run here and
{recipes_pyflink} on PyFlink 2.3.0, with {recipe_statements} statements in all. Each table of fake rows gives 40 rows;
topics and buckets are files, and databases are fake rows. On PyFlink, which comes without the connector `faker`, rows
are random values of `datagen`. Therefore, results are not compared.
`python -m tests.corpus.cookbook CHECKOUT` runs the recipes, and `tests/corpus/cookbook.json` has the errors.

{cookbook}

## Public reports

{reports} public reports of wrong results, in Flink, its connectors, its libraries and other engines, became
{report_cases} test cases, with results recorded from PyFlink 2.3.0. {reports_wrong} of these reports ({reports_share}
%) showed a difference when they first ran here. `tests/corpus/reports.json` lists them;
`tests/table/conformance/open.txt` has the remaining differences, with the reasons.

{searched} small programs of {kinds} kinds were written for a search, and ran on PyFlink and here: {differed}
showed a difference at first. `tests/corpus/searches.json` lists the kinds.
"""
LIBRARIES = Path(__file__).parent / "libraries.json"
REPORTS = Path(__file__).with_name("reports.json")
COOKBOOK = Path(__file__).with_name("cookbook.json")
SEARCHES = Path(__file__).with_name("searches.json")
UPSTREAM = Path(__file__).parent / "upstream" / "results.json"
FRAMES = Path(__file__).parent / "upstream" / "dataframe.json"

OLDER = (
    "They use features that PyFlink 2 or its connectors no longer have, such as `FlinkKafkaConsumer` and "
    "`read_text_file`. No connector for Flink 2 has the class behind `FlinkKafkaConsumer`, and `JdbcSink` fails with "
    "the existing ones."
)
TABLES = (
    "They use the Table API or SQL. The third column says whether a program also makes streams of its tables, or "
    "tables of its streams."
)
SAME = "runs, the same"

TITLES = ("author", "program", "services", "before", "now", "PyFlink 2.3.0", "remark")
TABLE_TITLES = ("author", "program", "streams", "services", "now", "PyFlink 2.3.0", "remark")


def write(programs: list[Program], path: Path = PAGE) -> None:
    """Write the page."""
    counted = [program for program in programs if program.counted == "yes"]
    tables = [program for program in programs if program.counted == "table"]
    mixed = [program for program in tables if program.mixes]
    older = [program for program in programs if program.counted == "older"]
    apart = Counter(program.counted for program in programs if program.counted in APART)
    upstream = Counter(json.loads(UPSTREAM.read_text(encoding="utf-8")).values())
    frames = Counter(json.loads(FRAMES.read_text(encoding="utf-8")).values())
    foreseen = shares(programs)
    reports = json.loads(REPORTS.read_text(encoding="utf-8"))
    wrong = {item["report"] for item in reports if item["at_first"] != "right"}
    named = {item["report"] for item in reports}
    searches = json.loads(SEARCHES.read_text(encoding="utf-8"))
    text = HEAD.format(
        **foreseen._asdict(),
        searched=sum(item["tried"] for item in searches),
        differed=sum(item["differed"] for item in searches),
        kinds=len(searches),
        unforeseen="; ".join(
            f"`{program.file}` of {program.author} {program.reason}"
            for program in programs
            if program.after == "fails" and program.checked not in {"", ERROR} and program.counted not in UNTRIED
        ),
        foreseen_share=100 * foreseen.foreseen // max(foreseen.failed, 1),
        libraries=_libraries(),
        **_cookbook(),
        reports=len(named),
        report_cases=len({item["case"] for item in reports}),
        reports_wrong=len(wrong),
        reports_share=100 * len(wrong) // len(named),
        frames=frames["runs"],
        frames_counted=sum(frames.values()) - frames["needs Java"],
        upstream=upstream["runs"],
        upstream_counted=sum(upstream.values()) - upstream["needs Java"],
        upstream_java=upstream["needs Java"],
        programs=len(programs),
        authors=len({program.author for program in programs}),
        counted=len(counted),
        before=_share([program for program in counted if program.before], "before"),
        after=_share(counted, "after"),
        tables=len(tables),
        tables_after=_share(tables, "after"),
        mixed=len(mixed),
        mixed_after=_share(mixed, "after"),
        older=len(older),
        older_before=_share([program for program in older if program.before], "before"),
        older_after=_share(older, "after"),
        oracle=sum(bool(program.pyflink) for program in counted),
        oracle_ran=sum(program.pyflink == "runs" for program in counted),
        comparable=sum(bool(program.output) for program in counted),
        same=sum(_of_pyflink(program) == SAME for program in counted),
        table_oracle=sum(bool(program.pyflink) for program in tables),
        table_oracle_ran=sum(program.pyflink == "runs" for program in tables),
        table_both=sum(program.pyflink == program.after == "runs" for program in tables),
        table_comparable=sum(bool(program.output) for program in tables),
        table_same=sum(_of_pyflink(program) == SAME for program in tables),
        **_of_new_authors(programs),
        rest=sum(apart.values()),
        apart=", ".join(f"{number} {_words(kind)}" for kind, number in sorted(apart.items())),
    )
    sections = [text, _section("Programs of streams for PyFlink 2.3.0", "", counted)]
    sections.append(_section("Programs with tables for PyFlink 2.3.0", TABLES, tables))
    sections.append(_section("Programs for earlier releases", OLDER, older))
    for kind, (title, sentence) in APART.items():
        sections.append(_section(title, sentence, [program for program in programs if program.counted == kind]))
    path.write_text("\n".join(sections), "utf-8")


def _of_new_authors(programs: list[Program]) -> dict[str, int | str]:
    """Return how many programs were added when all others ran, and how many of them failed first."""
    new = [program for program in programs if program.first]
    right = [program for program in new if program.first != "apart"]
    failed = sum(program.first != "runs" for program in right)
    return {
        "new": len(new),
        "new_authors": len({program.author for program in new}),
        "new_right": len(right),
        "new_failed": failed,
        "new_share": f"{100 * failed / max(len(right), 1):.0f} %",
    }


def _libraries() -> str:
    lines = ["| library | tests | pass on PyFlink 2.3.0 | pass here | remark |", "|---|---|---|---|---|"]
    for one in json.loads(LIBRARIES.read_text(encoding="utf-8")):
        counted = f"{one['count']}: {one['tests']}"
        lines.append(f"| {one['library']} | {counted} | {one['pyflink']} | {one['here']} | {one['remark']} |")
    return "\n".join(lines)


def _cookbook() -> dict[str, int | str]:
    """Return what the page says about the recipes of the SQL cookbook."""
    found = json.loads(COOKBOOK.read_text(encoding="utf-8"))
    lines = ["| recipe | statements | run on PyFlink 2.3.0 | run here | remark |", "|---|---|---|---|---|"]
    for one in found:
        name = one["recipe"].partition("/")[2].rpartition("/")[2]
        cells = [name, *(str(one[key]) for key in ("statements", "pyflink_ran", "here_ran", "remark"))]
        lines.append(f"| {' | '.join(cells)} |")
    return {
        "recipes": len(found),
        "recipes_here": sum(one["here"] == "runs" for one in found),
        "recipes_pyflink": sum(one["pyflink"] == "runs" for one in found),
        "recipe_statements": sum(one["statements"] for one in found),
        "cookbook": "\n".join(lines),
    }


def _words(kind: str) -> str:
    return {
        "broken": "do not run on PyFlink 2.3.0 either",
        "missing": "need private resources of their author",
        "connector": "read or write a service whose connector or server was missing",
    }[kind]


def _share(programs: list[Program], column: str) -> str:
    ran = sum(getattr(program, column) == "runs" for program in programs)
    return f"{ran} ({100 * ran // max(len(programs), 1)} %)"


def _section(title: str, sentence: str, programs: list[Program]) -> str:
    lines = [f"## {title}", ""]
    if sentence:
        lines += [sentence, ""]
    apart = bool(programs) and programs[0].counted in APART
    tables = bool(programs) and programs[0].counted == "table"
    titles = ("author", "program", "reason") if apart else TABLE_TITLES if tables else TITLES
    lines += [f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
    for program in programs:
        name = f"{program.repository.partition('/')[2]}: `{program.file}` ({program.commit[:7]})"
        if apart:
            lines.append(f"| {program.author} | {name} | {_cell(program.reason)} |")
        else:
            needs = ", ".join(program.needs) or "nothing"
            start = ["yes" if program.mixes else "", needs] if tables else [needs, program.before or "not run"]
            verdicts = [program.after or "not run", _of_pyflink(program)]
            cells = [program.author, name, *start, *verdicts, _cell(_remark(program))]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _remark(program: Program) -> str:
    error = "" if program.after == "runs" else program.error
    return "; ".join(part for part in (program.reason, error) if part)


def _of_pyflink(program: Program) -> str:
    if program.pyflink == "runs" and program.output and program.after == "runs":
        return SAME
    return program.pyflink or "not run"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
