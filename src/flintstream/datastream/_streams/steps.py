"""How other packages see and add the steps of a program, behind its streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flintstream.graph.transformation import PartitionTransformation
from flintstream.runtime.partitioners import KeyGroupPartitioner

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.connectors.sink import Sink
    from flintstream.datastream._environment.program import Program
    from flintstream.datastream._streams.base import DataStream
    from flintstream.datastream._streams.execution import Execution
    from flintstream.datastream._streams.keyed import KeyedStream
    from flintstream.datastream._streams.settings import Settings
    from flintstream.graph.transformation import SinkTransformation, Transformation
    from flintstream.runtime.operators.base import Operator


def transformation_of(stream: Settings) -> Transformation:
    """Return the last step of a stream, or that of a sink."""
    return stream._transformation


def values_of(stream: DataStream) -> Transformation:
    """Return the step whose records are those of a stream, without the partitioning of a keyed one."""
    return stream._values_transformation()


def rows_with_keys(stream: DataStream) -> DataStream:
    """Return what operators without keys read of a stream: of a keyed one, ``Row(f0=key, f1=value)``."""
    return stream._rows_with_keys()


def selector_of(stream: KeyedStream) -> Callable[[object], object]:
    """Return the function that returns the key of a record."""
    selector: Callable[[object], object] = stream._selector
    return selector


def leave_in_place(stream: DataStream) -> None:
    """Say that each record is in the subtask of its key already, if all steps since a keyed one kept it there."""
    step = stream._transformation
    if isinstance(step, PartitionTransformation) and isinstance(step.partitioner, KeyGroupPartitioner):
        step.partitioner = replace(step.partitioner, in_place=True)


def add_step(env: Execution, transformation: Transformation) -> None:
    """Add a step to the program."""
    env._register(transformation)


def add_keyed_step(stream: KeyedStream, name: str, operator: Operator) -> DataStream:
    """Add an operator with keyed state; return its results."""
    return stream._add_keyed_operator(name, operator, None)


def add_collect_sink(stream: DataStream, name: str, sink: Sink) -> SinkTransformation:
    """Add a sink that follows the parallelism of its input."""
    return stream._add_collect_sink(name, sink)


def steps_to_run(env: Execution) -> list[Transformation]:
    """Return the steps of a program that no job has run; changing the list changes the program."""
    return env._transformations


def checked_program(env: Execution) -> Program:
    """Check the settings of an environment; return its steps and settings."""
    env._check_configuration()
    return env._program()
