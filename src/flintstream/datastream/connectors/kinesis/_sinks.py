"""The sinks of Kinesis and Firehose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintstream.common._generic import T_contra
from flintstream.common.serialization import SerializationSchema
from flintstream.connectors.aws.client import AwsAccess, as_texts
from flintstream.connectors.aws.writer import AwsOutput, FirehoseWriter, KinesisWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_bool, check_integer
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Self

    from flintstream.connectors.sink import SinkWriter, WriterContext


class PartitionKeyGenerator:
    """The partition key of a record, which decides on its shard. Records of one key stay in order.

    >>> PartitionKeyGenerator.random().random_keys, PartitionKeyGenerator.fixed().random_keys
    (True, False)
    >>> by_city = PartitionKeyGenerator(lambda order: order["city"])
    >>> by_city.key_of({"city": "Bern", "pears": 3})
    'Bern'
    """

    def __init__(self, key_of: Callable[[object], str] | None = None, *, random_keys: bool = False) -> None:
        """Take a function that returns the key of a record. PyFlink has only the static methods."""
        self.key_of = key_of
        self.random_keys = random_keys

    @staticmethod
    def fixed() -> PartitionKeyGenerator:
        """Return a generator of one key per subtask."""
        return PartitionKeyGenerator()

    @staticmethod
    def random() -> PartitionKeyGenerator:
        """Return a generator of random keys."""
        return PartitionKeyGenerator(random_keys=True)


@dataclass(frozen=True)
class _Serialized:
    """Serializes records with a schema."""

    schema: SerializationSchema

    def __call__(self, value: object) -> bytes:
        return self.schema.serialize(value) or b""


def _nothing(value: object) -> bytes:
    raise NotImplementedError


class KinesisStreamsSink(Sink[T_contra]):
    """Writes to a stream, for ``sink_to``, at least once: all records of an epoch are written before it ends.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = KinesisStreamsSink.builder().set_kinesis_client_properties({"aws.region": "eu-west-1"})
    >>> builder = builder.set_stream_name("orders").set_serialization_schema(SimpleStringSchema())
    >>> type(builder.set_partition_key_generator(PartitionKeyGenerator.random()).build()).__name__
    'KinesisStreamsSink'
    """

    waits_for_checkpoint = False

    def __init__(self, output: AwsOutput) -> None:
        """Take the settings; programs use :meth:`builder` instead."""
        self._output = output

    @staticmethod
    def builder() -> KinesisStreamsSinkBuilder:
        """Return a builder."""
        return KinesisStreamsSinkBuilder()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return KinesisWriter(self._output, context.subtask)


class KinesisFirehoseSink(Sink[T_contra]):
    """Writes to a delivery stream, for ``sink_to``, at least once: an epoch ends when all its records are written.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = KinesisFirehoseSink.builder().set_firehose_client_properties({"aws.region": "eu-west-1"})
    >>> builder = builder.set_delivery_stream_name("orders").set_serialization_schema(SimpleStringSchema())
    >>> type(builder.build()).__name__
    'KinesisFirehoseSink'
    """

    waits_for_checkpoint = False

    def __init__(self, output: AwsOutput) -> None:
        """Take the settings; programs use :meth:`builder` instead."""
        self._output = output

    @staticmethod
    def builder() -> KinesisFirehoseSinkBuilder:
        """Return a builder."""
        return KinesisFirehoseSinkBuilder()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return FirehoseWriter(self._output, context.subtask)


class _Builder:
    """The settings that both builders have."""

    def __init__(self, output: AwsOutput) -> None:
        self._output = output
        self._limits = output
        """What the service allows."""

    def set_serialization_schema(self, serialization_schema: SerializationSchema) -> Self:
        """Set the schema, which makes the data of a record."""
        if not isinstance(serialization_schema, SerializationSchema):
            raise TypeError(f"expected a SerializationSchema, got {serialization_schema!r}")
        self._output = replace(self._output, serialize=_Serialized(serialization_schema))
        return self

    def set_fail_on_error(self, fail_on_error: bool) -> Self:
        """Set whether a rejected record fails the job. By default, it is sent again until it is accepted."""
        self._output = replace(self._output, fail_on_error=check_bool(fail_on_error, "fail_on_error"))
        return self

    def set_max_batch_size(self, max_batch_size: int) -> Self:
        """Set the maximum number of records in a request, 500 by default, which is also the limit."""
        most = self._limits.most_records
        number = check_integer(max_batch_size, "the number of records", minimum=1, maximum=most)
        self._output = replace(self._output, most_records=number)
        return self

    def set_max_in_flight_requests(self, max_in_flight_requests: int) -> Self:
        """Do nothing: a subtask sends one request at a time, so that records stay in order."""
        check_integer(max_in_flight_requests, "the number of requests", minimum=1)
        return self

    def set_max_buffered_requests(self, max_buffered_requests: int) -> Self:
        """Do nothing: a subtask buffers at most one request."""
        check_integer(max_buffered_requests, "the number of records", minimum=1)
        return self

    def set_max_batch_size_in_bytes(self, max_batch_size_in_bytes: int) -> Self:
        """Set the maximum size of a request (bytes).

        It is 5 MiB for Kinesis and 4 MiB for Firehose by default, and also if it is larger, as published programs set
        it: the services accept no more.
        """
        number = check_integer(max_batch_size_in_bytes, "the size of a request", minimum=1)
        self._output = replace(self._output, most_bytes=min(number, self._limits.most_bytes))
        return self

    def set_max_time_in_buffer_ms(self, max_time_in_buffer_ms: int) -> Self:
        """Do nothing: records are written at the end of an epoch, which lasts a second at most."""
        check_integer(max_time_in_buffer_ms, "the time in ms", minimum=1)
        return self

    def set_max_record_size_in_bytes(self, max_record_size_in_bytes: int) -> Self:
        """Set the maximum size of a record (bytes), 1 MiB by default; 1,000 KiB for Firehose.

        A larger record fails the job.
        """
        number = check_integer(max_record_size_in_bytes, "the size of a record", minimum=1)
        self._output = replace(self._output, most_record_bytes=number)
        return self

    def _set_stream(self, name: str) -> Self:
        if not isinstance(name, str) or not name:
            raise TypeError(f"the name of the stream must be a str, got {name!r}")
        self._output = replace(self._output, stream=name)
        return self

    def _set_properties(self, properties: Mapping[str, str]) -> Self:
        self._output = replace(self._output, access=AwsAccess(as_texts(properties)))
        return self

    def _build_output(self, name: str) -> AwsOutput:
        output = self._output
        if not output.stream:
            raise PlanError(f"the sink needs the name of the stream: {name}('orders')")
        if output.serialize is _nothing:
            raise PlanError("the sink needs a schema: set_serialization_schema(SimpleStringSchema())")
        output.access.check()
        return output


class KinesisStreamsSinkBuilder(_Builder):
    """Builds a :class:`KinesisStreamsSink`. It needs properties, a stream, a schema and a generator of keys.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = KinesisStreamsSinkBuilder().set_kinesis_client_properties({"aws.region": "eu-west-1"})
    >>> builder = builder.set_stream_name("orders").set_serialization_schema(SimpleStringSchema())
    >>> builder = builder.set_partition_key_generator(PartitionKeyGenerator.fixed()).set_fail_on_error(False)
    >>> builder = builder.set_max_batch_size(500).set_max_in_flight_requests(50).set_max_buffered_requests(10_000)
    >>> builder = builder.set_max_batch_size_in_bytes(5 * 1024 * 1024).set_max_time_in_buffer_ms(5000)
    >>> sink = builder.set_max_record_size_in_bytes(1024 * 1024).build()
    """

    def __init__(self) -> None:
        super().__init__(AwsOutput(AwsAccess({}), "", _nothing))
        self._generator: PartitionKeyGenerator | None = None

    def set_stream_name(self, stream_name: str) -> Self:
        """Set the name or ARN of the stream."""
        return self._set_stream(stream_name)

    def set_partition_key_generator(self, partition_key_generator: PartitionKeyGenerator) -> Self:
        """Set the generator of partition keys."""
        if not isinstance(partition_key_generator, PartitionKeyGenerator):
            raise TypeError(f"expected a PartitionKeyGenerator, got {partition_key_generator!r}")
        self._generator = partition_key_generator
        return self

    def set_kinesis_client_properties(self, kinesis_client_properties: Mapping[str, str]) -> Self:
        """Set the properties of the client, such as ``aws.region`` and ``aws.credentials.provider``."""
        return self._set_properties(kinesis_client_properties)

    def build(self) -> KinesisStreamsSink:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing.
            MissingDependencyError: boto3 is not installed.
        """
        if self._generator is None:
            raise PlanError("the sink needs keys: set_partition_key_generator(PartitionKeyGenerator.random())")
        output = replace(self._output, key_of=self._generator.key_of, random_keys=self._generator.random_keys)
        self._output = output
        return KinesisStreamsSink(self._build_output("set_stream_name"))


