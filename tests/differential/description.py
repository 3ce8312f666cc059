"""The description of a random program: a list of steps, each on the streams of earlier ones, writable as JSON.

The module imports only the standard library, because both real PyFlink and flintstream load it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Mode = Literal["STREAMING", "BATCH"]


@dataclass(frozen=True)
class Step:
    """One operation. Its records are triples of a key, a number and a time, in the form given by ``options``."""

    op: str
    inputs: tuple[int, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    parallelism: int | None = None


@dataclass(frozen=True)
class Program:
    """Steps in an order in which every step follows its inputs. Streams that no step uses are the results."""

    mode: Mode
    parallelism: int
    steps: tuple[Step, ...]

    def parallelism_of(self, step: Step) -> int:
        """Return the number of subtasks of a step."""
        return 1 if step.op == "collection" else step.parallelism or self.parallelism

    def results(self) -> list[int]:
        """Return the positions of the steps whose streams no other step uses."""
        taken = {position for step in self.steps for position in step.inputs}
        return [position for position in range(len(self.steps)) if position not in taken]

    def with_changes(self, **changes: Any) -> Program:
        """Return a copy with other fields."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Return the argument of :func:`from_json`."""
        steps = [
            {"op": s.op, "inputs": list(s.inputs), "options": s.options, "parallelism": s.parallelism}
            for s in self.steps
        ]
        return {"mode": self.mode, "parallelism": self.parallelism, "steps": steps}

    def __str__(self) -> str:
        """Return the program with a line for each step."""
        lines = [f"{self.mode}, parallelism {self.parallelism}"]
        for position, step in enumerate(self.steps):
            options = [f"{name}={json.dumps(value)}" for name, value in step.options.items() if value is not None]
            options += [f"parallelism={step.parallelism}"] * bool(step.parallelism)
            lines.append(f"  {position}: {step.op}({', '.join([*map(str, step.inputs), *options])})")
        return "\n".join(lines)


def from_json(content: dict[str, Any]) -> Program:
    """Return the program that :meth:`Program.to_json` has written.

    >>> program = Program("BATCH", 2, (Step("sequence", (), {"count": 3}), Step("map", (0,), {}, 1)))
    >>> from_json(json.loads(json.dumps(program.to_json()))) == program
    True
    """
    steps = [Step(s["op"], tuple(s["inputs"]), s["options"], s["parallelism"]) for s in content["steps"]]
    return Program(content["mode"], content["parallelism"], tuple(steps))
