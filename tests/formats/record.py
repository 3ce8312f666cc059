"""Record the results of PyFlink's schemas for the tests.

    python -m tests.formats.record

runs in an environment with apache-flink 2.3.0 and, for Avro, with the jar ``flink-sql-avro`` of that release, which is
on Maven Central, in the variable ``HADOOP_CLASSPATH``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.formats.avro_cases import avro_cases
from tests.formats.cases import Case, json_cases
from tests.formats.csv_cases import csv_cases
from tests.formats.shape_cases import shape_cases

RECORDED = Path(__file__).with_name("recorded.json")


def recorded() -> list[tuple[Case, dict[str, str]]]:
    """Return the cases with PyFlink's answers."""
    found = []
    for schema, does, kind, settings, questions in json.loads(RECORDED.read_text(encoding="utf-8")):
        methods = tuple(tuple(setting) for setting in settings)
        for given, via, *written_as, answer in questions:
            found.append((Case(schema, does, kind, methods, given, via, *written_as), answer))
    return found


def main() -> None:
    """Run all cases on PyFlink and write the results, one per line."""
    from tests.formats.oracle import answer

    groups: dict[tuple[Any, ...], list[Any]] = {}
    for case in [*json_cases(), *csv_cases(), *avro_cases(), *shape_cases()]:
        written_as = [case.written_as] if case.written_as else []
        groups.setdefault(case[:4], []).append([case.given, case.via, *written_as, answer(case)])
    lines = ",\n".join(json.dumps([*group, questions]) for group, questions in groups.items())
    RECORDED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{sum(map(len, groups.values()))} answers in {RECORDED}")


if __name__ == "__main__":
    main()
