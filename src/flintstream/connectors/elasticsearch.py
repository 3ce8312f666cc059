"""Write documents to Elasticsearch and OpenSearch through the bulk API, over HTTP with urllib3.

The official client rejects most of the servers that Flink programs write to: see ``docs/explanation/decisions.md``.
"""

from __future__ import annotations

import base64
import json
import logging
import time
from dataclasses import dataclass, field
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from flintstream.common._http import MOST_BYTES, AnswerError, read_answer
from flintstream.common._text.leaving import whole
from flintstream.common._text.secrets import without_secrets
from flintstream.connectors.patience import Warner
from flintstream.connectors.sink import SinkWriter
from flintstream.errors import FlintstreamError, PlanError, add_note, optional_module, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from urllib3 import HTTPConnectionPool

_log = logging.getLogger(__name__)

PASSING = frozenset({429, 502, 503, 504})
"""Status codes of an overloaded server, or of one whose node is unavailable. The request is retried."""

BLOCK_BYTES = 1 << 16
"""Size of the blocks in which a request is sent. urllib3 applies the connect timeout to each of them."""

ANSWER_SECONDS = 600
"""Longest time for an answer to arrive, once its first byte is there."""


class ElasticsearchError(FlintstreamError):
    """Documents could not be written. The message has their number and the reason why the first one failed."""


def library() -> ModuleType:
    """Return the module ``urllib3``.

    Raises:
        MissingDependencyError: urllib3 is not installed.
    """
    return optional_module("urllib3", extra="elasticsearch", purpose="the Elasticsearch connector")


@dataclass(frozen=True)
class Host:
    """The address of a node, and the credentials for it.

    >>> Host.parse("https://ann:secret@search-1")
    Host(url='https://search-1:9200')
    """

    url: str
    """Scheme, host and port; nothing else."""
    credentials: str | None = field(default=None, repr=False)
    """``user:password``."""

    @classmethod
    def parse(cls, text: str) -> Host:
        """Read ``host``, ``host:port``, ``http://host:port`` or ``https://user:password@host:port``.

        Raises:
            PlanError: The text has none of these forms.
        """
        parts = urlsplit(text if "://" in text else f"http://{text}")
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        try:
            port = parts.port or 9200
        except ValueError:
            raise PlanError(f"the port of {shown} is not a number") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise PlanError(f"an Elasticsearch host must be host:port or https://host:port, got {shown}")
        if parts.path.strip("/"):
            raise PlanError(f"{shown} has a path: pass it to set_connection_path_prefix()")
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        who = None if parts.username is None else f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return cls(f"{parts.scheme}://{name}:{port}", who)


@dataclass(frozen=True)
class Emitter:
    """Turns records into index requests: into which index, and with which ID."""

    index: str
    """The name of the index, or, if ``dynamic``, of the field that holds it."""
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
            return (json_line({"index": target}), json_line(document))
        except (TypeError, ValueError) as error:
            add_note(error, f"while writing {shorten(record)} as an Elasticsearch document")
            raise


class Actions(Protocol):
    """Turns records into the lines of a bulk request."""

    @property
    def index(self) -> str:
        """The name of the index, or what it depends on."""

    def action(self, record: Any, default_type: str | None) -> tuple[bytes, ...]:
        """Return the lines for a record."""


@dataclass(frozen=True)
class ElasticsearchOutput:
    """The settings of the sink, which are pickled to the tasks."""

    hosts: tuple[Host, ...]
    emitter: Actions
    default_type: str | None = None
    most_actions: int = 1000
    """Maximum number of documents in a request; -1 for no limit."""
    most_bytes: int = -1
    retries: int = 0
    """How often to retry a request while the server is overloaded."""
    delay_ms: int = 0
    exponential: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    prefix: str = ""
    connect_ms: int | None = None
    socket_ms: int | None = None
    ignores: bool = False
    """Whether documents that the server refuses are left out, with a warning."""


def _document(record: Any) -> Mapping[str, Any]:
    as_dict = getattr(record, "as_dict", None)
    document = as_dict() if as_dict is not None else record
    if not isinstance(document, dict):
        raise TypeError(f"Elasticsearch documents must be dicts, or Rows with field names, got {shorten(record)}")
    return document


def _field(document: Mapping[str, Any], name: str, what: str) -> Any:
    value = document.get(name)
    if value is None:
        raise ElasticsearchError(f"the field '{name}', which holds the {what}, is missing in {shorten(document)}")
    return value


