"""The tables of clauses, connectors and functions in the documentation: ``make options`` writes them into the page."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.table.conformance import harness
from tests.table.support import MODES, clauses

from flintstream.table._analyzer.over import MOVED, NUMBERS
from flintstream.table._connectors import filesystem, messages, registry
from flintstream.table._connectors.contract import INSERTIONS, ConnectorTable, SinkConnector, SourceConnector
from flintstream.table._connectors.options import Options
from flintstream.table._errors import UnsupportedClauseError
from flintstream.table._expressions.aggregates import AGGREGATES
from flintstream.table._expressions.expr import Column
from flintstream.table._expressions.functions import FUNCTIONS
from flintstream.table.types import DataTypes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.table._connectors.contract import TableSink, TableSource

__all__ = ["filled"]

_OF_PYFLINK = json.loads(Path(__file__).with_name("support_of_pyflink.json").read_text(encoding="utf-8"))
_PLACE = re.compile(r"(<!-- support -->\n).*?(<!-- end of support -->)", re.DOTALL)
_INSTEAD = re.compile(r"is not supported yet: (.*?)\. For bounded data")
_SEARCH = {"hosts": "http://x:1", "index": "x"}
_REQUIRED: Mapping[str, Mapping[str, str]] = {
    "delta": {"table-path": "x"},
    "dynamodb": {"table-name": "x", "aws.region": "eu-central-1"},
    "elasticsearch-6": {"hosts": "http://x:1", "index": "x", "document-type": "x"},
    **dict.fromkeys(("elasticsearch-7", "elasticsearch-8", "opensearch", "opensearch-2"), _SEARCH),
    "faker": {"fields.k.expression": "x"},
    "filesystem": {"path": str(Path(__file__).parent), "format": "json"},
    "firehose": {"delivery-stream": "x", "format": "json", "aws.region": "eu-central-1"},
    "iceberg": {"catalog-type": "rest", "uri": "http://x", "warehouse": "x"},
    "jdbc": {"url": "jdbc:sqlite:x", "table-name": "x"},
    "kafka": {"topic": "x", "properties.group.id": "x", "properties.bootstrap.servers": "x", "format": "json"},
    "kinesis": {"stream.arn": "x", "format": "json", "aws.region": "eu-central-1"},
    "kinesis-legacy": {"stream": "x", "format": "json", "aws.region": "eu-central-1"},
    "mongodb": {"uri": "mongodb://x", "database": "x", "collection": "x"},
    "upsert-kafka": {"topic": "x", "properties.bootstrap.servers": "x", "key.format": "json", "value.format": "json"},
}
_FORMATS = {
    "filesystem": filesystem.FORMATS,
    "kafka": (*messages.FORMATS, *messages.OF_CHANGES),
    "upsert-kafka": messages.FORMATS,
}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" if line[0] != "---" else "|---" * len(heads) + "|" for line in lines)


def _answer(error: Exception | None) -> str:
    """Return whether a clause is there, and what to do if not."""
    if error is None:
        return "yes"
    found = _INSTEAD.search(str(error))
    if isinstance(error, UnsupportedClauseError) and found is not None:
        return f"no: {found[1]}"
    return "no, as in Flink"


def clause_rows() -> list[list[str]]:
    """Return a row for each clause."""
    rows = []
    for clause in clauses():
        answers = [_answer(clause.errors[mode]) for mode in MODES]
        if answers[0] == answers[1] and answers[0] != "yes":
            answers[1] = "no"
        there = [_OF_PYFLINK[clause.name][mode] for mode in MODES]
        rows.append([clause.subject, clause.name, *answers, there[0] if there[0] == there[1] else ", ".join(there)])
    return rows


def described(name: str, more: Mapping[str, str] | None = None) -> tuple[Options, TableSource | None, TableSink | None]:
    """Return the options that a connector has read, and what it says about a table with a text as its key."""
    options = Options("t", {"connector": name, **_REQUIRED.get(name, {}), **(more or {})})
    table = ConnectorTable("t", [Column("k", DataTypes.STRING())], options, ["k"])
    connector = registry.find("t", name)
    return (
        options,
        connector.source(table) if isinstance(connector, SourceConnector) else None,
        connector.sink(table) if isinstance(connector, SinkConnector) else None,
    )


def connector_rows() -> list[list[str]]:
    """Return a row for each connector."""
    rows = []
    for name in sorted(registry.BUILT_IN):
        options, source, sink = described(name)
        rows.append([
            name,
            "no" if source is None else "yes",
            "no" if sink is None else "insertions" if sink.changes == INSERTIONS else "insertions and changes",
            "yes" if source is not None and source.lookup is not None else "no",
            ", ".join(_FORMATS.get(name, ())),
            ", ".join(f"`{key}`" for key in options.read if key != "connector"),
        ])  # fmt: skip
    return rows


_OF_REGISTRIES = {"avro-confluent", "avro-glue", "debezium-avro-confluent", "json-glue", "protobuf", "protobuf-glue"}


def options_without_effect() -> list[list[str]]:
    """Return a row for each reason why options of a connector have no effect."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name in sorted(registry.BUILT_IN):
        for more in ({}, *({"format": item} for item in _FORMATS.get(name, ()) if "format" in _REQUIRED[name])):
            if more.get("format") in _OF_REGISTRIES:
                continue  # they need more options
            for key, because in described(name, more)[0].without_effect.items():
                keys = rows.setdefault((name, because), [])
                keys += [key] if key not in keys else []
    return [[name, because, ", ".join(f"`{key}`" for key in keys)] for (name, because), keys in rows.items()]


