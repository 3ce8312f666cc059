"""Write changes to MongoDB, many in a request, in a task."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from flintstream.common._generic import T_contra
from flintstream.connectors.mongodb.client import PASSING, MongoError, library, part, passing, reason
from flintstream.connectors.patience import Patience
from flintstream.connectors.sink import Sink, SinkWriter
from flintstream.errors import add_note, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flintstream.connectors.mongodb.client import Client, MongoAccess
    from flintstream.connectors.sink import WriterContext

    Error = Mapping[str, object]

DUPLICATE_KEY = 11000
MODELS = ("InsertOne", "UpdateOne", "UpdateMany", "ReplaceOne", "DeleteOne", "DeleteMany")
"""The changes that the driver sends in bulk."""


@dataclass(frozen=True)
class MongoOutput:
    """The settings of the sink. Tasks get a copy."""

    access: MongoAccess
    model_of: Callable[[object, WriterContext], object] = field(repr=False)
    """Returns the change for a record: a document to insert, or a model such as ``pymongo.UpdateOne``."""
    batch_size: int = 1000
    """The number of changes in a request; -1 for no limit."""
    interval_ms: int = 1000
    """The time after which a request is sent though it is not full; -1 for no limit."""
    max_retries: int = 3
    """How often a request is sent again without progress before the job fails."""
    retry_ms: int = 1000
    """The first wait. The second is twice as long, the third three times."""
    ordered: bool = True
    """Whether the server makes the changes of a request one after the other."""
    bypasses_validation: bool = False
    key_of: Callable[[object], object] | None = field(default=None, repr=False)
    """Returns the key of a record, of which a request without an order has one change; None if that does not matter."""


class MongoWriter(SinkWriter):
    """Buffers changes. At the end of an epoch, MongoDB has all of them."""

    def __init__(self, output: MongoOutput, context: WriterContext) -> None:
        """Connect with the first request."""
        driver = library()
        self._output, self._context = output, context
        self._models = tuple(getattr(driver, name) for name in MODELS)
        self._insert = driver.InsertOne
        self._updates = (driver.UpdateOne, driver.UpdateMany, driver.ReplaceOne)
        self._errors = part("pymongo.errors")
        self._waiting: list[object] = []
        self._keys: set[object] = set()
        self._client: Client | None = None
        self._sent = time.monotonic()
        self._unsure = False
        self._patience = Patience(f"could not write to {output.access.shown}")

    def write(self, values: list[object], timestamps: list[int] | None) -> None:
        """Buffer changes, and send each full request.

        Raises:
            Exception: A record does not become a change; a note names it.
        """
        output = self._output
        key_of = None if output.ordered else output.key_of
        for value in values:
            try:
                model = self._model(output.model_of(value, self._context))
                key = None if key_of is None else key_of(value)
            except Exception as error:
                add_note(error, f"while writing {shorten(value)} to {output.access.shown}")
                raise
            if key_of is not None:
                if key in self._keys:  # without an order, the older change might win
                    self._flush()
                self._keys.add(key)
            self._waiting.append(model)
            if len(self._waiting) >= output.batch_size > 0:
                self._flush()
        if 0 <= output.interval_ms <= (time.monotonic() - self._sent) * 1000:
            self._flush()

    def _model(self, made: object) -> object:
        if isinstance(made, Mapping):
            return self._insert(dict(made))  # the driver adds an _id to the document
        if isinstance(made, self._models):
            return made
        raise TypeError(
            f"a record must become a dict, or one of pymongo.{', pymongo.'.join(MODELS)}, but got {shorten(made)}"
        )

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Write the buffered changes before the epoch ends."""
        self._flush()
        return ()

    def _flush(self) -> None:
        """Write the buffered changes, and those that fail for some time again.

        Raises:
            MongoError: MongoDB has rejected a change, or could not be reached.
        """
        output, attempt = self._output, 0
        waiting, self._waiting = self._waiting, []
        self._keys.clear()
        self._unsure = False
        while waiting:
            left, why = self._send(waiting)
            if left:
                attempt = 0 if len(left) < len(waiting) else attempt
                if attempt >= output.max_retries:
                    raise MongoError(f"{len(left)} changes were not written to {output.access.shown}: {why}")
                self._patience.note_failure(why)
                attempt += 1
                time.sleep(output.retry_ms * attempt / 1000)
            waiting = left
        self._patience.note_success()
        self._sent = time.monotonic()

    def _send(self, changes: list[object]) -> tuple[list[object], str]:
        """Send changes; return those to send again, and the reason."""
        output = self._output
        if self._client is None:
            self._client = output.access.connect()
        try:
            output.access.of(self._client).bulk_write(
                changes, ordered=output.ordered, bypass_document_validation=output.bypasses_validation or None
            )
        except self._errors.BulkWriteError as error:
            return self._find_left(changes, error.details)
        except self._errors.PyMongoError as error:
            if not passing(error):
                raise MongoError(f"cannot write to {output.access.shown}: {reason(error)}") from None
            self._unsure = True  # the server may have made some of the changes
            return changes, reason(error)
        return [], ""

    def _find_left(self, changes: list[object], details: Mapping[str, object]) -> tuple[list[object], str]:
        """Return the changes to send again after a request of which some were not made."""
        failed = cast("list[Error]", details.get("writeErrors") or [])
        concerns = cast("list[Error]", details.get("writeConcernErrors") or [])
        left: list[object] = []
        why, last = "", len(changes) - 1
        for error in failed:
            last = cast("int", error["index"])
            if not self._is_made(changes[last], error):
                left.append(changes[last])
                why = why or str(error.get("errmsg"))
        if concerns:  # the members of the replica set that have the changes are too few
            self._unsure = True
            return changes, why or str(concerns[0].get("errmsg"))
        return left + (changes[last + 1 :] if self._output.ordered else []), why

    def _is_made(self, change: object, error: Error) -> bool:
        """Return whether a change that failed is there already; False to send it again.

        Raises:
            MongoError: The server will never make it.
        """
        code = error.get("code")
        if code == DUPLICATE_KEY:
            by_id = error.get("keyPattern") in (None, {"_id": 1})
            if self._unsure and by_id and isinstance(change, self._insert):
                return True  # by a request whose answer was lost
            if isinstance(change, self._updates):
                return False  # another client has inserted the document at the same time
        elif code in PASSING:
            return False
        raise MongoError(f"{self._output.access.shown} rejects {shorten(change, 400)}: {error.get('errmsg')}")

    def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            client.close()


class MongoTarget(Sink[T_contra]):
    """Writes to a collection at least once: an epoch ends when MongoDB has all of its changes."""

    waits_for_checkpoint = False

    def __init__(self, output: MongoOutput) -> None:
        """Take the settings."""
        self.output = output

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return MongoWriter(self.output, context)
