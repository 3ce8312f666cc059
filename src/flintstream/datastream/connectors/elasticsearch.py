"""The Elasticsearch sink; mirrors ``pyflink.datastream.connectors.elasticsearch``.

It needs the extra ``elasticsearch``.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from flintstream.connectors.elasticsearch import ElasticsearchOutput, ElasticsearchWriter, Emitter, Host, library
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_integer, check_member
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.errors import PlanError, UnsupportedByDesignError

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.connectors.sink import SinkWriter, WriterContext

__all__ = [
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "FlushBackoffType",
]


class FlushBackoffType(enum.Enum):
    """How long to wait before retrying a failed request.

    >>> builder = Elasticsearch7SinkBuilder().set_hosts("localhost:9200")
    >>> builder = builder.set_emitter(ElasticsearchEmitter.static_index("users", "id"))
    >>> sink = builder.set_bulk_flush_backoff_strategy(FlushBackoffType.EXPONENTIAL, 5, 1000).build()
    """

    CONSTANT = 0
    """The same delay every time."""
    EXPONENTIAL = 1
    """Double the delay every time."""
    NONE = 2
    """Do not retry."""


class ElasticsearchEmitter:
    """Turns records, which must be dicts or Rows with field names, into documents.

    >>> people = ElasticsearchEmitter.static_index("people", key_field="id")
    >>> by_day = ElasticsearchEmitter.dynamic_index("day", key_field="id")  # {"day": "visits-2024-05-01", "id": 7}
    >>> sink = Elasticsearch7SinkBuilder().set_hosts("localhost:9200").set_emitter(by_day).build()
    """

    def __init__(self, emitter: Emitter) -> None:
        """Take the emitter; programs call one of the static methods instead."""
        self._emitter = emitter

    @staticmethod
    def static_index(index: str, key_field: str | None = None, doc_type: str | None = None) -> ElasticsearchEmitter:
        """Write all documents to one index. The ID is in the field ``key_field``, or the server generates it."""
        return ElasticsearchEmitter(Emitter(_text(index, "the index"), key_field, doc_type))

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Write each document to the index that its field ``index_field`` names."""
        return ElasticsearchEmitter(Emitter(_text(index_field, "the index field"), key_field, doc_type, dynamic=True))


