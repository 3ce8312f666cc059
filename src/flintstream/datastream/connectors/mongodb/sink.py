"""The sink of MongoDB, and its builder."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from flintstream.common._generic import Generic, T_contra
from flintstream.connectors.mongodb.writer import MongoOutput, MongoTarget
from flintstream.datastream._settings import check_bool, check_integer, check_member
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.mongodb._place import PlaceBuilder
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from flintstream.connectors.sink import WriterContext

    _Serialize = Callable[[object, "MongoSinkContext"], object]

__all__ = [
    "MongoSerializationSchema",
    "MongoSink",
    "MongoSinkBuilder",
    "MongoSinkContext",
]


@dataclass(frozen=True)
class MongoSinkContext:
    """What a schema gets to know about its subtask.

    >>> context = MongoSinkContext(subtask=0, parallelism=2)
    >>> context.process_time() > 1_700_000_000_000
    True
    """

    subtask: int
    parallelism: int

    def process_time(self) -> int:
        """Return the time of the machine (ms since the epoch)."""
        return time.time_ns() // 1_000_000


class MongoSerializationSchema(ABC, Generic[T_contra]):
    """Makes the change for a record.

    >>> class Newest(MongoSerializationSchema):
    ...     def serialize(self, element, sink_context):
    ...         from pymongo import UpdateOne
    ...
    ...         return UpdateOne({"_id": element[0]}, {"$set": {"count": element[1]}}, upsert=True)
    >>> builder = MongoSink.builder().set_serialization_schema(Newest())
    """

    @abstractmethod
    def serialize(self, element: T_contra, sink_context: MongoSinkContext) -> object:
        """Return a document to insert, or a change of the driver.

        The changes are ``pymongo.InsertOne``, ``UpdateOne``, ``UpdateMany``, ``ReplaceOne``, ``DeleteOne`` and
        ``DeleteMany``. A record that is written again after a failure should replace its document, not add one.
        """


@dataclass(frozen=True)
class _Models:
    """Makes the change for a record in a task."""

    serialize: _Serialize = field(repr=False)

    def __call__(self, record: object, context: WriterContext) -> object:
        return self.serialize(record, MongoSinkContext(context.subtask, context.parallelism))


class MongoSink(MongoTarget[T_contra]):
    """Writes to a collection of MongoDB at least once, for ``sink_to``; see :meth:`builder`.

    >>> builder = MongoSink.builder().set_uri("mongodb://127.0.0.1:27017").set_database("shop").set_collection("words")
    >>> sink = builder.set_serialization_schema(lambda word, context: {"_id": word, "length": len(word)}).build()
    """

    @staticmethod
    def builder() -> MongoSinkBuilder[T_contra]:
        """Return a builder."""
        return MongoSinkBuilder()


class MongoSinkBuilder(PlaceBuilder, Generic[T_contra]):
    """Builds a sink of MongoDB.

    >>> sink = (
    ...     MongoSinkBuilder()
    ...     .set_uri("mongodb://ann:secret@127.0.0.1:27017")
    ...     .set_database("shop")
    ...     .set_collection("words")
    ...     .set_batch_size(500)
    ...     .set_batch_interval_ms(2000)
    ...     .set_max_retries(5)
    ...     .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    ...     .set_ordered_writes(False)
    ...     .set_bypass_document_validation(True)
    ...     .set_serialization_schema(lambda word, context: {"_id": word, "length": len(word)})
    ...     .build()
    ... )
    >>> sink.output.access.shown
    'shop.words at mongodb://ann:***@127.0.0.1:27017'
    """

    def __init__(self) -> None:
        """Start with the defaults of Flink's builder."""
        super().__init__()
        self._output = MongoOutput(self._access, _Models(_no_schema))

    def _change(self, **values: object) -> Self:
        self._output = replace(self._output, **values)  # type: ignore[arg-type]  # each method has checked its value
        return self

    def set_batch_size(self, batch_size: int) -> Self:
        """Set the most changes in a request; -1 for no limit."""
        if check_integer(batch_size, "the size of a batch", minimum=-1) == 0:
            raise ValueError("the size of a batch must be at least 1, or -1 for no limit")
        return self._change(batch_size=batch_size)

    def set_batch_interval_ms(self, batch_interval_ms: int) -> Self:
        """Set after which time a request is sent though it is not full; -1 for no limit.

        An epoch, which lasts a second at most without other settings, ends with such a request in any case.
        """
        return self._change(interval_ms=check_integer(batch_interval_ms, "the interval in ms", minimum=-1))

    def set_max_retries(self, max_retries: int) -> Self:
        """Set how often a request is sent again without progress before the job fails: after 1 s, 2 s and so on."""
        return self._change(max_retries=check_integer(max_retries, "the number of retries", minimum=0))

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee. ``NONE`` does the same as ``AT_LEAST_ONCE``.

        Raises:
            PlanError: It is ``EXACTLY_ONCE``, which Flink's sink does not have either.
        """
        check_member(delivery_guarantee, DeliveryGuarantee, "the delivery guarantee")
        if delivery_guarantee is DeliveryGuarantee.EXACTLY_ONCE:
            raise PlanError(
                "the sink of MongoDB writes at least once: use AT_LEAST_ONCE, and changes that may be repeated, such "
                "as UpdateOne with upsert=True"
            )
        return self

    def set_ordered_writes(self, ordered: bool) -> Self:
        """Set whether MongoDB makes the changes of a request one after the other, which is the default."""
        return self._change(ordered=check_bool(ordered, "ordered"))

    def set_bypass_document_validation(self, bypass_document_validation: bool) -> Self:
        """Set whether MongoDB skips the validation rules of the collection."""
        return self._change(bypasses_validation=check_bool(bypass_document_validation, "bypass_document_validation"))

    def set_serialization_schema(
        self, serialization_schema: MongoSerializationSchema[T_contra] | Callable[[T_contra, MongoSinkContext], object]
    ) -> Self:
        """Set what makes the change for a record: a schema, or a function of the record and the context."""
        if isinstance(serialization_schema, MongoSerializationSchema):
            return self._change(model_of=_Models(cast("_Serialize", serialization_schema.serialize)))
        if not callable(serialization_schema):
            raise TypeError(f"expected a MongoSerializationSchema or a function, got {serialization_schema!r}")
        return self._change(model_of=_Models(cast("_Serialize", serialization_schema)))

    def build(self) -> MongoSink[T_contra]:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing or wrong.
            MissingDependencyError: The driver is not installed.
        """
        if self._output.model_of == _Models(_no_schema):
            raise PlanError("the sink needs a schema: set_serialization_schema(lambda record, context: {...})")
        return MongoSink(replace(self._output, access=self._access.check()))


def _no_schema(record: object, context: MongoSinkContext) -> object:
    raise NotImplementedError
