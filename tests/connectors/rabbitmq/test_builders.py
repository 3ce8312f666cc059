"""PyFlink's names and their checks, without a connection."""

from __future__ import annotations

import pickle

import pytest

from flintstream.common.serialization import SimpleStringSchema
from flintstream.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSink, RMQSource
from flintstream.errors import MissingDependencyError, PlanError

SCHEMA = SimpleStringSchema()


def builder():
    found = RMQConnectionConfig.Builder().set_host("rabbit").set_port(5672).set_virtual_host("/jobs")
    return found.set_user_name("ann").set_password("secret")


def test_a_configuration_knows_what_was_set_and_nothing_else():
    config = (
        builder()
        .set_requested_heartbeat(30)
        .set_requested_frame_max(8192)
        .set_requested_channel_max(3)
        .set_network_recovery_interval(200)
        .set_connection_timeout(1500)
        .set_automatic_recovery(True)
        .set_topology_recovery_enabled(False)
        .set_prefetch_count(10)
        .build()
    )
    assert (config.get_host(), config.get_port(), config.get_virtual_host()) == ("rabbit", 5672, "/jobs")
    assert (config.get_user_name(), config.get_password(), config.get_uri()) == ("ann", "secret", None)
    assert (config.get_requested_heartbeat(), config.get_requested_frame_max()) == (30, 8192)
    assert (config.get_requested_channel_max(), config.get_network_recovery_interval()) == (3, 200)
    assert (config.get_connection_timeout(), config.get_prefetch_count()) == (1500, 10)
    assert (config.is_automatic_recovery(), config.is_topology_recovery()) == (True, False)
    other = RMQConnectionConfig.Builder().set_uri("amqp://ann:secret@rabbit/jobs").build()
    assert (other.get_uri(), other.get_host(), other.is_automatic_recovery()) == (
        "amqp://ann:secret@rabbit/jobs", None, None,
    )  # fmt: skip


def test_settings_reach_the_client():
    config = builder().set_requested_heartbeat(30).set_requested_frame_max(8192).set_requested_channel_max(3)
    found = config.set_connection_timeout(1500).build()._server().parameters()
    assert (found.host, found.port, found.virtual_host, found.credentials.username) == ("rabbit", 5672, "/jobs", "ann")
    assert (found.heartbeat, found.frame_max, found.channel_max) == (30, 8192, 3)
    assert (found.socket_timeout, found.stack_timeout) == (1.5, 1.5)
    limitless = builder().set_connection_timeout(0).set_requested_frame_max(0).build()._server().parameters()
    assert (limitless.socket_timeout, limitless.frame_max) == (None, 131_072)


def test_what_is_missing_is_named():
    with pytest.raises(PlanError, match=r"needs set_uri\(\) or, in addition, set_virtual_host\(\), set_password\(\)"):
        RMQConnectionConfig.Builder().set_host("rabbit").set_port(5672).set_user_name("ann").build()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda b: b.set_port(0), "the port must be at least 1"),
        (lambda b: b.set_host(""), "the host of RabbitMQ must be a str"),
        (
            lambda b: b.set_uri("http://rabbit"),
            "must begin with amqp:// or amqps:// and name a host, got 'http://rabbit'",
        ),
        (lambda b: b.set_prefetch_count(0), "prefetched messages must be at least 1"),
        (lambda b: b.set_prefetch_count(70_000), "at most 65535"),
        (lambda b: b.set_requested_frame_max(10), "the size of a frame must be at least 4096"),
        (lambda b: b.set_automatic_recovery("yes"), "automatic_recovery must be True or False"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        wrong(RMQConnectionConfig.Builder())


@pytest.mark.parametrize("make", [lambda c, q, s: RMQSource(c, q, False, s), RMQSink])
def test_source_and_sink_need_a_configuration_a_queue_and_a_schema(make):
    for config, queue, schema in (({}, "q", SCHEMA), (builder().build(), "", SCHEMA), (builder().build(), "q", str)):
        with pytest.raises(TypeError):
            make(config, queue, schema)


def test_passwords_are_not_shown():
    config = builder().build()
    with_uri = RMQConnectionConfig.Builder().set_uri("amqp://ann:secret@rabbit:1/jobs")
    shown = [config, config._server(), builder(), with_uri, with_uri.build(), with_uri.build()._server()]
    assert not any("secret" in repr(item) for item in shown)
    assert repr(with_uri.build()) == "RMQConnectionConfig(rabbit:1)"


def test_source_and_sink_travel():
    source = pickle.loads(pickle.dumps(RMQSource(builder().build(), "q", True, SCHEMA)))
    assert source._input().server == builder().build()._server()


def test_without_pika_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pika", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'flintstream\[rabbitmq\]'"):
        RMQSink(builder().build(), "q", SCHEMA)
