"""Transformations: the graph that the DataStream API builds, as the user wrote it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flintstream.graph.frozen import freeze

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.source import Boundedness
    from flintstream.runtime.frozen import Frozen
    from flintstream.runtime.operators.base import Operator
    from flintstream.runtime.partitioners import Partitioner

_ids = itertools.count(1)


@dataclass(eq=False)
class Transformation:
    """A step of the program. Virtual steps (partition, union, side output) only route records to the next step."""

    name: str
    inputs: tuple[Transformation, ...] = ()
    output_type: TypeInformation | None = None
    """None for an untyped stream, whose records are any picklable object."""
    parallelism: int | None = None
    parallel: bool = True
    """False if it always runs in one subtask."""
    max_parallelism: int | None = None
    uid: str | None = None
    uid_hash: str | None = None
    description: str | None = None
    slot_sharing_group: str | None = None
    chaining: str = "ALWAYS"
    """ALWAYS, HEAD (only as the start of a chain) or NEVER."""
    buffer_timeout_ms: int | None = None
    id: int = field(default_factory=lambda: next(_ids))

    @property
    def virtual(self) -> bool:
        """Whether this step does not run anything itself."""
        return False

    def origins(self) -> list[Transformation]:
        """Return the step, or the nearest ones before it that run something."""
        return [step for given in self.inputs for step in given.origins()] if self.virtual else [self]


@dataclass(eq=False)
class SourceTransformation(Transformation):
    """Reads records from a source."""

    operator: Operator | None = None
    boundedness: Boundedness | None = None


@dataclass(eq=False)
class OperatorTransformation(Transformation):
    """Runs an operator on one or two inputs."""

    operator: Operator | None = None
    kind: str = "PROCESS"
    """PROCESS, KEYED, WINDOW, CO, BROADCAST or ENGINE (not a Python function in PyFlink, so never chained there)."""
    keyed: bool = False
    layout: str = ""
    """What the form of its state depends on; a part of its uid, unless the program sets one."""
    passing: bool = False
    """Whether steps behind it have the same uids without it: it has no state, and may come and go with a query."""
    frozen: Frozen | None = None
    """The operator with the user's functions, pickled when the step was added."""

    def __post_init__(self) -> None:
        """Pickle the user's functions now; the driver parts of sinks and sources stay live objects."""
        if type(self) is OperatorTransformation:
            self.frozen = freeze(self.name, self.operator)

    @property
    def python(self) -> bool:
        """Whether PyFlink runs this step as a Python function."""
        return self.kind != "ENGINE"


@dataclass(eq=False)
class SinkTransformation(OperatorTransformation):
    """Writes records to a sink."""

    follows_input: bool = False
    """Whether it has the parallelism of its input, which keeps the order of records."""


@dataclass(eq=False)
class PartitionTransformation(Transformation):
    """Chooses the subtask for each record."""

    partitioner: Partitioner | None = None

    @property
    def virtual(self) -> bool:
        """Partitioning happens on the edge."""
        return True


@dataclass(eq=False)
class UnionTransformation(Transformation):
    """Merges several inputs of one type."""

    @property
    def virtual(self) -> bool:
        """Merging happens at the consumer."""
        return True


@dataclass(eq=False)
class CacheTransformation(Transformation):
    """A cached stream: its input is either the step whose records are cached, or the reader of cached records."""

    @property
    def virtual(self) -> bool:
        """Caching is done by a sink."""
        return True


@dataclass(eq=False)
class SideOutputTransformation(Transformation):
    """Selects the records that a step sent to a side output."""

    tag_id: str = ""

    @property
    def virtual(self) -> bool:
        """Selection happens on the edge."""
        return True
