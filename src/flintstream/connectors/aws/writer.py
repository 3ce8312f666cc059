"""Writers of Kinesis, Firehose and SQS: batches, of which the service may reject some records."""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict, cast

from flintstream.connectors.aws.client import AwsError, close_client, core, passing
from flintstream.connectors.aws.shards import of_stream
from flintstream.connectors.patience import Patience
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.aws.client import AwsAccess


@dataclass(frozen=True)
class AwsOutput:
    """The settings of a sink. Tasks get a copy."""

    access: AwsAccess
    stream: str
    """The name or ARN of the stream, or the name of the delivery stream."""
    serialize: Callable[[object], bytes] = field(repr=False)
    most_records: int = 500
    """Maximum number of records in a request."""
    most_bytes: int = 5 * 2**20
    """Maximum size of a request."""
    most_record_bytes: int = 2**20
    """Maximum size of a record."""
    fail_on_error: bool = False
    """Whether a rejected record fails the job; otherwise it is sent again."""
    key_of: Callable[[object], str] | None = None
    """Returns the partition key of a record; None for that of the subtask, or for Firehose."""
    random_keys: bool = False


class Failure(TypedDict, total=False):
    """The result of a record."""

    ErrorCode: str
    ErrorMessage: str


class Unprocessed(TypedDict, total=False):
    """The requests that a table has not taken, by its name."""

    UnprocessedItems: dict[str, list[dict[str, object]]]


class Unsent(TypedDict, total=False):
    """The messages that a queue has not taken."""

    Failed: list[dict[str, object]]


class PutClient(Protocol):
    """The clients, as far as a sink needs them."""

    def put_records(self, **arguments: object) -> dict[str, list[Failure]]:
        """Write to a stream."""

    def batch_write_item(self, **arguments: object) -> Unprocessed:
        """Write to a table."""

    def send_message_batch(self, **arguments: object) -> Unsent:
        """Write to a queue."""

    def put_record_batch(self, **arguments: object) -> dict[str, list[Failure]]:
        """Write to a delivery stream."""


class Entry(NamedTuple):
    """A record of a request, and its size (bytes)."""

    content: dict[str, object]
    size: int


class BatchWriter(SinkWriter, ABC):
    """Buffers records, and sends one request at a time, so that records stay in order.

    At the end of an epoch the service has all of them.
    """

    service: str

    def __init__(self, output: AwsOutput, subtask: int) -> None:
        """Create the writer, which connects with the first request."""
        self._output = output
        self._subtask = str(subtask)
        self._client: PutClient | None = None
        self._waiting: list[Entry] = []
        self._bytes = 0
        self._patience = Patience(f"could not write to {output.stream}")

    @abstractmethod
    def entry(self, value: object, data: bytes) -> Entry:
        """Return what a request has of a record."""

    @abstractmethod
    def put(self, client: PutClient, entries: list[dict[str, object]]) -> list[Failure]:
        """Send one request, and return the result of each record."""

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Buffer records, and send each full request.

        Raises:
            ValueError: A record is too large.
        """
        output = self._output
        for value in values:
            try:
                entry = self.entry(value, output.serialize(value))
            except Exception as error:
                add_note(error, f"while writing {shorten(value)} to {output.stream}")
                raise
            if entry.size > output.most_record_bytes:
                raise ValueError(
                    f"a record of {entry.size:,} bytes is too large for {output.stream}: the limit is "
                    f"{output.most_record_bytes:,}"
                )
            if self._waiting and self._bytes + entry.size > output.most_bytes:
                self._flush()
            self._waiting.append(entry)
            self._bytes += entry.size
            if len(self._waiting) >= output.most_records:
                self._flush()

    def close(self) -> None:
        """Disconnect."""
        close_client(self._client)

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Write the buffered records before the epoch ends."""
        self._flush()
        return ()

    def _flush(self) -> None:
        """Write the buffered records. While the service is overloaded or away, this waits, and the job with it.

        Raises:
            AwsError: The service rejects the request, or a record if errors are to fail the job.
        """
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        entries = [entry.content for entry in waiting]
        while entries:
            try:
                if self._client is None:
                    self._client = cast("PutClient", self._output.access.client(self.service))
                results = self.put(self._client, entries)
            except (core("exceptions").ClientError, core("exceptions").BotoCoreError) as error:
                if self._output.fail_on_error or not passing(error):
                    raise AwsError(
                        f"{len(entries)} records were not written to {self._output.stream}: {error}"
                    ) from None
                time.sleep(self._patience.note_failure(str(error)))
                continue
            failed = [
                (entry, result) for entry, result in zip(entries, results, strict=True) if result.get("ErrorCode")
            ]
            if not failed:
                self._patience.note_success()
                return
            why = f"{failed[0][1].get('ErrorCode')}: {failed[0][1].get('ErrorMessage')}"
            why = f"{len(failed)} of {len(entries)} records were rejected, the first one with {why}"
            if self._output.fail_on_error:
                raise AwsError(f"{self._output.stream}: {why}")
            if len(failed) < len(entries):
                self._patience.note_progress()
            entries = [entry for entry, _ in failed]
            time.sleep(self._patience.note_failure(why))


class KinesisWriter(BatchWriter):
    """Writes to a stream of Kinesis."""

    service = "kinesis"

    def entry(self, value: object, data: bytes) -> Entry:
        """Return data and partition key; the service counts both."""
        output = self._output
        if output.random_keys:
            key = uuid.uuid4().hex
        else:
            key = self._subtask if output.key_of is None else output.key_of(value)
        return Entry({"Data": data, "PartitionKey": key}, len(data) + len(key.encode()))

    def put(self, client: PutClient, entries: list[dict[str, object]]) -> list[Failure]:
        """Send the records."""
        return client.put_records(**of_stream(self._output.stream), Records=entries)["Records"]


class FirehoseWriter(BatchWriter):
    """Writes to a delivery stream of Firehose."""

    service = "firehose"

    def entry(self, value: object, data: bytes) -> Entry:
        """Return the data."""
        return Entry({"Data": data}, len(data))

    def put(self, client: PutClient, entries: list[dict[str, object]]) -> list[Failure]:
        """Send the records."""
        answer = client.put_record_batch(DeliveryStreamName=self._output.stream, Records=entries)
        return answer["RequestResponses"]


class SqsWriter(BatchWriter):
    """Writes to a queue of SQS."""

    service = "sqs"

    def entry(self, value: object, data: bytes) -> Entry:
        """Return the message, which must be a text.

        Raises:
            UnicodeDecodeError: The data is none.
        """
        return Entry({"MessageBody": data.decode()}, len(data))

    def put(self, client: PutClient, entries: list[dict[str, object]]) -> list[Failure]:
        """Send the messages.

        Raises:
            AwsError: A message is wrong, so that it would be rejected again.
        """
        messages = [{"Id": str(number), **entry} for number, entry in enumerate(entries)]
        answer = client.send_message_batch(QueueUrl=self._output.stream, Entries=messages)
        results: list[Failure] = [{} for _ in entries]
        for failed in answer.get("Failed", []):
            code, why = str(failed.get("Code")), str(failed.get("Message"))
            if failed.get("SenderFault"):
                raise AwsError(f"a message was not written to {self._output.stream}: {code}: {why}")
            results[int(str(failed["Id"]))] = {"ErrorCode": code, "ErrorMessage": why}
        return results
