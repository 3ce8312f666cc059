"""The schema registry of AWS Glue: schemas by version, and the head that names one before each message."""

from __future__ import annotations

import time
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypedDict, TypeVar, cast
from uuid import UUID

from flintstream.connectors.aws.client import AwsError, code_of, core, passing
from flintstream.connectors.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.connectors.aws.client import AwsAccess

VALUE = TypeVar("VALUE")

HEAD = 18
"""The bytes before the content: the version of the head, whether it is compressed, and the id of the schema."""
_VERSION = 3
_PLAIN, _ZLIB = 0, 5
MOST_BYTES = 256 << 20
"""The size of the largest content that is decompressed."""
COMPRESSIONS = ("NONE", "ZLIB")
COMPATIBILITIES = (
    "NONE",
    "DISABLED",
    "BACKWARD",
    "BACKWARD_ALL",
    "FORWARD",
    "FORWARD_ALL",
    "FULL",
    "FULL_ALL",
)
PATIENCE_SECONDS = 30.0
"""How long a request is tried again while the service is overloaded or away."""


def split_message(message: bytes) -> tuple[UUID, bytes]:
    """Return the id of a message's schema, and the content.

    Raises:
        ValueError: This is not a message with the head of Glue.

    >>> from uuid import UUID
    >>> split_message(head_of(UUID(int=7)) + b"content")
    (UUID('00000000-0000-0000-0000-000000000007'), b'content')
    """
    head, content = message[:HEAD], message[HEAD:]
    if len(head) < HEAD or head[0] != _VERSION or head[1] not in {_PLAIN, _ZLIB}:
        raise ValueError(f"not a message with a schema of AWS Glue: it begins with {head!r}")
    if head[1] == _ZLIB:
        content = _decompress(content)
    return UUID(bytes=head[2:]), content


def _decompress(content: bytes) -> bytes:
    """Return compressed content, unless it is so large that no service would have taken it."""
    decompressor = zlib.decompressobj()
    try:
        found = decompressor.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"the content of a message of AWS Glue is not compressed: {error}") from None
    if decompressor.unconsumed_tail:
        raise ValueError(f"the content of a message of AWS Glue has more than {MOST_BYTES} bytes")
    if not decompressor.eof:
        raise ValueError("the content of a message of AWS Glue is incomplete")
    return found


def head_of(schema: UUID, *, compressed: bool = False) -> bytes:
    """Return the head of messages with a schema."""
    return bytes((_VERSION, _ZLIB if compressed else _PLAIN)) + schema.bytes


class Remembered(Generic[VALUE]):
    """What belongs to ids of schemas: the last ones that were used, each for some time.

    >>> from uuid import UUID
    >>> names = Remembered(2, 60)
    >>> [names.get(UUID(int=n), str) for n in (1, 1)]
    ['00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000001']
    """

    def __init__(self, most: int, seconds: float) -> None:
        """Take how many to keep, and how long."""
        self._most, self._seconds = most, seconds
        self._found: OrderedDict[UUID, tuple[float, VALUE]] = OrderedDict()

    def get(self, schema: UUID, make: Callable[[UUID], VALUE]) -> VALUE:
        """Return what belongs to an id, made by a function unless it is known."""
        now = time.monotonic()
        known = self._found.get(schema)
        if known is not None and known[0] > now:
            self._found.move_to_end(schema)
            return known[1]
        made = make(schema)
        self._found[schema] = now + self._seconds, made
        self._found.move_to_end(schema)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
        return made


class Version(TypedDict, total=False):
    """A version of a schema, as the service describes it."""

    SchemaVersionId: str
    SchemaDefinition: str
    DataFormat: str
    Status: str


class GlueClient(Protocol):
    """The client, as far as the registry needs it."""

    def get_schema_version(self, **arguments: object) -> Version:
        """Return a version by its id, or the latest one."""

    def get_schema_by_definition(self, **arguments: object) -> Version:
        """Return the version with a definition."""

    def create_schema(self, **arguments: object) -> Version:
        """Create a schema with its first version."""

    def register_schema_version(self, **arguments: object) -> Version:
        """Add a version."""


@dataclass(frozen=True)
class GlueSchema:
    """A schema in a registry, and how it is written there."""

    registry: str
    name: str
    format: str
    """``AVRO``, ``JSON`` or ``PROTOBUF``."""
    registers: bool = False
    """Whether a missing version is added."""
    compatibility: str = "NONE"
    """That of a schema which is created."""

    @property
    def id(self) -> dict[str, str]:
        """The argument of requests."""
        return {"RegistryName": self.registry, "SchemaName": self.name}


