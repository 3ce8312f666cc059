"""Programs for the tests of RabbitMQ."""

from __future__ import annotations

from flintstream.common.serialization import SimpleStringSchema
from flintstream.datastream.connectors.rabbitmq import RMQSink, RMQSource

END = "the end"


class UntilEnd(SimpleStringSchema):
    """Read texts until one that marks the end."""

    def is_end_of_stream(self, element):
        return element == END


def source(server, queue, *, ids=False, config=None):
    return RMQSource(config or server.config, queue, ids, UntilEnd())


def sink(server, queue):
    return RMQSink(server.config, queue, SimpleStringSchema())


def read(env, built):
    """Run a program that reads, and return its records."""
    with env.add_source(built).execute_and_collect() as found:
        return list(found)
