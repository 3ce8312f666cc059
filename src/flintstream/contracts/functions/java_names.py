"""Functions that programs name by a Java class, as PyFlink's wrap Java objects."""

from __future__ import annotations

from flintstream.common._java_view import NO_JVM, JavaView, behind
from flintstream.errors import AbsentNameError

SINKS = ("DiscardingSink", "PrintSinkFunction")
"""Java's sinks without arguments that need no Java."""

_ADVICE = {
    "FlinkKafkaConsumer": "use pyflink.datastream.connectors.kafka.KafkaSource",
    "FlinkKafkaProducer": "use pyflink.datastream.connectors.kafka.KafkaSink",
    "FromElementsFunction": "use env.from_collection()",
    "JdbcSink": "use pyflink.datastream.connectors.jdbc.JdbcSink",
    "RMQSink": "use pyflink.datastream.connectors.rabbitmq.RMQSink",
    "RMQSource": "use pyflink.datastream.connectors.rabbitmq.RMQSource",
    "SocketTextStreamFunction": "use env.socket_text_stream()",
    "StatefulSequenceSource": "use NumberSequenceSource",
    "StreamingFileSink": "use pyflink.datastream.connectors.file_system.FileSink",
}


def java_object(wrapper: str, given: object, known: tuple[str, ...] = ()) -> object:
    """Return what a function wraps: the simple name of a known Java class, or the object of PyFlink's gateway.

    >>> java_object("SinkFunction", "org.apache.flink.streaming.api.functions.sink.legacy.DiscardingSink", SINKS)
    'DiscardingSink'
    >>> java_object("SourceFunction", "org.example.Orders")
    Traceback (most recent call last):
    flintstream.errors.AbsentNameError: SourceFunction('org.example.Orders'): flintstream has no Flink JVM; derive a
    class from SourceFunction in Python

    Raises:
        AbsentNameError: The class has no counterpart.
    """
    if isinstance(given, JavaView):
        return behind(given)
    name = str(given).rpartition(".")[2].rpartition("$")[2]
    if name in known:
        return name
    advice = _ADVICE.get(name, f"derive a class from {wrapper} in Python")
    raise AbsentNameError(f"{wrapper}({given!r}): {NO_JVM}; {advice}")