def function_rows() -> list[list[str]]:
    """Return a row for each kind of function."""
    names = [name for name in FUNCTIONS if not name.startswith("$")]
    words = sorted(name for name in names if name.replace("_", "").isalnum())
    return [
        ["scalar", f"{len(words)}", ", ".join(f"`{name}`" for name in words)],
        ["aggregate", f"{len(AGGREGATES)}", ", ".join(f"`{name}`" for name in sorted(AGGREGATES))],
        ["of a position, with `OVER`", f"{len(NUMBERS) + len(MOVED)}", ", ".join(f"`{n}`" for n in (*NUMBERS, *MOVED))],
    ]


def content() -> str:
    """Return the tables."""
    return "\n\n".join([
        "Each row is an example that was planned in both modes; `tests/table/support.py` has the statements.",
        _table(["subject", "clause", *MODES, "PyFlink 2.3.0"], clause_rows()),
        _table(["connector", "reading", "writing", "lookups", "formats", "options"], connector_rows()),
        "These options are accepted and have no effect; those of formats are listed once for each connector.",
        _table(["connector", "why", "options"], options_without_effect()),
        _table(["functions", "number", "names"], function_rows()),
    ])  # fmt: skip


_COUNTS = re.compile(
    r"Of(\s)[\d,]+(\s)results(\s)that(\s)were(\s)recorded(\s)from(\s)PyFlink(\s)2\.3\.0,(\s)[\d,]+(\s)are"
)
"""The counts with the spaces between their words, any of which may end a line."""


def recorded() -> tuple[int, int]:
    """Return how many results were recorded from PyFlink, and how many of them are the same here."""
    results = {}
    for path in harness.GOLDENS.glob("*.json"):
        golden = json.loads(path.read_text(encoding="utf-8"))
        results.update({(golden["case"], mode): len(run) for mode, run in golden["runs"].items()})
    different = {run: results[run] if "*" in open_ else len(open_) for run, open_ in harness.load_open().items()}
    total = sum(results.values())
    return total, total - sum(different.values())


def filled(page: str) -> str:
    """Return a page with the current tables between the comments that mark them, and the current counts."""
    total, same = recorded()
    words = f"Of {total:,} results that were recorded from PyFlink 2.3.0, {same:,} are".split()

    def with_spaces(found: re.Match[str]) -> str:
        return "".join(word + space for word, space in zip(words, (*found.groups(), ""), strict=True))

    page, places = _COUNTS.subn(with_spaces, page)
    assert places == 1, "the page lacks the counts of recorded results"
    return _PLACE.sub(lambda place: f"{place[1]}\n{content()}\n\n{place[2]}", page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = Path(name)
        file.write_text(filled(file.read_text(encoding="utf-8")), encoding="utf-8")
