"""``python -m tests.differential``: random programs, on flintstream and, with ``--oracle``, on real PyFlink."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conformance import record
from tests.differential import running
from tests.differential.description import from_json
from tests.differential.generate import random_programs
from tests.differential.oracle import Oracle, OracleError
from tests.differential.shrink import shrink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tests.differential.description import Program
    from tests.differential.running import Outcome

FOUND = Path(__file__).parent / "found"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run random programs in two ways; the exit status is 1 if any differ."""
    parser = argparse.ArgumentParser(description="Run random programs in two ways and compare.")
    parser.add_argument("--oracle", action="store_true", help="compare with real PyFlink; otherwise with Spark")
    parser.add_argument("--programs", type=int, default=100, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other programs")
    parser.add_argument("--tries", type=int, default=60, help="how often to try to make a program smaller that differs")
    parser.add_argument("--together", type=int, default=6, help="how many programs PyFlink runs in one job")
    parser.add_argument("--venv", type=Path, default=record.ROOT / ".oracle-venv", help="where PyFlink is")
    parser.add_argument("--keep", type=int, default=0, help="write this many programs to found/")
    parser.add_argument("--record", type=Path, nargs="+", help="renew outcomes in found/, no more")
    options = parser.parse_args(arguments)
    logging.getLogger("flintstream").setLevel(logging.ERROR)  # many programs cause warnings

    oracle = Oracle(options.venv) if options.oracle or options.record else None
    expect: Callable[[Program], Outcome] = oracle.run if oracle else lambda program: running.run(program, "spark")
    try:
        if options.record:
            for path in options.record:
                program = from_json(json.loads(path.read_text(encoding="utf-8"))["program"])
                write(path, program, expect(program))
            return 0
        todo = random_programs(options.programs, options.seed)
        if oracle:
            oracle.prepare(todo, options.together)
        wrong = compare_all(todo, expect, options.tries)
        agree = [program for program in todo if program not in wrong]
        for program in most_different([p for p in agree if options.keep and tells(expect(p))], options.keep):
            write(FOUND / f"seed-{options.seed}-program-{todo.index(program)}.json", program, expect(program))
        return 1 if wrong else 0
    finally:
        if oracle:
            oracle.close()


def write(path: Path, program: Program, outcome: Outcome) -> None:
    """Write a program and its outcome."""
    record.write(path, {"program": program.to_json(), "outcome": outcome})


def most_different(todo: Iterable[Program], count: int) -> Iterator[Program]:
    """Return programs, each with as many features as possible that the earlier ones lack."""
    left = {id(program): program for program in todo}
    seen: set[str] = set()
    for _ in range(min(count, len(left))):
        best = max(left.values(), key=lambda program: len(features(program) - seen))
        seen |= features(left.pop(id(best)))
        yield best


def tells(outcome: Outcome) -> bool:
    """Return whether no result is empty."""
    return all(result["text"] for result in outcome)


def features(program: Program) -> set[str]:
    """Return the features that a program uses."""
    ways = {
        f"{program.mode} {step.op} {name}={value}"
        for step in program.steps
        for name, value in step.options.items()
        if name not in {"records", "count", "form", "input"}
    }
    return ways | {f"{program.mode} {program.parallelism} {step.op}" for step in program.steps}


def compare_all(todo: list[Program], expect: Callable[[Program], Outcome], tries: int) -> list[Program]:
    """Compare flintstream's inline engine with ``expect``, and return the programs that differ or fail.

    Each difference is printed, in the smallest program found.
    """
    wrong_ones: list[Program] = []
    failing = 0
    started = time.monotonic()
    for number, program in enumerate(todo):
        wrong = what_is_wrong(program, expect)
        if wrong:
            wrong_ones.append(program)
        if wrong.startswith("fails twice"):
            failing += 1
            print(f"== program {number}\n{program}\n{wrong}", flush=True)
        elif wrong:
            kind = wrong.partition(":")[0]

            def is_wrong(candidate: Program, kind: str = kind) -> bool:
                return what_is_wrong(candidate, expect).partition(":")[0] == kind

            smallest = shrink(program, is_wrong, tries)
            print(f"== program {number}, made smaller; '-' is expected, '+' is ours\n{smallest}")
            print(what_is_wrong(smallest, expect), flush=True)
        if number % 20 == 19:
            print(f"{number + 1} programs, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    took = time.monotonic() - started
    print(f"{len(todo)} programs, {len(wrong_ones) - failing} differ, {failing} fail in both, {took:.0f} s")
    return wrong_ones


def what_is_wrong(program: Program, expect: Callable[[Program], Outcome]) -> str:
    """Return the difference of a program, or that it fails in both ways; empty if the results are equal."""
    expected, ours = attempt(program, expect), attempt(program, lambda some: running.run(some, "inline"))
    if isinstance(expected, str) and isinstance(ours, str):
        return f"fails twice: {expected}\n{ours}"
    if isinstance(expected, str):
        return f"expected to fail: {expected}"
    if isinstance(ours, str):
        return f"fails here only: {ours}"
    diff = running.difference(program, expected, ours)
    return f"differs: {diff}" if diff else ""


def attempt(program: Program, run: Callable[[Program], Outcome]) -> Outcome | str:
    """Return the outcome of a program, or its failure."""
    try:
        return run(program)
    except OracleError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - any error is a result
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
