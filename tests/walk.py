"""How a reader follows one SELECT through the code: ``python -m tests.walk`` lists the functions.

A step is a function of ``flintstream.table`` that a function of another module calls while a SELECT is read, planned
and translated, in the order of the calls, each function once. What stays within a module costs no change of place, and
what calls nothing of another module ends there: its name and docstring suffice. A step goes back if it enters a module
that the walk has left before.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._plan.translate import translate

if TYPE_CHECKING:
    from types import FrameType

QUERY = "SELECT k, COUNT(*) FROM t WHERE v > 1 GROUP BY k"
PACKAGE = "flintstream.table."
START = "_select"
"""The function with which the walk begins: it reads SELECT."""


class Step(NamedTuple):
    """A function that the walk enters."""

    module: str
    function: str
    back: bool


def walk(query: str = QUERY) -> list[Step]:
    """Return the steps of a SELECT on a view ``t`` with the columns k and v."""
    env = StreamExecutionEnvironment.get_execution_environment()
    t_env = StreamTableEnvironment.create(env)
    t_env.create_temporary_view("t", t_env.from_elements([("a", 1)], ["k", "v"]))
    translate(t_env.sql_query(query)._node, env)  # what loads or compiles at the first use takes no part
    entered: list[tuple[str, str]] = []
    leaving: set[tuple[str, str]] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        place = _place(frame)
        if event != "call" or not place[0] or place[1][0] == "<" or (not entered and place[1] != START):
            return
        callers = _callers(frame)
        if not entered or callers[0][0] != place[0]:
            entered.append(place)
            leaving.update(callers)

    sys.setprofile(enter)
    try:
        translate(t_env.sql_query(query)._node, env)
    finally:
        sys.setprofile(None)
    steps: list[Step] = []
    for module, function in dict.fromkeys(entered):
        if (module, function) in leaving:
            visited = [step.module for step in steps]
            steps.append(Step(module, function, module in visited and module != visited[-1]))
    return steps


def planning(steps: list[Step]) -> list[Step]:
    """Return the steps between the syntax and the logical plan."""
    first = next(i for i, step in enumerate(steps) if step.module == "_analyzer.queries")
    last = next(i for i, step in enumerate(steps) if step.function == "translate")
    return steps[first:last]


def _callers(frame: FrameType) -> list[tuple[str, str]]:
    """Return the functions of the nearest module of ours that called one, the nearest first."""
    found: list[tuple[str, str]] = []
    caller = frame.f_back
    while caller is not None:
        place = _place(caller)
        if place[0] and found and place[0] != found[0][0]:
            break
        found += [place] if place[0] else []
        caller = caller.f_back
    return found or [("", "")]


def _place(frame: FrameType) -> tuple[str, str]:
    """Return the module below the package, empty for others, and the function."""
    module = frame.f_globals.get("__name__", "")
    if not module.startswith(PACKAGE) or frame.f_code.co_filename[0] == "<":
        return "", ""
    return module.removeprefix(PACKAGE), frame.f_code.co_name


def main() -> None:
    """Print the walk."""
    steps = walk()
    for number, step in enumerate(steps, 1):
        print(f"{number:3} {'back' if step.back else '    '} {step.module} {step.function}")
    modules, back = len({step.module for step in steps}), sum(step.back for step in steps)
    print(f"{len(steps)} steps through {modules} modules, {back} of them back, {len(planning(steps))} to plan")


if __name__ == "__main__":
    main()
