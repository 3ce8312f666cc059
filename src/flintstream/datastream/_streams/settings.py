"""Settings of steps, common to streams and sinks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flintstream.datastream._settings import check_text
from flintstream.datastream._streams.functions import StaysInProgram
from flintstream.graph.drawing import drawing

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.datastream._streams.execution import Execution
    from flintstream.datastream.slot_sharing_group import SlotSharingGroup
    from flintstream.graph.transformation import Transformation


class Drawn:
    """Shows a notebook the steps up to here."""

    def _ends(self) -> tuple[Transformation, ...]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return drawing(self._ends())


class Settings(Drawn, StaysInProgram):
    """The settings of a step, common to streams and sinks."""

    _transformation: Transformation
    _env: Execution

    def _ends(self) -> tuple[Transformation, ...]:
        return (self._transformation,)

    def get_name(self) -> str:
        """Return the name of this step.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.from_collection([1]).map(str).get_name()
        'Map'
        """
        return self._transformation.name

    def name(self, name: str) -> Self:
        """Name this step, for plans, metrics and errors.

        Raises:
            TypeError: ``name`` is not a str.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> env.from_collection([1]).map(str).name("to text").get_name()
        'to text'
        """
        self._transformation.name = check_text(name, f"The name of operator '{self._transformation.name}'")
        return self

    def uid(self, uid: str) -> Self:
        """Set an ID that survives changes to the program, by which the state of this step is found.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> sums = env.from_collection([1, 2]).key_by(lambda n: 0).reduce(lambda a, b: a + b).uid("sums")
        >>> sums.uid("totals") is sums
        True
        """
        self._transformation.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Set the hash by which the state of this step is found.

        Raises:
            ValueError: ``uid_hash`` does not have 32 hexadecimal digits.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> texts = env.from_collection([1]).map(str)
        >>> texts.set_uid_hash("0123456789abcdef0123456789abcdef") is texts
        True
        """
        if not isinstance(uid_hash, str) or not re.fullmatch("[0-9a-fA-F]{32}", uid_hash):
            raise ValueError(
                f"The uid hash of operator '{self._transformation.name}' must have 32 hexadecimal digits, "
                f"but got {uid_hash!r}",
            )
        self._transformation.uid_hash = uid_hash
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the number of subtasks of this step.

        Raises:
            ValueError: ``parallelism`` is not a positive number, or more than 1 for a non-parallel step.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.from_collection([3]).map(lambda n: n * n).set_parallelism(2).print().set_parallelism(1)
        >>> _ = env.execute()
        9
        """
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ValueError(
                f"The parallelism of operator '{self._transformation.name}' must be at least 1, got {parallelism!r}",
            )
        self._check_parallel("parallelism", parallelism)
        self._transformation.parallelism = parallelism
        return self

    def _check_parallel(self, what: str, given: int) -> None:
        if given > 1 and not self._transformation.parallel:
            raise ValueError(
                f"The {what} of non parallel operator must be 1: '{self._transformation.name}' runs in one subtask, "
                f"but got {given}. Set it on the steps after this one",
            )

    def set_description(self, description: str) -> Self:
        """Describe this step for the execution plan.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> _ = env.from_collection([1]).map(str).set_description("numbers as text").print()
        >>> "numbers as text" in env.get_execution_plan()
        True
        """
        self._transformation.description = description
        return self

    def disable_chaining(self) -> Self:
        """Keep this step out of chains. The plan shows this, and records are converted to their types on both sides.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> list(env.from_collection([1, 2]).map(str).disable_chaining().execute_and_collect(limit=9))
        ['1', '2']
        """
        self._transformation.chaining = "NEVER"
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Set the slot sharing group. It only appears in the plan, because Spark places the tasks.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> list(env.from_collection([1, 2]).map(str).slot_sharing_group("heavy").execute_and_collect(limit=9))
        ['1', '2']
        """
        if isinstance(slot_sharing_group, str):
            self._transformation.slot_sharing_group = slot_sharing_group
        elif not hasattr(slot_sharing_group, "get_name"):
            raise TypeError(
                f"slot_sharing_group() of operator '{self._transformation.name}' needs a name or a SlotSharingGroup, "
                f"but got {slot_sharing_group!r}",
            )
        else:
            self._transformation.slot_sharing_group = slot_sharing_group.get_name()
        return self


class StepSettings(Settings):
    """The settings of a stream."""

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Set the number of key groups (1 to 32768), the maximum parallelism of this step.

        Raises:
            ValueError: ``max_parallelism`` is out of range, or more than 1 for a non-parallel step.
        """
        if not isinstance(max_parallelism, int) or not 1 <= max_parallelism <= 32768:
            raise ValueError(
                f"The max parallelism of operator '{self._transformation.name}' must be within 1 to 32768, "
                f"but got {max_parallelism!r}",
            )
        self._check_parallel("max parallelism", max_parallelism)
        self._transformation.max_parallelism = max_parallelism
        return self

    def force_non_parallel(self) -> Self:
        """Run this step in one subtask."""
        self._transformation.parallelism = 1
        self._transformation.max_parallelism = 1
        self._transformation.parallel = False
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Set how long (ms) results may be buffered, like the environment's ``set_buffer_timeout``.

        All steps share the same epochs, so the shortest timeout applies.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> hurried = env.from_collection([1, 2]).map(lambda n: n + 1).set_buffer_timeout(10)
        >>> list(hurried.execute_and_collect(limit=9))
        [2, 3]

        Raises:
            ValueError: ``timeout_millis`` is less than -1.
        """
        if timeout_millis < -1:
            raise ValueError(
                f"The buffer timeout of '{self._transformation.name}' must be -1 (none) or more ms, "
                f"got {timeout_millis}",
            )
        self._transformation.buffer_timeout_ms = timeout_millis
        return self

    def start_new_chain(self) -> Self:
        """Start a chain with this step."""
        self._transformation.chaining = "HEAD"
        return self


class DataStreamSink(Settings):
    """The end of a stream (PyFlink's ``DataStreamSink``).

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> end = env.from_collection([1, 2]).print().name("on the screen").set_parallelism(1)
    >>> end.get_name()
    'on the screen'
    >>> _ = env.execute()
    1
    2
    """

    def __init__(self, env: Execution, transformation: Transformation) -> None:
        """Wrap the sink's transformation."""
        self._env = env
        self._transformation = transformation
