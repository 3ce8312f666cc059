"""Writer of DynamoDB: items that are put and deleted, the last one of each key in a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.common._generic import T_contra
from flintstream.connectors.aws.writer import AwsOutput, BatchWriter, Entry
from flintstream.connectors.sink import Sink
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.connectors.aws.client import AwsAccess
    from flintstream.connectors.aws.writer import Failure, PutClient
    from flintstream.connectors.sink import SinkWriter, WriterContext

    Request = dict[str, object]
    """``{"PutRequest": ...}`` or ``{"DeleteRequest": ...}``, as boto3 takes it."""

MOST_ITEMS = 25
"""The most items that the service takes in a request."""


@dataclass(frozen=True)
class Items:
    """Makes requests of records. Tasks get a copy."""

    request_of: Callable[[object], Request] = field(repr=False)
    """Returns the request for a record."""
    key_of: Callable[[object], object] | None = field(default=None, repr=False)
    """Returns the key of a record, of which a request has the last one; None to send each record."""


class DynamoDbWriter(BatchWriter):
    """Writes to a table of DynamoDB."""

    service = "dynamodb"

    def __init__(self, output: AwsOutput, items: Items, subtask: int) -> None:
        """Create the writer, which connects with the first request."""
        super().__init__(output, subtask)
        self._items = items
        self._places: dict[object, int] = {}

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Buffer records, and send each full request.

        Raises:
            Exception: A record does not become an item; a note names it.
        """
        request_of, key_of = self._items.request_of, self._items.key_of
        for value in values:
            try:
                entry = self.entry(request_of(value), b"")
                key = None if key_of is None else key_of(value)
            except Exception as error:
                add_note(error, f"while writing {shorten(value)} to {self._output.stream}")
                raise
            place = None if key_of is None else self._places.get(key)
            if place is not None:  # the service refuses a request with two items of a key
                self._waiting[place] = entry
                continue
            if key_of is not None:
                self._places[key] = len(self._waiting)
            self._waiting.append(entry)
            if len(self._waiting) >= self._output.most_records:
                self._flush()

    def entry(self, value: object, data: bytes) -> Entry:
        """Return the request."""
        return Entry(cast("Request", value), len(data))

    def put(self, client: PutClient, entries: list[dict[str, object]]) -> list[Failure]:
        """Send the items; the service may leave some unprocessed."""
        answer = client.batch_write_item(RequestItems={self._output.stream: entries})
        left = [request for requests in (answer.get("UnprocessedItems") or {}).values() for request in requests]
        return [_LEFT if entry in left else _DONE for entry in entries]

    def _flush(self) -> None:
        self._places.clear()
        super()._flush()


_DONE: Failure = {}
_LEFT: Failure = {"ErrorCode": "Unprocessed", "ErrorMessage": "the service has not processed the item"}


def _nothing(value: object) -> bytes:
    raise NotImplementedError


class DynamoDbSink(Sink[T_contra]):
    """Writes to a table at least once: an epoch ends when the service has all of its items.

    Args:
        access: the properties of the client.
        table: the name of the table.
        items: what makes items of records.
        most_items: the most items in a request.
        fail_on_error: whether an unprocessed item fails the job; otherwise it is sent again.

    >>> from flintstream.connectors.aws.client import AwsAccess
    >>> items = Items(lambda n: {"PutRequest": {"Item": {"n": {"N": str(n)}}}})
    >>> DynamoDbSink(AwsAccess({"aws.region": "eu-west-1"}), "numbers", items).waits_for_checkpoint
    False
    """

    waits_for_checkpoint = False

    def __init__(
        self,
        access: AwsAccess,
        table: str,
        items: Items,
        *,
        most_items: int = MOST_ITEMS,
        fail_on_error: bool = False,
    ) -> None:
        self._output = AwsOutput(access.check(), table, _nothing, most_items, fail_on_error=fail_on_error)
        self._items = items

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return DynamoDbWriter(self._output, self._items, context.subtask)
