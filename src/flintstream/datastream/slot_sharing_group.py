"""Memory sizes, and groups of operators with their resources."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flintstream.datastream._settings import MAX_LONG, Settings, check_integer
from flintstream.options.units import parse_bytes, size_text

if TYPE_CHECKING:
    from typing_extensions import Self


__all__ = ["MemorySize", "SlotSharingGroup"]


class MemorySize:
    """A number of bytes. Units are powers of 1024. Getters of larger units round down.

    >>> size = MemorySize.of_mebi_bytes(5)
    >>> size.get_kibi_bytes(), str(size), MemorySize.parse("5 mb") == size
    (5120, '5 mb', True)

    >>> size = MemorySize.of_mebi_bytes(3_000_000)
    >>> size.get_bytes(), size.get_mebi_bytes(), size.get_gibi_bytes(), size.get_tebi_bytes()
    (3145728000000, 3000000, 2929, 2)
    >>> size.get_java_memory_size() is size
    True
    """

    __slots__ = ("_bytes",)

    def __init__(self, bytes_size: int) -> None:
        """Create a size of this many bytes.

        Raises:
            TypeError: ``bytes_size`` is not an int.
            ValueError: ``bytes_size`` is negative.
        """
        self._bytes = check_integer(bytes_size, "a MemorySize in bytes", minimum=0, maximum=MAX_LONG)

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return a size of this many mebibytes.

        Raises:
            TypeError: ``mebi_bytes`` is not an int.
            ValueError: ``mebi_bytes`` is negative.
        """
        return MemorySize(check_integer(mebi_bytes, "a MemorySize in MiB", minimum=0, maximum=MAX_LONG >> 20) << 20)

    @staticmethod
    def parse(text: str) -> MemorySize:
        """Parse a size in the notation of Flink's configuration: ``20 kb``, ``5mb``, ``4096`` (bytes).

        PyFlink has no such method.

        Raises:
            ValueError: ``text`` is not a size.
        """
        return MemorySize(parse_bytes(text))

    def get_bytes(self) -> int:
        """Return the bytes."""
        return self._bytes

    def get_kibi_bytes(self) -> int:
        """Return the whole kibibytes (1024 bytes)."""
        return self._bytes >> 10

    def get_mebi_bytes(self) -> int:
        """Return the whole mebibytes (1024 KiB)."""
        return self._bytes >> 20

    def get_gibi_bytes(self) -> int:
        """Return the whole gibibytes (1024 MiB)."""
        return self._bytes >> 30

    def get_tebi_bytes(self) -> int:
        """Return the whole tebibytes (1024 GiB)."""
        return self._bytes >> 40

    def get_java_memory_size(self) -> MemorySize:
        """Return this object, which takes the place of PyFlink's Java object in all calls."""
        return self

    def __eq__(self, other: object) -> bool:
        return self._bytes == other._bytes if isinstance(other, MemorySize) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._bytes < other._bytes if isinstance(other, MemorySize) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._bytes <= other._bytes if isinstance(other, MemorySize) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __str__(self) -> str:
        return size_text(self._bytes)

    def __repr__(self) -> str:
        return f"MemorySize('{self}')"