def json_line(value: object) -> bytes:
    """Return a line of a request."""
    text = json.dumps(value, default=_plain, separators=(",", ":"))
    if "\\ud" in text:
        text = json.dumps(whole(value), default=_plain, separators=(",", ":"))
    return text.encode()


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
    raise TypeError(f"{shorten(value)} cannot be written as JSON")


class ElasticsearchWriter(SinkWriter):
    """Buffers documents and writes them in bulk. At the end of an epoch all of them are written."""

    def __init__(self, output: ElasticsearchOutput) -> None:
        """Create the writer, which connects with the first request."""
        self._output = output
        self._urllib3 = library()
        self._waiting: list[tuple[bytes, ...]] = []
        self._bytes = 0
        self._host = 0
        self._pool: HTTPConnectionPool | None = None
        self._warner = Warner()
        path = output.prefix.strip("/")
        self._path = f"/{path}/_bulk" if path else "/_bulk"

    def write(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Buffer documents, and send each full request."""
        output = self._output
        for value in values:
            action = output.emitter.action(value, output.default_type)
            self._waiting.append(action)
            self._bytes += sum(map(len, action))
            if len(self._waiting) == output.most_actions or 0 < output.most_bytes <= self._bytes:
                self._flush()

    def prepare_commit(self, *, end_of_input: bool, checkpoint: bool = True) -> Sequence[object]:
        """Write the buffered documents before the epoch ends."""
        self._flush()
        return ()

    def _flush(self) -> None:
        """Write the buffered documents.

        Raises:
            ElasticsearchError: The server rejected a document, or did not respond.
        """
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        attempt = 0
        while waiting:
            waiting, why = self._send(waiting)
            if not waiting:
                return
            if attempt >= self._output.retries:
                raise ElasticsearchError(f"{len(waiting)} documents were not written to Elasticsearch: {why}")
            self._warner.warn("could not write to Elasticsearch; will retry %d documents: %s", len(waiting), why)
            delay = self._output.delay_ms * (2**attempt if self._output.exponential else 1)
            attempt += 1
            time.sleep(delay / 1000)

    def _send(self, actions: list[tuple[bytes, ...]]) -> tuple[list[tuple[bytes, ...]], str]:
        """Send one request; return the actions to retry, and the reason."""
        body = b"\n".join(line for action in actions for line in action) + b"\n"
        try:
            status, data = self._post(body)
        except self._urllib3.exceptions.HTTPError as error:
            where = self._output.hosts[self._host].url
            self._host = (self._host + 1) % len(self._output.hosts)
            self._disconnect()
            return actions, f"{where}: {str(error) or type(error).__name__}"
        except AnswerError as error:
            self._disconnect()
            raise ElasticsearchError(f"{self._output.hosts[self._host].url}: {error}") from None
        if status in PASSING:
            return actions, f"the server responded with status {status}"
        if status != 200:
            text = without_secrets(data[:500].decode(errors="replace"))
            raise ElasticsearchError(f"Elasticsearch rejected a request with status {status}: {text}")
        again, first = [], ""
        for action, item in zip(actions, json.loads(data)["items"], strict=True):
            ((kind, result),) = item.items()
            if result["status"] in PASSING:
                again.append(action)
                first = first or f"{result.get('error')}"
            elif result["status"] >= 300 and not (kind == "delete" and result["status"] == 404):
                text = f"Elasticsearch rejected the document {shorten(action[-1].decode())}: {result.get('error')}"
                if not self._output.ignores:
                    raise ElasticsearchError(text)
                _log.warning("%s", text)
        return again, first

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """Return status and body of the answer, whose length is limited by that of the request."""
        output, host = self._output, self._output.hosts[self._host]
        if self._pool is None:
            timeout = self._urllib3.Timeout(connect=_seconds(output.connect_ms), read=_seconds(output.socket_ms))
            self._pool = self._urllib3.connection_from_url(host.url, timeout=timeout, blocksize=BLOCK_BYTES)
        who = host.credentials if output.user is None else f"{output.user}:{output.password or ''}"
        headers = {"Content-Type": "application/x-ndjson", "Content-Length": str(len(body))}
        if who is not None:
            headers["Authorization"] = f"Basic {base64.b64encode(who.encode()).decode()}"
        answer = self._pool.urlopen(
            "POST", self._path, BytesIO(body), headers, retries=False, redirect=False, preload_content=False
        )
        try:
            return answer.status, read_answer(answer, ANSWER_SECONDS, MOST_BYTES + 4 * len(body))
        finally:
            answer.release_conn()

    def _disconnect(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def close(self) -> None:
        """Disconnect."""
        self._disconnect()


def _seconds(milliseconds: int | None) -> float | None:
    return milliseconds / 1000 if milliseconds else None
