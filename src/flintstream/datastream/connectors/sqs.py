"""The sink of Amazon SQS, with the names of Flink's connector, which has no Python classes.

It needs the extra ``aws``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._generic import T_contra
from flintstream.connectors.aws.client import AwsAccess
from flintstream.connectors.aws.writer import AwsOutput, SqsWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream.connectors.kinesis._sinks import _Builder, _nothing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from flintstream.connectors.sink import SinkWriter, WriterContext

__all__ = ["SqsSink", "SqsSinkBuilder"]


class SqsSink(Sink[T_contra]):
    """Writes to a queue, for ``sink_to``, at least once: all records of an epoch are written before it ends.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = SqsSink.builder().set_sqs_client_properties({"aws.region": "eu-west-1"})
    >>> builder = builder.set_sqs_url("https://sqs.eu-west-1.amazonaws.com/123456789012/orders")
    >>> type(builder.set_serialization_schema(SimpleStringSchema()).build()).__name__
    'SqsSink'
    """

    waits_for_checkpoint = False

    def __init__(self, output: AwsOutput) -> None:
        """Take the settings; programs use :meth:`builder` instead."""
        self._output = output

    @staticmethod
    def builder() -> SqsSinkBuilder:
        """Return a builder."""
        return SqsSinkBuilder()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return SqsWriter(self._output, context.subtask)


class SqsSinkBuilder(_Builder):
    """Builds a :class:`SqsSink`. It needs properties, the URL of a queue, and a schema that makes texts.

    >>> from flintstream.common import SimpleStringSchema
    >>> builder = SqsSinkBuilder().set_sqs_client_properties({"aws.region": "eu-west-1"})
    >>> builder = builder.set_sqs_url("https://sqs.eu-west-1.amazonaws.com/123456789012/orders")
    >>> sink = builder.set_serialization_schema(SimpleStringSchema()).set_max_batch_size(5).build()
    """

    def __init__(self) -> None:
        most = 256 * 2**10
        super().__init__(AwsOutput(AwsAccess({}), "", _nothing, 10, most_bytes=most, most_record_bytes=most))

    def set_sqs_url(self, sqs_url: str) -> Self:
        """Set the URL of the queue."""
        return self._set_stream(sqs_url)

    def set_sqs_client_properties(self, sqs_client_properties: Mapping[str, str]) -> Self:
        """Set the properties of the client, such as ``aws.region`` and ``aws.credentials.provider``."""
        return self._set_properties(sqs_client_properties)

    def build(self) -> SqsSink:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing.
            MissingDependencyError: boto3 is not installed.
        """
        return SqsSink(self._build_output("set_sqs_url"))
