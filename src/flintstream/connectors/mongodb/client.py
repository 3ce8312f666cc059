"""Clients of MongoDB."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from flintstream.common._text.secrets import without_secrets
from flintstream.errors import FlintstreamError, PlanError, message_of, optional_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    Document = dict[str, object]

PASSING = frozenset(
    {
        6,  # HostUnreachable
        7,  # HostNotFound
        50,  # MaxTimeMSExpired
        64,  # WriteConcernTimeout
        89,  # NetworkTimeout
        91,  # ShutdownInProgress
        112,  # WriteConflict
        134,  # ReadConcernMajorityNotAvailableYet
        189,  # PrimarySteppedDown
        262,  # ExceededTimeLimit
        9001,  # SocketException
        10107,  # NotWritablePrimary
        11600,  # InterruptedAtShutdown
        11602,  # InterruptedDueToReplStateChange
        13435,  # NotPrimaryNoSecondaryOk
        13436,  # NotPrimaryOrSecondary
        16500,  # the request rate is too large, of services with the same protocol
    }
)
"""Codes of errors after which the same request may succeed."""


class MongoError(FlintstreamError):
    """MongoDB cannot be reached, or refuses a request. The message has the reason."""


class Cursor(Protocol):
    """Documents that a query returns."""

    def __iter__(self) -> Iterator[Document]:
        """Return the documents, one after the other."""

    def close(self) -> None:
        """Release it on the server."""


class Collection(Protocol):
    """A collection, as far as the connector needs it."""

    def bulk_write(
        self, requests: Sequence[object], *, ordered: bool, bypass_document_validation: bool | None
    ) -> object:
        """Send changes."""

    def find(
        self,
        filter: Mapping[str, object],
        projection: Mapping[str, object] | None = None,
        *,
        sort: Sequence[tuple[str, int]] = ...,
        skip: int = ...,
        limit: int = ...,
        batch_size: int = ...,
    ) -> Cursor:
        """Return documents."""

    def options(self) -> Mapping[str, object]:
        """Return the options that the collection was made with."""

    def aggregate(self, pipeline: Sequence[Mapping[str, object]], **more: bool) -> Cursor:
        """Return documents that are computed."""


class Database(Protocol):
    """A database, as far as the connector needs it."""

    def command(self, command: str, value: object = 1, **more: object) -> Document:
        """Run a command."""

    def __getitem__(self, name: str) -> Collection:
        """Return a collection."""


class Client(Protocol):
    """A client of the driver."""

    def __getitem__(self, name: str) -> Database:
        """Return a database."""

    def close(self) -> None:
        """Disconnect."""


def library() -> ModuleType:
    """Return the module ``pymongo``.

    Raises:
        MissingDependencyError: The driver is not installed.
    """
    return optional_module("pymongo", extra="mongodb", purpose="the MongoDB connector")


def part(name: str) -> ModuleType:
    """Return a module of the driver, such as ``bson.json_util``."""
    library()
    return import_module(name)


@dataclass(frozen=True)
class MongoAccess:
    """A collection, and how to reach it.

    >>> MongoAccess("mongodb://ann:secret@host", "shop", "users").shown
    'shop.users at mongodb://ann:***@host'
    """

    uri: str = field(repr=False)  # may contain a password
    database: str
    collection: str

    @property
    def shown(self) -> str:
        """What messages call the collection."""
        return f"{self.database}.{self.collection} at {without_secrets(self.uri)}"

    def check(self) -> MongoAccess:
        """Return this object.

        Raises:
            PlanError: The URI is not one of MongoDB, or a name is missing.
            MissingDependencyError: The driver is not installed.
        """
        library()
        for what in ("uri", "database", "collection"):
            if not getattr(self, what):
                raise PlanError(f"the MongoDB connector needs a value for '{what}'")
        if self.uri.startswith("mongodb+srv://"):  # reading all of it would ask a name server
            return self
        errors = part("pymongo.errors")
        try:
            part("pymongo.uri_parser").parse_uri(self.uri)
        except (errors.PyMongoError, ValueError) as error:
            hidden = without_secrets(self.uri)
            why = "" if hidden != self.uri else f": {error}"  # the reason may repeat a part of the password
            raise PlanError(f"'{hidden}' is not a URI of MongoDB{why}") from None
        return self

    def connect(self) -> Client:
        """Return a client, which connects with the first request.

        Raises:
            MongoError: The URI cannot be used.
        """
        driver, errors = library(), part("pymongo.errors")
        try:
            return cast("Client", driver.MongoClient(self.uri, appname="flintstream"))
        except errors.PyMongoError as error:
            raise MongoError(f"cannot connect to {self.shown}: {reason(error)}") from None

    def of(self, client: Client) -> Collection:
        """Return the collection of a client."""
        return client[self.database][self.collection]


def passing(error: BaseException) -> bool:
    """Return whether a request may succeed later: the server is away, starts, or is overloaded."""
    errors = part("pymongo.errors")
    if isinstance(error, (errors.ConnectionFailure, errors.CursorNotFound, errors.ExecutionTimeout)):
        return not isinstance(error, errors.ConfigurationError)
    return isinstance(error, errors.OperationFailure) and error.code in PASSING


def reason(error: BaseException) -> str:
    """Return what an error of the driver says, in one line."""
    text = without_secrets(message_of(error) or type(error).__name__)
    return text.partition(", Timeout: ")[0].partition(", full error: ")[0]