class KinesisFirehoseSinkBuilder(_Builder):
    """Builds a :class:`KinesisFirehoseSink`. It needs properties, a delivery stream and a schema.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = KinesisFirehoseSinkBuilder().set_firehose_client_properties({"aws.region": "eu-west-1"})
    >>> builder = builder.set_delivery_stream_name("orders").set_serialization_schema(SimpleStringSchema())
    >>> sink = builder.set_max_batch_size(20).build()
    >>> builder = KinesisFirehoseSinkBuilder().set_fail_on_error(True).set_max_in_flight_requests(50)
    >>> builder = builder.set_max_buffered_requests(10_000).set_max_batch_size_in_bytes(4 * 1024 * 1024)
    >>> builder = builder.set_max_time_in_buffer_ms(5000).set_max_record_size_in_bytes(1000 * 1024)
    """

    def __init__(self) -> None:
        super().__init__(AwsOutput(AwsAccess({}), "", _nothing, most_bytes=4 * 2**20, most_record_bytes=1000 * 2**10))

    def set_delivery_stream_name(self, delivery_stream_name: str) -> Self:
        """Set the name of the delivery stream."""
        return self._set_stream(delivery_stream_name)

    def set_firehose_client_properties(self, firehose_client_properties: Mapping[str, str]) -> Self:
        """Set the properties of the client, such as ``aws.region`` and ``aws.credentials.provider``."""
        return self._set_properties(firehose_client_properties)

    def build(self) -> KinesisFirehoseSink:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing.
            MissingDependencyError: boto3 is not installed.
        """
        return KinesisFirehoseSink(self._build_output("set_delivery_stream_name"))
