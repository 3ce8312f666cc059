"""The sink of Elasticsearch; mirrors ``pyflink.datastream.connectors.elasticsearch``.

It needs the extra ``elasticsearch``.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from flintstream.connectors.elasticsearch import ElasticsearchOutput, ElasticsearchWriter, Emitter, Host, library
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_integer, check_member
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.errors import PlanError, UnsupportedByDesignError

if TYPE_CHECKING:
    from flintstream.connectors.sink import SinkWriter, WriterContext

__all__ = [
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "FlushBackoffType",
]


class FlushBackoffType(enum.Enum):
    """How to wait before a request that failed is made again."""

    CONSTANT = 0
    """Always as long."""
    EXPONENTIAL = 1
    """Twice as long every time."""
    NONE = 2
    """It is not made again."""


class ElasticsearchEmitter:
    """Makes documents of records, which are dicts, or Rows with names."""

    def __init__(self, emitter: Emitter) -> None:
        """Take what a static method made; use those."""
        self._emitter = emitter

    @staticmethod
    def static_index(index: str, key_field: str | None = None, doc_type: str | None = None) -> ElasticsearchEmitter:
        """Write all documents into one index; the id is in the field ``key_field``, or made by the server."""
        return ElasticsearchEmitter(Emitter(_text(index, "the index"), key_field, doc_type))

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Write each document into the index that its field ``index_field`` names."""
        return ElasticsearchEmitter(Emitter(_text(index_field, "the index field"), key_field, doc_type, dynamic=True))


class ElasticsearchSink(Sink):
    """Writes documents, for ``sink_to``: those of an epoch are written when it ends, so nothing is lost.

    Written again after a failure, a document with an id replaces itself, so that it is there once; one without is
    there twice.
    """

    waits_for_checkpoint = False

    def __init__(self, output: ElasticsearchOutput) -> None:
        """Take what a builder made; use :class:`Elasticsearch7SinkBuilder`."""
        if not isinstance(output, ElasticsearchOutput):
            raise TypeError("an ElasticsearchSink is made by Elasticsearch7SinkBuilder()")
        self._output = output

    def create_writer(self, context: WriterContext) -> SinkWriter:  # noqa: ARG002
        """Return a writer."""
        return ElasticsearchWriter(self._output)


