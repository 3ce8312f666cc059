"""The sink of Cassandra; mirrors ``pyflink.datastream.connectors.cassandra``.

It needs the extra ``cassandra``.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from flintstream.common._types.parts import without_converters
from flintstream.common.time import Duration
from flintstream.common.typeinfo import RowTypeInfo, TupleTypeInfo, Types
from flintstream.connectors.cassandra.client import library, usual_cluster
from flintstream.connectors.cassandra.log import KEYSPACE, LogCommitter, LogWriter, Notes
from flintstream.connectors.cassandra.records import Mapping
from flintstream.connectors.cassandra.writer import MOST_REQUESTS, CassandraOutput, CassandraWriter
from flintstream.connectors.sink import Sink
from flintstream.datastream._settings import check_integer
from flintstream.datastream.connectors._cassandra_options import ConsistencyLevel, MapperOptions
from flintstream.errors import PlanError

if TYPE_CHECKING:
    from typing_extensions import Self

    from flintstream.common.typeinfo import TypeInformation
    from flintstream.connectors.cassandra.client import Cluster
    from flintstream.connectors.sink import Committer, SinkWriter, WriterContext

__all__ = [
    "CassandraCommitter",
    "CassandraFailureHandler",
    "CassandraSink",
    "ClusterBuilder",
    "ConsistencyLevel",
    "MapperOptions",
]


class ClusterBuilder:
    """Makes the connection to Cassandra, for passwords, TLS and several hosts. In PyFlink it wraps a Java object.

    Override :meth:`build_cluster`. Tasks get a copy of the builder.

    >>> class Secured(ClusterBuilder):
    ...     def build_cluster(self):
    ...         from cassandra.auth import PlainTextAuthProvider
    ...         from cassandra.cluster import Cluster
    ...
    ...         return Cluster(["10.0.0.1", "10.0.0.2"], auth_provider=PlainTextAuthProvider("ann", "secret"))
    >>> committer = CassandraCommitter.default_checkpoint_committer(Secured())
    """

    def build_cluster(self) -> Cluster:
        """Return a ``cassandra.cluster.Cluster`` that is not connected.

        Raises:
            NotImplementedError: A subclass does not override it.
        """
        raise NotImplementedError("override build_cluster(), which returns a cassandra.cluster.Cluster")


class CassandraCommitter:
    """Where the write-ahead log notes which checkpoints it has written.

    >>> committer = CassandraCommitter.default_checkpoint_committer(ClusterBuilder(), "notes_of_jobs")
    """

    def __init__(self, notes: Notes) -> None:
        """Take the place; programs call :meth:`default_checkpoint_committer`."""
        self._notes = notes

    @staticmethod
    def default_checkpoint_committer(builder: ClusterBuilder, key_space: str | None = None) -> CassandraCommitter:
        """Return a committer that notes them in a table of Cassandra, in ``flink_auxiliary`` by default.

        Raises:
            PlanError: The keyspace is not a name.
        """
        if not isinstance(builder, ClusterBuilder):
            raise TypeError(f"expected a ClusterBuilder, got {builder!r}")
        keyspace = KEYSPACE if key_space is None else key_space
        if not re.fullmatch(r"\w{1,48}", keyspace, re.ASCII):
            raise PlanError(f"a keyspace has a name of letters, digits and '_', up to 48 of them, got {keyspace!r}")
        return CassandraCommitter(Notes(builder.build_cluster, keyspace))


class CassandraFailureHandler:
    """Decides what a rejected record does. In PyFlink it wraps a Java object.

    Errors that pass, such as a node that is down, do not reach it: the record is written again.

    >>> class Skips(CassandraFailureHandler):
    ...     def on_failure(self, failure):
    ...         print("skipped:", failure)
    >>> Skips().on_failure(ValueError("Key may not be empty"))
    skipped: Key may not be empty
    """

    def on_failure(self, failure: Exception) -> None:
        """Raise ``failure``, which fails the job. A subclass may return instead, and so skip the record."""
        raise failure

    @staticmethod
    def no_op() -> CassandraFailureHandler:
        """Return a handler that fails the job, which is the default.

        >>> CassandraFailureHandler.no_op().on_failure(ValueError("Key may not be empty"))
        Traceback (most recent call last):
        ValueError: Key may not be empty
        """
        return CassandraFailureHandler()


@dataclass(frozen=True)
class _Target(Sink):
    """Writes records as they come, or with their checkpoint."""

    output: CassandraOutput
    notes: Notes | None

    @property
    def waits_for_checkpoint(self) -> bool:  # type: ignore[override]  # depends on the instance
        return self.notes is not None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return CassandraWriter(self.output, context) if self.notes is None else LogWriter(self.output, context)

    def create_committer(self) -> Committer | None:
        return None if self.notes is None else LogCommitter(self.output, self.notes)


class _End(Protocol):
    """The end of a stream."""

    def get_name(self) -> str: ...
    def name(self, name: str) -> Self: ...
    def uid(self, uid: str) -> Self: ...
    def set_uid_hash(self, uid_hash: str) -> Self: ...
    def set_parallelism(self, parallelism: int) -> Self: ...
    def disable_chaining(self) -> Self: ...
    def slot_sharing_group(self, slot_sharing_group: str) -> Self: ...


class _Stream(Protocol):
    """A stream."""

    def get_type(self) -> TypeInformation: ...
    def sink_to(self, sink: Sink) -> _End: ...


class CassandraSink:
    """Writes a stream to Cassandra, with a query for each record. :meth:`add_sink` begins.

    Records are tuples, rows, or objects of data classes. At least once: Cassandra has all records of an epoch before it
    ends. A write to a row that is repeated after a failure does not change it.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> counts = env.from_collection([("to", 2), ("be", 2)], Types.TUPLE([Types.STRING(), Types.LONG()]))
    >>> builder = CassandraSink.add_sink(counts).set_host("127.0.0.1", 9042)
    >>> sink = builder.set_query("INSERT INTO shop.words (word, count) VALUES (?, ?)").build()
    >>> sink.name("words").uid("words").set_parallelism(1).disable_chaining().slot_sharing_group("out").get_name()
    'words'
    >>> sink = sink.set_uid_hash("0123456789abcdef0123456789abcdef")
    """

    def __init__(self, end: _End) -> None:
        """Take the end of the stream; programs use :meth:`add_sink`."""
        self._end = end

    def get_name(self) -> str:
        """Return the name of this step."""
        return self._end.get_name()

    def name(self, name: str) -> Self:
        """Name this step, for plans, metrics and errors."""
        self._end.name(name)
        return self

    def uid(self, uid: str) -> Self:
        """Set an ID that survives changes to the program, by which the state of this step is found."""
        self._end.uid(uid)
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Set the hash by which the state of this step is found."""
        self._end.set_uid_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """Set the number of subtasks of this step."""
        self._end.set_parallelism(parallelism)
        return self

    def disable_chaining(self) -> Self:
        """Do not connect this step with the one before it by calls."""
        self._end.disable_chaining()
        return self

    def slot_sharing_group(self, slot_sharing_group: str) -> Self:
        """Set the group of steps that may share a slot."""
        self._end.slot_sharing_group(slot_sharing_group)
        return self

    @staticmethod
    def add_sink(input: _Stream) -> CassandraSink.CassandraSinkBuilder:
        """Return a builder of a sink for a stream.

        Raises:
            PlanError: The records are neither tuples nor rows, nor of an undeclared type.
        """
        if not hasattr(input, "sink_to"):
            raise TypeError(f"expected a DataStream, got {input!r}")
        kind = without_converters(input.get_type())
        if not isinstance(kind, (TupleTypeInfo, RowTypeInfo)) and kind != Types.PICKLED_BYTE_ARRAY():
            raise PlanError(f"CassandraSink writes tuples and rows, but the records of the stream are of type {kind}")
        return CassandraSink.CassandraSinkBuilder(input)

    class CassandraSinkBuilder:
        """Builds a :class:`CassandraSink`. It needs a host, or a builder of clusters.

        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> class Local(ClusterBuilder):
        ...     def build_cluster(self):
        ...         from cassandra.cluster import Cluster
        ...
        ...         return Cluster(["127.0.0.1"])
        >>> @dataclass
        ... class Word:
        ...     __cassandra_table__ = "shop.words"
        ...     word: str
        ...     count: int
        >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        >>> builder = CassandraSink.add_sink(env.from_collection([Word("to", 2)])).set_cluster_builder(Local())
        >>> builder = builder.set_max_concurrent_requests(100, Duration.of_seconds(60)).enable_ignore_null_fields()
        >>> builder = builder.set_mapper_options(MapperOptions().ttl(1800))
        >>> builder = builder.set_failure_handler(CassandraFailureHandler.no_op()).enable_write_ahead_log()
        >>> builder.build().get_name()
        'Cassandra Sink'
        """

        def __init__(self, stream: _Stream) -> None:
            """Take the stream; programs use :meth:`CassandraSink.add_sink`."""
            self._stream = stream
            self._output: CassandraOutput | None = None
            self._query: str | None = None
            self._mapping: Mapping | None = None
            self._ignores_nulls = False
            self._most = MOST_REQUESTS
            self._patience: float | None = None
            self._handler: CassandraFailureHandler | None = None
            self._notes: Notes | None = None

        def set_query(self, query: str) -> Self:
            """Set the statement for each record, with a ``?`` for each of its values, in order."""
            if not isinstance(query, str) or not query:
                raise TypeError(f"the query must be a statement of CQL, got {query!r}")
            self._query = query
            return self

        def set_host(self, host: str, port: int = 9042) -> Self:
            """Set a node of the cluster. The driver finds the others.

            Raises:
                PlanError: There is a builder of clusters already.
            """
            if not isinstance(host, str) or not host:
                raise TypeError(f"the host must be a str, got {host!r}")
            check_integer(port, "the port", minimum=1, maximum=65535)
            return self._connect(CassandraOutput(partial(usual_cluster, host, port), f"Cassandra at {host}:{port}"))

        def set_cluster_builder(self, builder: ClusterBuilder) -> Self:
            """Set what makes connections.

            Raises:
                PlanError: There is a host already.
            """
            if not isinstance(builder, ClusterBuilder):
                raise TypeError(f"expected a ClusterBuilder, got {builder!r}")
            return self._connect(CassandraOutput(builder.build_cluster, "Cassandra"))

        def _connect(self, output: CassandraOutput) -> Self:
            if self._output is not None:
                raise PlanError("call either set_host() or set_cluster_builder(), once")
            self._output = output
            return self

        def enable_write_ahead_log(self, committer: CassandraCommitter | None = None) -> Self:
            """Keep records until their checkpoint is complete, and write those of a checkpoint once.

            Use it if the program may compute other values when it repeats records after a failure. A failure in the
            middle of such a write repeats it, so the query must not add to a value. The sink makes the keyspace and the
            table in which it notes what it has written, and does not delete them.
            """
            if committer is not None and not isinstance(committer, CassandraCommitter):
                raise TypeError(f"expected a CassandraCommitter, got {committer!r}")
            self._notes = Notes() if committer is None else committer._notes
            return self

        def set_mapper_options(self, options: MapperOptions) -> Self:
            """Set how objects of data classes become rows. They have no effect on a query, as in Flink."""
            if not isinstance(options, MapperOptions):
                raise TypeError(f"expected MapperOptions, got {options!r}")
            self._mapping = options._mapping
            return self

        def set_failure_handler(self, failure_handler: CassandraFailureHandler) -> Self:
            """Set what a rejected record does. By default, it fails the job."""
            if not isinstance(failure_handler, CassandraFailureHandler):
                raise TypeError(f"expected a CassandraFailureHandler, got {failure_handler!r}")
            self._handler = failure_handler
            return self

        def set_max_concurrent_requests(self, max_concurrent_requests: int, duration: Duration | None = None) -> Self:
            """Set how many requests of a subtask may be open, at most 500.

            ``duration`` is how long the job waits for Cassandra before it fails; as long as it takes by default.
            """
            number = check_integer(max_concurrent_requests, "the number of requests", minimum=1)
            self._most = min(number, MOST_REQUESTS)
            if duration is not None:
                if not isinstance(duration, Duration) or duration.to_nanos() <= 0:
                    raise ValueError(f"the longest wait must be a positive Duration, got {duration!r}")
                self._patience = duration.to_nanos() / 1e9
            return self

        def enable_ignore_null_fields(self) -> Self:
            """Do not write None, so that the old value of the column stays."""
            self._ignores_nulls = True
            return self

        def build(self) -> CassandraSink:
            """Add the sink to the stream, and return it.

            Raises:
                PlanError: The host is missing, or tuples or rows have no query.
                MissingDependencyError: The driver is not installed.
            """
            if self._output is None:
                raise PlanError("the sink needs a cluster: set_host('127.0.0.1')")
            if self._query is None and self._stream.get_type() != Types.PICKLED_BYTE_ARRAY():
                raise PlanError("the sink needs a query: set_query('INSERT INTO ... VALUES (?, ?)')")
            library()
            mapping = self._mapping
            if mapping is not None and self._query is not None:
                warnings.warn("mapper options have no effect on a query, as in Flink: change the query", stacklevel=2)
                mapping = None
            target = _Target(
                replace(
                    self._output,
                    query=self._query,
                    mapping=mapping or Mapping(),
                    ignores_nulls=self._ignores_nulls,
                    most_requests=self._most,
                    patience_seconds=self._patience,
                    on_failure=None if self._handler is None else self._handler.on_failure,
                ),
                self._notes,
            )
            return CassandraSink(self._stream.sink_to(target).name("Cassandra Sink"))
