"""Each row once for each set of keys of a GROUP BY."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.table._expressions.codegen import Source
from flintstream.table._logical.nodes import Node
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._plan.translate import add_operator, translate, translation

if TYPE_CHECKING:
    from flintstream.datastream import DataStream, StreamExecutionEnvironment


@dataclass(frozen=True)
class Copy:
    """One of the copies of a row."""

    kept: tuple[int, ...]
    """The keys that are not None."""
    constants: tuple[int, ...]
    """What follows the keys: the number of the set, and results of GROUPING."""


@dataclass(frozen=True)
class Expanded(Node):
    """Copies of each row: (keys..., constants..., rest of the columns)."""

    input: Node
    keys: int
    copies: tuple[Copy, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"Expand(projects=[{len(self.copies)}], fields=[{', '.join(column.name for column in self.columns)}])"

    def source(self, *, stamped: bool) -> Source:
        """Return the code of the loop."""
        head = "def run(records, append, stamp):" if stamped else "def run(records, append):"
        lines = [head, "    for r, t in records:" if stamped else "    for r in records:"]
        for copy in self.copies:
            keys = [f"r[{i}]" if i in copy.kept else "None" for i in range(self.keys)]
            lines.append(f"        append(({', '.join([*keys, *map(str, copy.constants)])},) + r[{self.keys}:])")
            if stamped:
                lines.append("        stamp(t)")
        return Source("\n".join(lines), {}, ())


@translation.register(Expanded)
def _(node: Expanded, env: StreamExecutionEnvironment) -> DataStream:
    codes = (node.source(stamped=stamped) for stamped in (False, True))
    return add_operator(translate(node.input, env), "Expand", GeneratedOperator(*codes))
