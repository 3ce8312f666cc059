"""The source of MongoDB, and its builder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from flintstream.common._generic import Generic, T_co
from flintstream.connectors.mongodb.source import MongoScan
from flintstream.connectors.mongodb.splitting import MongoInput
from flintstream.datastream._settings import check_bool, check_integer, check_member
from flintstream.datastream.connectors.mongodb._place import PlaceBuilder
from flintstream.datastream.slot_sharing_group import MemorySize
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.mongodb.client import Document

    _Read = Callable[[Document], object]


class PartitionStrategy(Enum):
    """How a collection is divided into parts, which subtasks read.

    >>> builder = MongoSource.builder().set_partition_strategy(PartitionStrategy.SAMPLE)
    """

    SINGLE = "single"
    """One part."""
    SAMPLE = "sample"
    """By the ids of a random sample."""
    SPLIT_VECTOR = "split-vector"
    """As the command ``splitVector`` says, or by a sample if the server does not have it or does not allow it."""
    SHARDED = "sharded"
    """The same: the chunks of a sharded collection are not used."""
    PAGINATION = "pagination"
    """By counting ids."""
    DEFAULT = "default"
    """The same as ``SPLIT_VECTOR``."""


class MongoDeserializationSchema(ABC, Generic[T_co]):
    """Makes a record of a document.

    >>> class Names(MongoDeserializationSchema):
    ...     def deserialize(self, document):
    ...         return document["name"]
    >>> Names().deserialize({"_id": 1, "name": "ann"}), Names().get_produced_type() is None
    ('ann', True)
    """

    @abstractmethod
    def deserialize(self, document: Document) -> T_co:
        """Return the record for a document, which is a dict as the driver reads it."""

    def get_produced_type(self) -> TypeInformation | None:
        """Return the type of the records; None if it is unknown."""
        return None


@dataclass(frozen=True)
class _Reads:
    """Returns, in a task, what makes a record."""

    read: _Read = field(repr=False)

    def __call__(self) -> _Read:
        return self.read


class MongoSource(MongoScan[T_co]):
    """Reads the documents of a collection once, for ``from_source``; see :meth:`builder`.

    >>> builder = (
    ...     MongoSource.builder().set_uri("mongodb://127.0.0.1:27017").set_database("shop").set_collection("users")
    ... )
    >>> source = builder.set_deserialization_schema(lambda document: document["name"]).build()
    >>> source.get_boundedness().name
    'BOUNDED'
    """

    @staticmethod
    def builder() -> MongoSourceBuilder[T_co]:
        """Return a builder."""
        return MongoSourceBuilder()


class MongoSourceBuilder(PlaceBuilder, Generic[T_co]):
    """Builds a source of MongoDB.

    >>> source = (
    ...     MongoSourceBuilder()
    ...     .set_uri("mongodb://ann:secret@127.0.0.1:27017")
    ...     .set_database("shop")
    ...     .set_collection("users")
    ...     .set_fetch_size(500)
    ...     .set_no_cursor_timeout(True)
    ...     .set_partition_strategy(PartitionStrategy.SAMPLE)
    ...     .set_partition_size(MemorySize.of_mebi_bytes(16))
    ...     .set_samples_per_partition(5)
    ...     .set_limit(10_000)
    ...     .set_projected_fields("_id", "name")
    ...     .set_deserialization_schema(lambda document: document["name"])
    ...     .build()
    ... )
    >>> source.input.access.shown
    'shop.users at mongodb://ann:***@127.0.0.1:27017'
    >>> paged = MongoSourceBuilder().set_partition_strategy(PartitionStrategy.PAGINATION)
    >>> paged = paged.set_partition_record_size(1000)
    """

    def __init__(self) -> None:
        """Start with the defaults of Flink's builder."""
        super().__init__()
        self._input = MongoInput(self._access, _Reads(_read_nothing))

    def _change(self, **values: object) -> Self:
        self._input = replace(self._input, **values)  # type: ignore[arg-type]  # each method has checked its value
        return self

    def set_fetch_size(self, fetch_size: int) -> Self:
        """Set how many documents the server sends at a time."""
        return self._change(fetch_size=check_integer(fetch_size, "the fetch size", minimum=1))

    def set_limit(self, limit: int) -> Self:
        """Set the most documents that each subtask reads; -1 for all."""
        return self._change(limit=check_integer(limit, "the limit", minimum=-1))

    def set_no_cursor_timeout(self, no_cursor_timeout: bool) -> Self:
        """Do nothing: if the server has ended a query, the source asks again behind the last document."""
        check_bool(no_cursor_timeout, "no_cursor_timeout")
        return self

    def set_partition_strategy(self, partition_strategy: PartitionStrategy) -> Self:
        """Set how the collection is divided."""
        check_member(partition_strategy, PartitionStrategy, "the strategy")
        return self._change(strategy=partition_strategy.value)

    def set_partition_size(self, partition_size: MemorySize) -> Self:
        """Set the size of a part; 64 MiB by default."""
        if not isinstance(partition_size, MemorySize):
            raise TypeError(f"the size of a part must be a MemorySize, got {partition_size!r}")
        size = check_integer(partition_size.get_bytes(), "the size of a part", minimum=1, maximum=1 << 62)
        return self._change(partition_bytes=size)

    def set_partition_record_size(self, partition_record_size: int) -> Self:
        """Set how many documents a part has, for ``PAGINATION``."""
        records = check_integer(partition_record_size, "the number of documents of a part", minimum=1)
        return self._change(partition_records=records)

    def set_samples_per_partition(self, samples_per_partition: int) -> Self:
        """Set how many documents a sample has for each part."""
        return self._change(samples=check_integer(samples_per_partition, "the number of samples", minimum=1))

    def set_projected_fields(self, *projected_fields: str) -> Self:
        """Set the fields to read; all by default."""
        if not projected_fields or not all(isinstance(name, str) for name in projected_fields):
            raise TypeError(f"the fields must be one or more names, got {projected_fields!r}")
        return self._change(fields=tuple(projected_fields))

    def set_deserialization_schema(
        self, deserialization_schema: MongoDeserializationSchema[T_co] | Callable[[Document], T_co]
    ) -> Self:
        """Set what makes a record of a document: a schema, or a function."""
        if isinstance(deserialization_schema, MongoDeserializationSchema):
            produced = deserialization_schema.get_produced_type()
            return self._change(make_read=_Reads(deserialization_schema.deserialize), produced_type=produced)
        if not callable(deserialization_schema):
            raise TypeError(f"expected a MongoDeserializationSchema or a function, got {deserialization_schema!r}")
        return self._change(make_read=_Reads(deserialization_schema), produced_type=None)

    def build(self) -> MongoSource[T_co]:
        """Return the source.

        Raises:
            PlanError: A required setting is missing or wrong.
            MissingDependencyError: The driver is not installed.
        """
        if self._input.make_read == _Reads(_read_nothing):
            raise PlanError("the source needs a schema: set_deserialization_schema(lambda document: ...)")
        return MongoSource(replace(self._input, access=self._access.check()))


def _read_nothing(document: Document) -> object:
    raise NotImplementedError