class ElasticsearchSink(Sink):
    """Writes documents, for ``sink_to``, at least once: all documents of an epoch are written before it ends.

    A document that is written again after a failure replaces itself if it has an ID, and is duplicated if it has none.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> builder = Elasticsearch7SinkBuilder().set_hosts("localhost:9200")
    >>> sink = builder.set_emitter(ElasticsearchEmitter.static_index("people", "id")).build()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.from_collection([{"id": "1", "name": "ann"}]).sink_to(sink).name("people")
    """

    waits_for_checkpoint = False

    def __init__(self, output: ElasticsearchOutput) -> None:
        """Take the settings; programs use :class:`Elasticsearch7SinkBuilder` instead."""
        if not isinstance(output, ElasticsearchOutput):
            raise TypeError("create an ElasticsearchSink with Elasticsearch7SinkBuilder()")
        self._output = output

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer."""
        return ElasticsearchWriter(self._output)


class ElasticsearchSinkBuilderBase:
    """Builds an :class:`ElasticsearchSink`. It needs hosts and an emitter."""

    _default_type: str | None = None

    def __init__(self) -> None:
        self._output = ElasticsearchOutput((), Emitter(""), self._default_type)

    def _change(self, **changes: Any) -> Self:
        self._output = replace(self._output, **changes)
        return self

    def get_http_host_class(self) -> NoReturn:
        """Raise an error: the class exists only in Java.

        Raises:
            UnsupportedByDesignError: Always.

        >>> Elasticsearch7SinkBuilder().get_http_host_class()
        Traceback (most recent call last):
        flintstream.errors.UnsupportedByDesignError: get_http_host_class() returns a Java class: pass str to
        set_hosts() instead
        """
        raise UnsupportedByDesignError("get_http_host_class() returns a Java class: pass str to set_hosts() instead")

    def set_emitter(self, emitter: ElasticsearchEmitter) -> Self:
        """Set the emitter, which turns records into documents."""
        if not isinstance(emitter, ElasticsearchEmitter):
            raise TypeError(f"expected an ElasticsearchEmitter, got {emitter!r}")
        return self._change(emitter=emitter._emitter)

    def set_hosts(self, hosts: str | list[str]) -> Self:
        """Set the addresses of the nodes. If one does not respond, the next one is used.

        Args:
            hosts: each as ``host:port``, ``https://host:port`` or ``https://user:password@host:port``. The default port
                is 9200. The user of :meth:`set_connection_username` takes precedence over that of a host.

        Raises:
            PlanError: There is no host, or one of them is malformed.
        """
        several = [hosts] if isinstance(hosts, str) else list(hosts)
        if not several:
            raise PlanError("set_hosts() needs at least one host")
        return self._change(hosts=tuple(Host.parse(_text(host, "a host")) for host in several))

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Check the guarantee. All documents are written at the end of each epoch, whatever it is.

        Raises:
            PlanError: The guarantee is ``EXACTLY_ONCE``. Use ``AT_LEAST_ONCE`` and document IDs for the same effect.
        """
        if check_member(delivery_guarantee, DeliveryGuarantee, "the guarantee") is DeliveryGuarantee.EXACTLY_ONCE:
            raise PlanError(
                "Elasticsearch has no transactions, so there is no EXACTLY_ONCE: use AT_LEAST_ONCE and a key_field, so "
                "that a document that is written again replaces itself"
            )
        return self

    def set_bulk_flush_max_actions(self, num_max_actions: int) -> Self:
        """Set the maximum number of documents in a request, 1,000 by default; -1 for no limit."""
        return self._change(most_actions=check_integer(num_max_actions, "the number of actions", minimum=-1))

    def set_bulk_flush_max_size_mb(self, max_size_mb: int) -> Self:
        """Set the maximum size of a request (MB); -1, the default, for no limit."""
        size = check_integer(max_size_mb, "the size in MB", minimum=-1)
        return self._change(most_bytes=size * 2**20 if size > 0 else -1)

    def set_bulk_flush_interval(self, interval_millis: int) -> Self:
        """Do nothing: documents are written at the end of an epoch, which lasts a second at most."""
        check_integer(interval_millis, "the interval in ms", minimum=-1)
        return self

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> Self:
        """Set how often, and after which delay (ms), to retry if the server is overloaded or unavailable."""
        kind = check_member(flush_backoff_type, FlushBackoffType, "the backoff")
        retries = check_integer(max_retries, "the number of retries", minimum=0)
        delay = check_integer(delay_millis, "the delay in ms", minimum=0)
        if kind is FlushBackoffType.NONE:
            retries = 0
        return self._change(retries=retries, delay_ms=delay, exponential=kind is FlushBackoffType.EXPONENTIAL)

    def set_connection_username(self, username: str) -> Self:
        """Set the user."""
        return self._change(user=_text(username, "the user"))

    def set_connection_password(self, password: str) -> Self:
        """Set the password."""
        return self._change(password=_text(password, "the password"))

    def set_connection_path_prefix(self, prefix: str) -> Self:
        """Set the prefix of the path of each request."""
        return self._change(prefix=_text(prefix, "the prefix"))

    def set_connection_request_timeout(self, timeout: int) -> Self:
        """Do nothing: there is no connection pool to wait for."""
        check_integer(timeout, "the timeout in ms", minimum=-1)
        return self

    def set_connection_timeout(self, timeout: int) -> Self:
        """Set how long (ms) connecting may take; 0 for no limit."""
        return self._change(connect_ms=check_integer(timeout, "the timeout in ms", minimum=0))

    def set_socket_timeout(self, timeout: int) -> Self:
        """Set how long (ms) a response may take; 0 for no limit."""
        return self._change(socket_ms=check_integer(timeout, "the timeout in ms", minimum=0))

    def build(self) -> ElasticsearchSink:
        """Return the sink.

        Raises:
            PlanError: A required setting is missing.
            MissingDependencyError: The package urllib3 is not installed.
        """
        library()
        if not self._output.hosts:
            raise PlanError("an ElasticsearchSink needs the address of the server: set_hosts('host:9200')")
        if not self._output.emitter.index:
            raise PlanError(
                "an ElasticsearchSink needs an emitter: set_emitter(ElasticsearchEmitter.static_index(...))"
            )
        return ElasticsearchSink(self._output)


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Builds a sink for Elasticsearch 6, whose documents have a type: ``_doc`` unless the emitter sets one.

    >>> builder = Elasticsearch6SinkBuilder().set_hosts(["first:9200", "second:9200"])
    >>> builder = builder.set_emitter(ElasticsearchEmitter.static_index("users", "id", doc_type="user"))
    >>> sink = builder.set_bulk_flush_max_actions(500).build()

    >>> from flintstream.datastream.connectors import DeliveryGuarantee
    >>> from flintstream.datastream.connectors.elasticsearch import ElasticsearchEmitter, FlushBackoffType
    >>> sink = (
    ...     Elasticsearch6SinkBuilder()
    ...     .set_hosts(["https://search-1:9200", "https://search-2:9200"])
    ...     .set_emitter(ElasticsearchEmitter.static_index("people", "id", "person"))
    ...     .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    ...     .set_bulk_flush_max_actions(500)
    ...     .set_bulk_flush_max_size_mb(5)
    ...     .set_bulk_flush_interval(1_000)
    ...     .set_bulk_flush_backoff_strategy(FlushBackoffType.EXPONENTIAL, 5, 100)
    ...     .set_connection_username("writer")
    ...     .set_connection_password("secret")
    ...     .set_connection_path_prefix("/search")
    ...     .set_connection_request_timeout(10_000)
    ...     .set_connection_timeout(10_000)
    ...     .set_socket_timeout(30_000)
    ...     .build()
    ... )
    >>> type(sink).__name__
    'ElasticsearchSink'
    """

    _default_type = "_doc"


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Builds a sink for Elasticsearch 7 and later, and for OpenSearch.

    >>> builder = Elasticsearch7SinkBuilder().set_hosts("localhost:9200")
    >>> sink = builder.set_emitter(ElasticsearchEmitter.static_index("users", "id")).build()

    >>> from flintstream.datastream.connectors import DeliveryGuarantee
    >>> from flintstream.datastream.connectors.elasticsearch import ElasticsearchEmitter, FlushBackoffType
    >>> sink = (
    ...     Elasticsearch7SinkBuilder()
    ...     .set_hosts(["https://search-1:9200", "https://search-2:9200"])
    ...     .set_emitter(ElasticsearchEmitter.static_index("people", "id"))
    ...     .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
    ...     .set_bulk_flush_max_actions(500)
    ...     .set_bulk_flush_max_size_mb(5)
    ...     .set_bulk_flush_interval(1_000)
    ...     .set_bulk_flush_backoff_strategy(FlushBackoffType.EXPONENTIAL, 5, 100)
    ...     .set_connection_username("writer")
    ...     .set_connection_password("secret")
    ...     .set_connection_path_prefix("/search")
    ...     .set_connection_request_timeout(10_000)
    ...     .set_connection_timeout(10_000)
    ...     .set_socket_timeout(30_000)
    ...     .build()
    ... )
    >>> type(sink).__name__
    'ElasticsearchSink'
    """


def _text(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        got = f"a value of type {type(value).__name__}" if value else "an empty value"  # it may be a password
        raise TypeError(f"{what} of Elasticsearch must be a str, got {got}")
    return value