class ElasticsearchSinkBuilderBase:
    """Builds an :class:`ElasticsearchSink`. Hosts and an emitter are needed."""

    _default_type: str | None = None

    def __init__(self) -> None:
        self._output = ElasticsearchOutput((), Emitter(""), self._default_type)

    def _change(self, **changes: Any) -> Self:
        self._output = replace(self._output, **changes)
        return self

    def get_http_host_class(self) -> NoReturn:
        """Not possible here: it is a class of Java.

        Raises:
            UnsupportedByDesignError: Always.
        """
        raise UnsupportedByDesignError("get_http_host_class() returns a class of Java; give set_hosts() texts")

    def set_emitter(self, emitter: ElasticsearchEmitter) -> Self:
        """Say what becomes of a record."""
        if not isinstance(emitter, ElasticsearchEmitter):
            raise TypeError(f"an ElasticsearchEmitter is needed, got {emitter!r}")
        return self._change(emitter=emitter._emitter)  # noqa: SLF001 - the same module

    def set_hosts(self, hosts: str | list[str]) -> Self:
        """Say where nodes are; the next one is asked if one is away.

        Args:
            hosts: each as ``host:port``, ``https://host:port`` or ``https://user:password@host:port``. The port is 9200
                if there is none. A user of :meth:`set_connection_username` comes before that of a host.

        Raises:
            PlanError: There is no host, or one of them is not as above.
        """
        several = [hosts] if isinstance(hosts, str) else list(hosts)
        if not several:
            raise PlanError("set_hosts() needs at least one host")
        return self._change(hosts=tuple(Host.parse(_text(host, "a host")) for host in several))

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Take note: at the end of each epoch all is written, whatever is asked for.

        Raises:
            PlanError: Exactly once is asked for, which there is not; ids make it as good as that.
        """
        if check_member(delivery_guarantee, DeliveryGuarantee, "the guarantee") is DeliveryGuarantee.EXACTLY_ONCE:
            raise PlanError(
                "Elasticsearch has no transactions, so there is no EXACTLY_ONCE: use AT_LEAST_ONCE and a key_field, by "
                "which a document that is written again replaces itself"
            )
        return self

    def set_bulk_flush_max_actions(self, num_max_actions: int) -> Self:
        """Set the most documents of a request, 1,000 by default; -1 for any number."""
        return self._change(most_actions=check_integer(num_max_actions, "the number of actions", minimum=-1))

    def set_bulk_flush_max_size_mb(self, max_size_mb: int) -> Self:
        """Set the most MB of a request; -1, the default, for any."""
        size = check_integer(max_size_mb, "the size in MB", minimum=-1)
        return self._change(most_bytes=size * 2**20 if size > 0 else -1)

    def set_bulk_flush_interval(self, interval_millis: int) -> Self:
        """Have no effect: documents are written when an epoch ends, which is after a second at the latest."""
        check_integer(interval_millis, "the interval in ms", minimum=-1)
        return self

    def set_bulk_flush_backoff_strategy(
        self, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> Self:
        """Say how often, and after how many ms, to ask again a server that has too much to do or is away."""
        kind = check_member(flush_backoff_type, FlushBackoffType, "the backoff")
        retries = check_integer(max_retries, "the number of retries", minimum=0)
        delay = check_integer(delay_millis, "the delay in ms", minimum=0)
        if kind is FlushBackoffType.NONE:
            retries = 0
        return self._change(retries=retries, delay_ms=delay, exponential=kind is FlushBackoffType.EXPONENTIAL)

    def set_connection_username(self, username: str) -> Self:
        """Say who connects."""
        return self._change(user=_text(username, "the user"))

    def set_connection_password(self, password: str) -> Self:
        """Say by which password."""
        return self._change(password=_text(password, "the password"))

    def set_connection_path_prefix(self, prefix: str) -> Self:
        """Set what comes first in the path of each request."""
        return self._change(prefix=_text(prefix, "the prefix"))

    def set_connection_request_timeout(self, timeout: int) -> Self:
        """Have no effect: there is no pool of connections to wait for."""
        check_integer(timeout, "the timeout in ms", minimum=-1)
        return self

    def set_connection_timeout(self, timeout: int) -> Self:
        """Set how long (ms) connecting may take, 0 for any time."""
        return self._change(connect_ms=check_integer(timeout, "the timeout in ms", minimum=0))

    def set_socket_timeout(self, timeout: int) -> Self:
        """Set how long (ms) an answer may take, 0 for any time."""
        return self._change(socket_ms=check_integer(timeout, "the timeout in ms", minimum=0))

    def build(self) -> ElasticsearchSink:
        """Return the sink.

        Raises:
            PlanError: Something is missing.
            MissingDependencyError: The package urllib3 is not installed.
        """
        library()
        if not self._output.hosts:
            raise PlanError("an ElasticsearchSink needs to know where the server is: set_hosts('host:9200')")
        if not self._output.emitter.index:
            raise PlanError(
                "an ElasticsearchSink needs an emitter: set_emitter(ElasticsearchEmitter.static_index(...))"
            )
        return ElasticsearchSink(self._output)


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Builds a sink for Elasticsearch 6, whose documents have a type: ``_doc`` unless the emitter says otherwise."""

    _default_type = "_doc"


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Builds a sink for Elasticsearch 7 and later, and for OpenSearch.

    >>> builder = Elasticsearch7SinkBuilder().set_hosts("localhost:9200")
    >>> sink = builder.set_emitter(ElasticsearchEmitter.static_index("users", "id")).build()
    """


def _text(value: str, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} of Elasticsearch must be a text, got {value!r}")
    return value
