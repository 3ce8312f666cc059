"""Stages with exchanges between them, as RDDs."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from flintstream.engine.spark.jvm.context import setting
from flintstream.engine.spark.versions import wrap_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark import SparkContext

__all__ = ["StageChain", "level_of"]

_log = logging.getLogger(__name__)

_PLACES = """
package flintstream;
import org.apache.spark.Partition;
import org.apache.spark.rdd.PartitionGroup;

public final class Places implements org.apache.spark.rdd.PartitionCoalescer, java.io.Serializable {
    private final String[] places;

    public Places(String places) { this.places = places.split(","); }

    public PartitionGroup[] coalesce(int count, org.apache.spark.rdd.RDD parent) {
        Partition[] partitions = parent.partitions();
        PartitionGroup[] groups = new PartitionGroup[partitions.length];
        for (int i = 0; i < groups.length; i++) {
            groups[i] = new PartitionGroup(scala.Option.apply(places[i]));
            groups[i].partitions().$plus$eq(partitions[i]);
        }
        return groups;
    }

    protected Object writeReplace() { return null; }
}
"""
"""A way to coalesce an RDD that leaves its partitions as they are, and names a preferred location for each.

That is the only public way to give locations to the results of an exchange. The source is compiled in the driver's JVM
by the compiler that Spark has for its own queries. Executors need no class: for them, it is replaced by null.
"""


class _Locations:
    """Gives preferred locations to the partitions of an RDD."""

    _kinds: ClassVar[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()
    """The constructor of the compiled class in the JVM of a gateway; None if it cannot be compiled there."""

    def __init__(self, context: Any) -> None:
        self._gateway = context._gateway
        self._made: dict[int, tuple[tuple[str, ...], Any]] = {}
        self._compiling = threading.Thread(target=self._compile, name="flintstream-places", daemon=True)

    def _compile(self) -> None:
        jvm = self._gateway.jvm
        try:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
            compiler.cook(_PLACES)
            kind = compiler.getClassLoader().loadClass("flintstream.Places").getConstructors()[0]
        except Exception:  # noqa: BLE001 - whatever the connection raises
            _log.info("Spark places tasks without regard to their state", exc_info=True)
            kind = None
        self._kinds[self._gateway] = kind

    def at(self, stage: int, rdd: Any, places: tuple[str, ...]) -> Any:
        """Return an RDD with the same partitions at these places; the given one if there is no way to tell Spark."""
        kind = self._kinds.get(self._gateway)
        if kind is None:
            if self._gateway not in self._kinds and self._compiling.ident is None:
                self._compiling.start()  # takes up to some seconds, and an epoch need not wait for it
            return rdd
        known, coalescer = self._made.get(stage, ((), None))
        if known != places:
            arguments = self._gateway.new_array(self._gateway.jvm.java.lang.Object, 1)
            arguments[0] = ",".join(places)
            coalescer = self._gateway.jvm.scala.Option.apply(kind.newInstance(arguments))
            self._made[stage] = places, coalescer
        return rdd.coalesce(len(places), False, coalescer, None)


class StageChain:
    """A chain of stages with exchanges between them, run repeatedly with different data.

    Builds the RDDs of ``mapPartitionsWithIndex`` and ``partitionBy``, which must be new for each run. The constant
    parts, mainly the pickled functions, are sent to the JVM only once, which halves the calls per run.
    """

    def __init__(
        self, context: Any, stages: Sequence[tuple[Callable[[int, Any], Any], int]], names: Sequence[str] = ()
    ) -> None:
        """Take the function of each stage and the number of partitions of its results, and names for Spark's page.

        Every function but the last writes the stream that the exchange reads: alternately a partition number, packed as
        ``!q``, and a pickled list of items for it. The last stage's number is 0, and its results are collected.
        """
        self._context = context
        self._stages = stages
        jvm = context._jvm
        self._python_rdd, self._pairwise_rdd = jvm.PythonRDD, jvm.PairwiseRDD
        self._partitioners = [jvm.PythonPartitioner(count, count) if count else None for _, count in stages]
        self._functions: list[Any] = []
        self._first_serializer = self._without_kryo()
        self._locations = _Locations(context)
        self.explains = "true" in {
            setting(context, "spark.ui.enabled") or "true",
            setting(context, "spark.eventLog.enabled"),
        }
        """Whether Spark's page, or its history server, shows the stages."""
        self._names = [_shorten(name) for name in names] if self.explains else []

    def _without_kryo(self) -> Any:
        """Return a serializer for the first run; None if there are too many partitions for it.

        Spark would take Kryo, whose classes take a tenth of a second to load, and a small job has no other run.
        """
        if max(count for _, count in self._stages) > FEW_PARTITIONS:
            return None
        # Otherwise, a stream keeps the last fifty blocks in memory, and the only run of a batch job may be a long one.
        conf = self._context._jsc.sc().conf().clone().set("spark.serializer.objectStreamReset", "1")
        return self._context._jvm.org.apache.spark.serializer.JavaSerializer(conf)

    def _wrap(self, deserializer: Any) -> None:
        from pyspark.serializers import BatchedSerializer, NoOpSerializer

        for function, following in self._stages:
            serializer = NoOpSerializer() if following else self._context.serializer
            self._functions.append(wrap_function(self._context, function, deserializer, serializer))
            deserializer = BatchedSerializer(self._context._unbatched_serializer)  # type: ignore[no-untyped-call]

    def run(self, seeds: Sequence[Any], places: Sequence[tuple[str, ...] | None]) -> list[Any]:
        """Pass a seed to each partition of the first stage; return the results of the last one.

        ``places`` are the preferred locations of the tasks of each stage, if there are any.
        """
        from pyspark import RDD

        serializer, self._first_serializer = self._first_serializer, None
        first = self._context.parallelize(seeds, len(seeds))
        if not self._functions:
            self._wrap(first._jrdd_deserializer)
        java = first._jrdd.rdd()
        for stage, (function, partitioner) in enumerate(zip(self._functions, self._partitioners, strict=True)):
            if self._names:
                self._context._jsc.setCallSite(self._names[stage])
            here = places[stage]
            if here is not None:
                java = self._locations.at(stage, java, here)
            java = self._python_rdd(java, function, False, False)
            if partitioner is not None:
                pairs = self._pairwise_rdd(java).asJavaPairRDD().partitionBy(partitioner)
                if serializer is not None:
                    pairs.rdd().setSerializer(serializer)
                java = self._python_rdd.valueOfPair(pairs).rdd()
        results: RDD[Any] = RDD(java.asJavaRDD(), self._context, self._context.serializer)
        if not self._names:
            return results.collect()
        with _kept_name(self._context):
            return results.collect()


def level_of(context: SparkContext, group: str, stage: int) -> int | None:
    """Return the position of a stage in the latest run of a :class:`StageChain`, in a job group; None if not known."""
    tracker = context.statusTracker()
    with suppress(Exception):  # Spark has ended
        job = tracker.getJobInfo(max(tracker.getJobIdsForGroup(group)))
        if job is not None and stage in job.stageIds:
            return sorted(job.stageIds).index(stage)  # Spark numbers a stage after those that it needs
    return None


FEW_PARTITIONS = 200
"""For more, Spark sorts what a task writes, which is slower with Java's serialization."""

LONGEST_NAME = 200
"""Most characters of the name of a stage on Spark's page."""


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


@contextmanager
def _kept_name(context: Any) -> Iterator[None]:
    """Keep the name of the last stage, which pyspark would replace by a line of this file."""
    from pyspark.traceback_utils import SCCallSiteSync

    SCCallSiteSync._spark_stack_depth += 1
    try:
        yield
    finally:
        SCCallSiteSync._spark_stack_depth -= 1
        context._jsc.setCallSite(None)
