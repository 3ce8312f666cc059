"""Record the results of real PyFlink for every kind of value at every position where a type is declared.

    python -m tests.typing_matrix.record --python /path/to/python/with/pyflink

This takes some minutes. Some values end PyFlink's process; then a new one continues with the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("recorded.json")
MODES = ("process", "thread")
_ADDRESS = re.compile(r"(?<=@)[0-9a-f]+|0x[0-9a-f]+")


def main() -> int:
    """Record everything."""
    parser = argparse.ArgumentParser(description="Record what PyFlink makes of values at declared types.")
    parser.add_argument("--python", default=sys.executable, help="a Python with apache-flink==2.3.0")
    parser.add_argument("--journals", type=Path, help="a directory that keeps what has been asked, to go on later")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.journals or Path(temporary)
        for mode in MODES:
            journal = directory / f"{mode}.jsonl"
            while ask(options.python, mode, journal) != 0:
                pass
        RECORDED.write_text(compact({mode: directory / f"{mode}.jsonl" for mode in MODES}), encoding="utf-8")
    return 0


def ask(python: str, mode: str, journal: Path) -> int:
    """Run the cases that are not in the journal yet on PyFlink; the status is 0 when none is left."""
    before = journal.stat().st_size if journal.exists() else 0
    command = [python, "-m", "tests.typing_matrix.oracle", mode, str(journal)]
    path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # PyFlink's workers are started as `python`
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603
    if status != 0 and (not journal.exists() or journal.stat().st_size == before):
        raise RuntimeError(f"PyFlink does not start (exit status {status})")
    return status


def compact(journals: dict[str, Path]) -> str:
    """Return the journals as one document.

    By position, type and kind of value: the results in process mode and in thread mode, one text if both agree, with
    ``=`` before surviving values and ``!`` before changed ones. Values that both refuse are left out.
    """
    found: dict[str, dict[str, dict[str, list[Any]]]] = {}
    texts: dict[str, dict[str, str]] = {}
    for position, path in enumerate(journals.values()):
        for line in path.read_text(encoding="utf-8").splitlines():
            place, type_name, value_name, *answer = json.loads(line)
            if not answer or answer[0][0] is None:
                continue
            description, survives, text = answer[0]
            outcomes = found.setdefault(place, {}).setdefault(type_name, {}).setdefault(value_name, [None, None])
            outcomes[position] = f"={description}" if survives else f"!{_ADDRESS.sub('...', description)[:80]}"
            if place == "output" and survives and "@" not in text:
                texts.setdefault(type_name, {})[value_name] = text
    places = {
        place: {t: {v: o[0] if o[0] == o[1] else o for v, o in values.items()} for t, values in types.items()}
        for place, types in found.items()
    }
    lines = [
        f"  {json.dumps(f'{place} / {type_name}')}: {json.dumps(values, ensure_ascii=False)}"
        for place, types in places.items()
        for type_name, values in types.items()
    ]
    texts_lines = [f"  {json.dumps(t)}: {json.dumps(values, ensure_ascii=False)}" for t, values in texts.items()]
    return (
        '{"flink": "2.3.0",\n "outcomes": {\n'
        + ",\n".join(lines)
        + '\n },\n "texts": {\n'
        + ",\n".join(texts_lines)
        + "\n }\n}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