class SlotSharingGroup(Settings):
    """A named group of operators, with the total resources for one subtask of each operator.

    Create it with :meth:`builder`. The resources have no effect: Spark places tasks by its own settings.

    >>> group = SlotSharingGroup.builder("heavy").set_cpu_cores(1.5).set_task_heap_memory_mb(512).build()
    >>> group.get_name(), group.get_cpu_cores(), group.get_managed_memory()
    ('heavy', 1.5, MemorySize('0 bytes'))

    >>> group = (
    ...     SlotSharingGroup.builder("gpu")
    ...     .set_cpu_cores(2)
    ...     .set_task_heap_memory_mb(512)
    ...     .set_task_off_heap_memory(MemorySize.of_mebi_bytes(64))
    ...     .set_external_resource("gpu", 1)
    ...     .build()
    ... )
    >>> group.get_task_heap_memory().get_mebi_bytes(), group.get_task_off_heap_memory().get_mebi_bytes()
    (512, 64)
    >>> group.get_external_resources(), group.get_java_slot_sharing_group() is group
    ({'gpu': 1.0}, True)
    """

    def __init__(
        self,
        name: str,
        *,
        cpu_cores: float | None = None,
        task_heap_memory: MemorySize | None = None,
        task_off_heap_memory: MemorySize | None = None,
        managed_memory: MemorySize | None = None,
        external_resources: dict[str, float] | None = None,
    ) -> None:
        """Take the values that the builder has checked."""
        self._name = name
        self._cpu_cores = cpu_cores
        self._task_heap_memory = task_heap_memory
        self._task_off_heap_memory = task_off_heap_memory
        self._managed_memory = managed_memory
        self._external_resources = dict(external_resources or {})

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Return a builder of a group with this name.

        Raises:
            TypeError: ``name`` is not a str.
        """
        return SlotSharingGroup.Builder(name)

    def get_name(self) -> str:
        """Return the name."""
        return self._name

    def get_managed_memory(self) -> MemorySize | None:
        """Return the memory for state backends; None if the group names no resources."""
        return self._managed_memory

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the memory for user code; None if the group names no resources."""
        return self._task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the memory outside the Java heap; None if the group names no resources."""
        return self._task_off_heap_memory

    def get_cpu_cores(self) -> float | None:
        """Return the processor cores; None if the group names no resources."""
        return self._cpu_cores

    def get_external_resources(self) -> dict[str, float]:
        """Return the amounts of further resources by name."""
        return dict(self._external_resources)

    def get_java_slot_sharing_group(self) -> SlotSharingGroup:
        """Return this object, which takes the place of PyFlink's Java object in all calls."""
        return self

    class Builder:
        """Collects the resources of a group. Without any, the group only has a name."""

        def __init__(self, name: str) -> None:
            """Take the name."""
            if not isinstance(name, str):
                raise TypeError(f"the name of a slot sharing group must be a str, got {name!r}")
            self._name = name
            self._cpu_cores: float | None = None
            self._memory: dict[str, MemorySize] = {}
            self._external_resources: dict[str, float] = {}

        def _set_memory(self, kind: str, size: MemorySize) -> Self:
            if not isinstance(size, MemorySize):
                raise TypeError(
                    f"the {kind} of slot sharing group '{self._name}' must be a MemorySize, got {size!r}; "
                    "use MemorySize.of_mebi_bytes(...)"
                )
            self._memory[kind] = size
            return self

        def set_cpu_cores(self, cpu_cores: float) -> Self:
            """Set the processor cores.

            Raises:
                TypeError: ``cpu_cores`` is not a number.
                ValueError: ``cpu_cores`` is not positive.
            """
            cores = _check_amount(cpu_cores, f"the cpu cores of slot sharing group '{self._name}'")
            if cores == 0:
                raise ValueError(f"the cpu cores of slot sharing group '{self._name}' must be positive, got 0")
            self._cpu_cores = cores
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> Self:
            """Set the memory for user code.

            Raises:
                TypeError: ``task_heap_memory`` is not a :class:`MemorySize`.
                ValueError: ``task_heap_memory`` is 0.
            """
            if task_heap_memory == MemorySize(0):
                raise ValueError(f"the task heap memory of slot sharing group '{self._name}' must be positive, got 0")
            return self._set_memory("task heap memory", task_heap_memory)

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> Self:
            """Set the memory for user code, in MiB; see :meth:`set_task_heap_memory`."""
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> Self:
            """Set the memory outside the Java heap.

            Raises:
                TypeError: ``task_off_heap_memory`` is not a :class:`MemorySize`.
            """
            return self._set_memory("task off-heap memory", task_off_heap_memory)

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> Self:
            """Set the memory outside the Java heap, in MiB; see :meth:`set_task_off_heap_memory`."""
            return self.set_task_off_heap_memory(MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> Self:
            """Set the memory for state backends.

            Raises:
                TypeError: ``managed_memory`` is not a :class:`MemorySize`.
            """
            return self._set_memory("managed memory", managed_memory)

        def set_managed_memory_mb(self, managed_memory_mb: int) -> Self:
            """Set the memory for state backends, in MiB; see :meth:`set_managed_memory`."""
            return self.set_managed_memory(MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> Self:
            """Set the amount of a further resource, such as GPUs. The last value for a name counts.

            Raises:
                TypeError: ``name`` is not a str, or ``value`` is not a number.
                ValueError: ``value`` is negative.
            """
            if not isinstance(name, str):
                raise TypeError(f"the name of an external resource must be a str, got {name!r}")
            what = f"the external resource '{name}' of slot sharing group '{self._name}'"
            self._external_resources[name] = _check_amount(value, what)
            return self

        def build(self) -> SlotSharingGroup:
            """Return the group.

            Raises:
                ValueError: resources are set, but not both cpu cores and task heap memory (Flink's rule).
            """
            heap = self._memory.get("task heap memory")
            if self._cpu_cores is None and not self._memory and not self._external_resources:
                return SlotSharingGroup(self._name)
            if self._cpu_cores is None or heap is None:
                missing = "set_cpu_cores()" if self._cpu_cores is None else "set_task_heap_memory()"
                raise ValueError(
                    f"slot sharing group '{self._name}' names resources, so it needs both cpu cores and task heap "
                    f"memory: call {missing}, or set no resources"
                )
            return SlotSharingGroup(
                self._name,
                cpu_cores=self._cpu_cores,
                task_heap_memory=heap,
                task_off_heap_memory=self._memory.get("task off-heap memory", MemorySize(0)),
                managed_memory=self._memory.get("managed memory", MemorySize(0)),
                external_resources=self._external_resources,
            )


def _check_amount(value: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} must be a number, got {value!r} of type {type(value).__name__}")
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{what} must be a positive number, got {value!r}")
    return float(value)
