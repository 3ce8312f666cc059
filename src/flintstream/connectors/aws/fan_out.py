"""Enhanced fan-out of Kinesis: a consumer that is registered for a stream gets the records of its shards pushed."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict

from flintstream.connectors.aws.client import AwsError, code_of, core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flintstream.connectors.aws.aggregation import Message

REGISTER_SECONDS = 60.0
"""How long a consumer may take to become active."""
_LOOK_SECONDS = 0.2
_MOST_EVENTS = 2
"""Events that wait to be read; each has up to 2 MB. Further ones wait at the service."""


@dataclass(frozen=True)
class FanOut:
    """The consumer of a source."""

    name: str
    managed: bool = True
    """Whether the job registers the consumer, and removes it at its end."""
    arns: Mapping[str, str] = field(default_factory=dict)
    """Consumers of streams that are given by their ARNs."""


class Event(TypedDict, total=False):
    """Records of a shard."""

    Records: list[Message]
    ContinuationSequenceNumber: str
    """Where the shard continues; missing at its end."""


class EventStream(Protocol):
    """Events, until the service ends the subscription."""

    def __iter__(self) -> Iterator[dict[str, Event]]:
        """Wait for events."""

    def close(self) -> None:
        """End the subscription."""


class ConsumerDescription(TypedDict):
    """A consumer, as the service describes it."""

    ConsumerARN: str
    ConsumerStatus: str


class ConsumerClient(Protocol):
    """The client, as far as consumers need it."""

    def describe_stream_summary(self, **arguments: object) -> dict[str, dict[str, str]]:
        """Describe a stream."""

    def describe_stream_consumer(self, **arguments: object) -> dict[str, ConsumerDescription]:
        """Describe a consumer."""

    def register_stream_consumer(self, **arguments: object) -> object:
        """Register a consumer, which becomes active later."""

    def deregister_stream_consumer(self, **arguments: object) -> object:
        """Remove a consumer."""


def find_consumer(client: ConsumerClient, stream: str, fan_out: FanOut, *, registers: bool = False) -> str:
    """Return the ARN of the consumer of a stream as soon as it is active.

    Args:
        client: A client of Kinesis.
        stream: The name of the stream, or its ARN.
        fan_out: The consumer.
        registers: Whether to register it if it is missing.

    Raises:
        AwsError: It is missing, or not active in time.
    """
    if stream in fan_out.arns:
        return fan_out.arns[stream]
    until = time.monotonic() + REGISTER_SECONDS
    arn = stream
    if not stream.startswith("arn:"):
        arn = client.describe_stream_summary(StreamName=stream)["StreamDescriptionSummary"]["StreamARN"]
    while True:
        found = _consumer(client, arn, fan_out.name)
        if found is not None and found["ConsumerStatus"] == "ACTIVE":
            return found["ConsumerARN"]
        if found is None and not registers:
            raise AwsError(
                f"the stream '{stream}' has no consumer '{fan_out.name}' for enhanced fan-out; register it, or let the "
                "job do so with 'source.efo.lifecycle' = 'JOB_MANAGED'"
            )
        if time.monotonic() >= until:
            raise AwsError(f"the consumer '{fan_out.name}' of '{stream}' is not active after {REGISTER_SECONDS:.0f} s")
        if found is None:
            try:
                client.register_stream_consumer(StreamARN=arn, ConsumerName=fan_out.name)
            except core("exceptions").ClientError as error:
                if code_of(error) != "ResourceInUseException":
                    raise
        else:
            time.sleep(_LOOK_SECONDS)


def _consumer(client: ConsumerClient, arn: str, name: str) -> ConsumerDescription | None:
    try:
        return client.describe_stream_consumer(StreamARN=arn, ConsumerName=name)["ConsumerDescription"]
    except core("exceptions").ClientError as error:
        if code_of(error) == "ResourceNotFoundException":
            return None
        raise


class Ended(NamedTuple):
    """The end of a subscription: after five minutes, or because of an error."""

    error: Exception | None


class Subscription:
    """A thread that receives the events of a shard."""

    def __init__(self, subscribe: Callable[[], EventStream]) -> None:
        """Subscribe in the thread."""
        self._events: queue.Queue[Event | Ended] = queue.Queue(_MOST_EVENTS)
        self._stream: EventStream | None = None
        self._closed = False
        threading.Thread(target=self._run, args=(subscribe,), name="flintstream-kinesis", daemon=True).start()

    def _run(self, subscribe: Callable[[], EventStream]) -> None:
        error: Exception | None = None
        try:
            self._stream = subscribe()
            for event in self._stream:
                if "SubscribeToShardEvent" in event:
                    self._enqueue(event["SubscribeToShardEvent"])
                if self._closed:
                    break
        except Exception as failure:  # noqa: BLE001 - the reader decides
            error = failure
        self._enqueue(Ended(error))

    def _enqueue(self, item: Event | Ended) -> None:
        while not self._closed:
            try:
                self._events.put(item, timeout=1)
            except queue.Full:
                continue
            return

    def next_event(self) -> Event | Ended | None:
        """Return the next event, or the end; None while there is nothing."""
        try:
            return self._events.get_nowait()
        except queue.Empty:
            return None

    def close(self) -> None:
        """End the subscription."""
        self._closed = True
        if self._stream is not None:
            self._stream.close()
