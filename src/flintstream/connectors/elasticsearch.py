"""Writes documents into Elasticsearch, by its bulk API over HTTP; no client library is needed."""

from __future__ import annotations

import base64
import http.client
import json
import logging
import time
from dataclasses import dataclass, field
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flintstream.connectors.sink import SinkWriter
from flintstream.errors import FlintstreamError, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_log = logging.getLogger(__name__)

PASSING = frozenset({429, 502, 503, 504})
"""What the server says when it has too much to do, or a node is away."""


class ElasticsearchError(FlintstreamError):
    """Documents could not be written; says how many, and why the first was not."""


@dataclass(frozen=True)
class Emitter:
    """What becomes of a record: where it goes, and by which id."""

    index: str
    """The name of the index, or of the field that has it."""
    key_field: str | None = None
    doc_type: str | None = None
    dynamic: bool = False

    def action(self, record: Any, default_type: str | None) -> tuple[bytes, ...]:
        """Return the lines of the bulk request for a record."""
        document = _document(record)
        target = {"_index": str(_field(document, self.index, "index")) if self.dynamic else self.index}
        if self.key_field is not None:
            target["_id"] = str(_field(document, self.key_field, "key"))
        if self.doc_type or default_type:
            target["_type"] = self.doc_type or default_type or ""
        try:
            return (_json({"index": target}), _json(document))
        except (TypeError, ValueError) as error:
            error.add_note(f"while writing {shorten(record)} as a document of Elasticsearch")
            raise


@dataclass(frozen=True)
class ElasticsearchOutput:
    """What is to be written, where, and how; travels to the tasks."""

    hosts: tuple[str, ...]
    emitter: Emitter
    default_type: str | None = None
    most_actions: int = 1000
    """Documents in a request; -1 for any number."""
    most_bytes: int = -1
    retries: int = 0
    """How often a request is made again while the server has too much to do."""
    delay_ms: int = 0
    exponential: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    prefix: str = ""
    connect_ms: int | None = None
    socket_ms: int | None = None


def _document(record: Any) -> Mapping[str, Any]:
    as_dict = getattr(record, "as_dict", None)
    document = as_dict() if as_dict is not None else record
    if not isinstance(document, dict):
        raise TypeError(f"documents of Elasticsearch are made of dicts and Rows with names, got {shorten(record)}")
    return document


def _field(document: Mapping[str, Any], name: str, what: str) -> Any:
    value = document.get(name)
    if value is None:
        raise ElasticsearchError(f"the field '{name}', which has the {what}, is missing in {shorten(document)}")
    return value


def _json(value: Any) -> bytes:
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime, date, clock_time)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    as_dict = getattr(value, "as_dict", None)
    if as_dict is not None:
        return as_dict()
    raise TypeError(f"{shorten(value)} is nothing that JSON has")


class ElasticsearchWriter(SinkWriter):
    """Collects documents and writes them in bulk; at the end of an epoch all of them are written."""

    def __init__(self, output: ElasticsearchOutput) -> None:
        """Connect when there is something to write."""
        self._output = output
        self._waiting: list[tuple[bytes, ...]] = []
        self._bytes = 0
        self._host = 0
        self._connection: http.client.HTTPConnection | None = None
        self._headers = {"Content-Type": "application/x-ndjson"}
        if output.user is not None:
            credentials = f"{output.user}:{output.password or ''}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(credentials).decode()}"

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:  # noqa: ARG002
        """Add documents; those that make a whole request are written."""
        output = self._output
        for value in values:
            action = output.emitter.action(value, output.default_type)
            self._waiting.append(action)
            self._bytes += sum(map(len, action))
            if len(self._waiting) == output.most_actions or 0 < output.most_bytes <= self._bytes:
                self._flush()

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:  # noqa: ARG002
        """Write what is left before the epoch counts."""
        self._flush()
        return ()

    def _flush(self) -> None:
        """Write what waits.

        Raises:
            ElasticsearchError: A document was refused, or there is no answer.
        """
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        attempt = 0
        while waiting:
            waiting, why = self._send(waiting)
            if not waiting:
                return
            if attempt >= self._output.retries:
                raise ElasticsearchError(f"{len(waiting)} documents were not written to Elasticsearch: {why}")
            _log.warning("writing %d documents again: %s", len(waiting), why)
            delay = self._output.delay_ms * (2**attempt if self._output.exponential else 1)
            attempt += 1
            time.sleep(delay / 1000)

    def _send(self, actions: list[tuple[bytes, ...]]) -> tuple[list[tuple[bytes, ...]], str]:
        """Make one request; returns what may be tried again, and why it has to be."""
        body = b"\n".join(line for action in actions for line in action) + b"\n"
        try:
            status, answer = self._post(body)
        except (OSError, http.client.HTTPException) as error:
            where = self._output.hosts[self._host]
            self._host = (self._host + 1) % len(self._output.hosts)
            self._disconnect()
            return actions, f"{where}: {str(error) or type(error).__name__}"
        if status in PASSING:
            return actions, f"the server answers {status}"
        if status != 200:
            raise ElasticsearchError(
                f"Elasticsearch refuses a request, {status}: {answer[:500].decode(errors='replace')}"
            )
        again, first = [], ""
        for action, item in zip(actions, json.loads(answer)["items"], strict=True):
            result = item["index"]
            if result["status"] in PASSING:
                again.append(action)
                first = first or f"{result.get('error')}"
            elif result["status"] >= 300:
                document = shorten(action[-1].decode())
                raise ElasticsearchError(f"Elasticsearch refuses the document {document}: {result.get('error')}")
        return again, first

    def _post(self, body: bytes) -> tuple[int, bytes]:
        output = self._output
        if self._connection is None:
            host = output.hosts[self._host]
            parts = urlsplit(host if "://" in host else f"http://{host}")
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            connect = None if output.connect_ms is None else output.connect_ms / 1000 or None
            self._connection = kind(parts.hostname or "", parts.port or 9200, timeout=connect)
            self._connection.connect()
            if output.socket_ms is not None and self._connection.sock is not None:
                self._connection.sock.settimeout(output.socket_ms / 1000 or None)
        path = output.prefix.strip("/")
        self._connection.request("POST", f"/{path}/_bulk" if path else "/_bulk", body, self._headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Disconnect."""
        self._disconnect()
