"""Compare flintstream with what PyFlink gave.

python -m tests.table.hostile.ours [TABLE ...]     # print what differs; -v: in every row
python -m tests.table.hostile.ours --spark         # the same on Spark
python -m tests.table.hostile.ours --write         # bring open.txt up to date; the reasons stay
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.conformance import ours
from tests.table.conformance.ours import Flintstream
from tests.table.hostile import running
from tests.table.hostile.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.table.hostile.tables import Hostile, Value

OPEN = Path(__file__).parent / "open.txt"


class Difference(NamedTuple):
    """A row for which an expression gives something else than in PyFlink."""

    expression: str
    row: tuple[Value, ...]
    got: Any
    wanted: Any


def recorded(hostile: Hostile) -> dict[str, Any]:
    """Return what PyFlink gave: by expression, the values and the one that each row has."""
    path = running.GOLDENS / f"{hostile.name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def differences(hostile: Hostile, engine: str) -> Iterator[Difference]:
    """Yield what differs. Where PyFlink fails, any result will do, so that nothing is computed there."""
    golden = {expression: running.unpacked(column) for expression, column in recorded(hostile).items()}
    skipped: list[list[int]] = [[] for _ in hostile.rows]
    queried = {}
    for number, (expression, values) in enumerate(golden.items()):
        failing = [row for row, value in enumerate(values) if value == running.ERROR]
        for failed in failing:
            skipped[failed].append(number)
        tested = f"CASE WHEN POSITION(',{number},' IN skipped) = 0 THEN {expression} END"
        queried[expression] = tested if failing else expression
    with ours.alias(), running.table(hostile, Flintstream(engine), skipped) as t_env:
        found = running.columns(t_env, list(queried.values()), len(hostile.rows))
    for expression, values in golden.items():
        for row, wanted, got in zip(hostile.rows, values, found[queried[expression]], strict=True):
            if wanted != running.ERROR and not running.same(wanted, got):
                yield Difference(expression, row, got, wanted)


def by_expression(found: Iterable[Difference]) -> dict[str, list[Difference]]:
    """Return differences by their expressions."""
    grouped: dict[str, list[Difference]] = {}
    for difference in found:
        grouped.setdefault(difference.expression, []).append(difference)
    return grouped


def shown(difference: Difference) -> str:
    """Return a line about a difference."""
    row = ascii([value if value is None else value[:40] for value in difference.row])
    return f"{row:<50} PyFlink {ascii(difference.wanted)[:90]}   ours {ascii(difference.got)[:90]}"


def load_open(path: Path = OPEN) -> dict[str, dict[str, tuple[int, str]]]:
    """Return what differs today: by table and expression, the number of rows and the reason."""
    found: dict[str, dict[str, tuple[int, str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, expression, count, reason = line.split("\t")
            found.setdefault(name, {})[expression] = int(count), reason
    return found


def main() -> None:
    """Print the differences, those that fail first; see the module."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    known, lines = load_open(), []
    for hostile in TABLES:
        if names and hostile.name not in names:
            lines += [(hostile.name, item, str(n), why) for item, (n, why) in known.get(hostile.name, {}).items()]
            continue
        start = time.monotonic()
        grouped = by_expression(differences(hostile, "spark" if "--spark" in sys.argv else "inline"))
        failing = {item: sum(case.got == running.ERROR for case in cases) for item, cases in grouped.items()}
        count = sum(map(len, grouped.values()))
        print(f"{hostile.name}: {count} differ, {sum(failing.values())} fail; {time.monotonic() - start:.1f} s")
        for expression, cases in sorted(grouped.items(), key=lambda pair: -failing[pair[0]]):
            reason = known.get(hostile.name, {}).get(expression, (0, ""))[1]
            lines.append((hostile.name, expression, str(len(cases)), reason or "not there yet"))
            print(f"  {expression}: {len(cases)}, {failing[expression]} fail   {reason}")
            cases.sort(key=lambda case: case.got != running.ERROR)
            for case in cases[: 1000 if "-v" in sys.argv else 3]:
                print(f"      {shown(case)}")
    if "--write" in sys.argv:
        head = [line for line in OPEN.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        OPEN.write_text("\n".join([*head, *("\t".join(line) for line in lines)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
