"""Programs for the tests of Pulsar."""

from __future__ import annotations

import uuid

from tests.connectors.kafka.jobs import NO_WATERMARKS

from flintstream.common import SimpleStringSchema
from flintstream.datastream.connectors.pulsar import PulsarSink, PulsarSource, StopCursor


def source(server, topic, stop=None):
    """Return a builder of a source that reads a topic to its current end, or to a cursor."""
    builder = PulsarSource.builder().set_service_url(server.url).set_admin_url(server.admin)
    builder.set_subscription_name(f"s{uuid.uuid4().hex[:8]}").set_deserialization_schema(SimpleStringSchema())
    if topic is not None:
        builder.set_topics(topic)
    if stop is not None and stop.cursor.kind == "never":
        return builder.set_unbounded_stop_cursor(stop)
    return builder.set_bounded_stop_cursor(stop or StopCursor.latest())


def sink(server, *topics):
    """Return a builder of a sink of texts."""
    builder = PulsarSink.builder().set_service_url(server.url).set_topics(list(topics))
    return builder.set_serialization_schema(SimpleStringSchema())


def stream_of(env, built, *steps):
    stream = env.from_source(built, NO_WATERMARKS, "pulsar")
    for step in steps:
        stream = stream.map(step)
    return stream


def read(env, built, *steps):
    """Return all records of a bounded source."""
    with stream_of(env, built, *steps).execute_and_collect() as found:
        return list(found)


def take(env, built, count, *steps):
    """Return some records of an unbounded source."""
    with stream_of(env, built, *steps).execute_and_collect() as found:
        return [next(found) for _ in range(count)]
