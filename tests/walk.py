"""How a reader follows one SELECT through the code: ``python -m tests.walk`` lists the functions.

A step is a function of ``flintstream.table`` that a function of another module calls while the SELECT is planned and
translated, in the order of the calls, each function once: what calls within a module costs no change of place.
A step is one back if it enters a module that the walk has left before.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment
from flintstream.table._plan.translate import translated

if TYPE_CHECKING:
    from types import FrameType

QUERY = "SELECT k, COUNT(*) FROM t WHERE v > 1 GROUP BY k"
PACKAGE = "flintstream.table."
START = "_select"
"""The function of the planner with which the walk begins."""


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
    translated(t_env.sql_query(query)._node, env)  # what loads or compiles at the first use takes no part
    found: dict[tuple[str, str], bool] = {}
    visited: list[str] = []

    def enter(frame: FrameType, event: str, _: object) -> None:
        module, name = _place(frame)
        if event != "call" or not module or name[0] == "<" or (not found and name != START):
            return
        caller: FrameType | None = frame.f_back
        while caller is not None and not _place(caller)[0]:
            caller = caller.f_back
        if found and (caller is None or _place(caller)[0] == module):
            return
        if (module, name) not in found:
            found[module, name] = module in visited[:-1] and module != visited[-1]
            visited.append(module)

    sys.setprofile(enter)
    try:
        node: Any = t_env.sql_query(query)._node
        translated(node, env)
    finally:
        sys.setprofile(None)
    return [Step(module, name, back) for (module, name), back in found.items()]


def _place(frame: FrameType) -> tuple[str, str]:
    """Return the module below the package, empty for others, and the function."""
    module = frame.f_globals.get("__name__", "")
    code = frame.f_code
    if not module.startswith(PACKAGE) or code.co_filename[0] == "<":
        return "", ""
    return module.removeprefix(PACKAGE), code.co_name


def main() -> None:
    """Print the walk."""
    steps = walk()
    for number, step in enumerate(steps, 1):
        print(f"{number:3} {'back' if step.back else '    '} {step.module} {step.function}")
    modules, back = len({step.module for step in steps}), sum(step.back for step in steps)
    print(f"{len(steps)} steps through {modules} modules, {back} of them back")


if __name__ == "__main__":
    main()