class GlueRegistry:
    """Asks the service for schemas, and registers them. Tasks get a copy.

    >>> from flintstream.connectors.aws.client import AwsAccess
    >>> GlueRegistry(AwsAccess({"aws.region": "eu-west-1"}), GlueSchema("shop", "orders", "AVRO"))
    GlueRegistry(schema 'orders' of the registry 'shop')
    """

    def __init__(self, access: AwsAccess, schema: GlueSchema) -> None:
        """Connect with the first request."""
        self._access, self._schema = access, schema
        self._client: GlueClient | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_client": None}

    def __repr__(self) -> str:
        return f"GlueRegistry({self._place})"

    @property
    def _place(self) -> str:
        return f"schema '{self._schema.name}' of the registry '{self._schema.registry}'"

    def definition(self, schema: UUID) -> str:
        """Return the schema with an id.

        Raises:
            AwsError: There is none, it has another format, or the service does not answer.
        """
        found = self._ask(lambda client: client.get_schema_version(SchemaVersionId=str(schema)))
        if found is None:
            raise AwsError(f"AWS Glue has no schema version {schema}, which a message names")
        kind = found.get("DataFormat", self._schema.format)
        if kind != self._schema.format:
            raise AwsError(f"the schema version {schema} of AWS Glue has the format {kind}, not {self._schema.format}")
        return found["SchemaDefinition"]

    def latest(self) -> tuple[UUID, str] | None:
        """Return the id and the definition of the latest version; None if the schema does not exist."""
        arguments: dict[str, object] = {"SchemaId": self._schema.id, "SchemaVersionNumber": {"LatestVersion": True}}
        found = self._ask(lambda client: client.get_schema_version(**arguments))
        return None if found is None else (UUID(found["SchemaVersionId"]), found["SchemaDefinition"])

    def version_of(self, definition: str) -> UUID:
        """Return the id of the version with a definition, which is registered if it is missing and that is allowed.

        Raises:
            AwsError: It is missing, the registry refuses it, or the service does not answer.
        """
        schema = self._schema
        arguments: dict[str, object] = {"SchemaId": schema.id, "SchemaDefinition": definition}
        found = self._ask(lambda client: client.get_schema_by_definition(**arguments))
        if found is not None and found.get("Status", "AVAILABLE") == "AVAILABLE":
            return UUID(found["SchemaVersionId"])
        if not schema.registers:
            raise AwsError(
                f"the {self._place} of AWS Glue has no version with the schema of the table; register it, or set "
                f"'schema.autoRegistration' to true: {definition}"
            )
        added = self._ask(lambda client: client.register_schema_version(**arguments))
        if added is None:
            added = self._ask(
                lambda client: client.create_schema(
                    RegistryId={"RegistryName": schema.registry},
                    SchemaName=schema.name,
                    DataFormat=schema.format,
                    Compatibility=schema.compatibility,
                    SchemaDefinition=definition,
                ),
                exists=lambda: self._ask(lambda client: client.register_schema_version(**arguments)),
            )
        if added is None:
            raise AwsError(f"AWS Glue has no registry '{schema.registry}', which the {self._place} would be in")
        self._wait_for(added["SchemaVersionId"])
        return UUID(added["SchemaVersionId"])

    def _wait_for(self, version: str) -> None:
        """Wait until the service has checked the compatibility of a version."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = self._ask(lambda client: client.get_schema_version(SchemaVersionId=version)) or {}
            status = found.get("Status", "AVAILABLE")
            if status == "AVAILABLE":
                return
            if status != "PENDING" or time.monotonic() >= until:
                raise AwsError(f"AWS Glue does not accept a version of the {self._place}: its status is {status}")
            time.sleep(0.1)

    def _ask(
        self, request: Callable[[GlueClient], Version], exists: Callable[[], Version | None] | None = None
    ) -> Version | None:
        """Return the answer to a request, which is repeated while the service is overloaded; None if nothing is there.

        Args:
            request: sends it.
            exists: what to do if someone else has created the same at the same time.
        """
        if self._client is None:
            self._client = cast("GlueClient", self._access.client("glue"))
        patience = Patience("AWS Glue does not answer")
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                found = request(self._client)
            except (core("exceptions").ClientError, core("exceptions").BotoCoreError) as error:
                code = code_of(error)
                if code == "EntityNotFoundException":
                    return None
                if code == "AlreadyExistsException" and exists is not None:
                    return exists()
                if not passing(error) or time.monotonic() >= until:
                    raise AwsError(f"AWS Glue refuses a request for the {self._place}: {error}") from None
                time.sleep(patience.note_failure(str(error)))
            else:
                patience.note_success()
                return found
