"""The plans of TO_CHANGELOG, which makes each change a row, and of FROM_CHANGELOG, which reads such rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintstream.table._logical.nodes import Node
from flintstream.table._operators.generated import GeneratedOperator
from flintstream.table._plan import edges
from flintstream.table._plan.translate import add_operator, translate, translation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.datastream import DataStream, StreamExecutionEnvironment

OPERATIONS = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
"""In the order of the numbers that kinds of change have in records."""


@dataclass(frozen=True)
class ToChangelog(Node):
    """Insertions: the name of each change, and its row."""

    input: Node
    names: tuple[str | None, ...]
    """The name of each kind of change; None for those that are left out."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return False

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"ProcessTableFunction(invocation=[TO_CHANGELOG], select=[{_names(self)}])"


@dataclass(frozen=True)
class FromChangelog(Node):
    """Changes, whose kinds a column of the input names."""

    input: Node
    position: int
    """That of the column."""
    kinds: tuple[tuple[str, int], ...]
    """The number of the kind for each name."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The table that it reads."""
        return (self.input,)

    @property
    def changelog(self) -> bool:
        """Whether rows are changes."""
        return True

    def title(self) -> str:
        """Return the line of ``explain()``."""
        return f"ProcessTableFunction(invocation=[FROM_CHANGELOG], select=[{_names(self)}])"


class KindOf:
    """Finds the number of a kind of change by its name."""

    def __init__(self, kinds: Mapping[str, int]) -> None:
        """Take the numbers by name."""
        self.kinds = dict(kinds)

    def __call__(self, name: str | None) -> int:
        """Return the number of a kind.

        Raises:
            ValueError: No kind has this name.
        """
        found = None if name is None else self.kinds.get(name)
        if found is None:
            known = ", ".join(self.kinds)
            raise ValueError(f"FROM_CHANGELOG: Received invalid op code '{name}'. Defined op codes are: [{known}].")
        return found


def _names(node: Node) -> str:
    return ",".join(column.name for column in node.columns)


@translation.register(ToChangelog)
def _(node: ToChangelog, env: StreamExecutionEnvironment) -> DataStream:
    if node.input.changelog:
        codes = edges.both("(names[r[-1]],) + r[:-1]", "names[r[-1]] is not None", {"names": node.names})
    else:
        codes = edges.both("(names[0],) + r", "names[0] is not None", {"names": node.names})
    return add_operator(translate(node.input, env), "ToChangelog", GeneratedOperator(*codes))


@translation.register(FromChangelog)
def _(node: FromChangelog, env: StreamExecutionEnvironment) -> DataStream:
    i = node.position
    codes = edges.both(f"r[:{i}] + r[{i + 1}:] + (kind_of(r[{i}]),)", known={"kind_of": KindOf(dict(node.kinds))})
    return add_operator(translate(node.input, env), "FromChangelog", GeneratedOperator(*codes))
