"""Every property that Kafka's Java clients document works, has no effect, or is refused with an alternative."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from tests.connectors.kafka.java_properties import recorded

from flintstream.connectors.kafka.client import LIBRARY_LOG, check_consumer, check_producer, consumer, library, producer
from flintstream.connectors.kafka.input import KafkaInput
from flintstream.connectors.kafka.properties import (
    ADVICE,
    DOCUMENTED,
    IN_LOGIN,
    IN_TLS,
    MISSED,
    OF_OTHERS,
    OF_THE_CONNECTOR,
    SAME,
    WITHOUT_EFFECT,
    Role,
    librdkafka,
)
from flintstream.errors import PlanError

OF_FLINK = [
    "client.id.prefix",
    "commit.offsets.on.checkpoint",
    "flink.disable-metrics",
    "flink.partition-discovery.interval-millis",
    "flink.poll-timeout",
    "partition.discovery.interval.ms",
    "register.consumer.metrics",
    "register.producer.metrics",
    "stream-enumerator-mode",
    "stream-metadata-discovery-failure-threshold",
    "stream-metadata-discovery-interval-ms",
]
"""The properties in the documentation of Flink's connector, except those of Kafka's clients."""

LOGIN = "org.apache.kafka.common.security"
PLAIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{LOGIN}.plain.PlainLoginModule required username="u" password="p";',
}
OAUTH = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.jaas.config": f'{LOGIN}.oauthbearer.OAuthBearerLoginModule required clientId="i" clientSecret="s" scope="c";',
    "sasl.oauthbearer.token.endpoint.url": "http://127.0.0.1:1/token",
}
SAMPLES: dict[str, tuple[str, ...]] = {
    "acks": ("all", "-1", "0", "1"),
    "auto.offset.reset": ("earliest", "none", "by_duration:PT1H"),
    "batch.size": ("0",),
    "bootstrap.servers": ("PLAINTEXT://127.0.0.1:1, 127.0.0.1:2",),
    "client.dns.lookup": ("default", "resolve_canonical_bootstrap_servers_only"),
    "client.id": ("me",),
    "client.rack": ("a",),
    "compression.type": ("gzip", "snappy", "lz4", "zstd", "none"),
    "compression.zstd.level": ("22", "-131072"),
    "connections.max.idle.ms": ("-1", "9223372036854775807"),
    "fetch.max.bytes": ("2147483647",),
    "fetch.max.wait.ms": ("10000", "2147483647"),
    "fetch.min.bytes": ("0", "2147483647"),
    "group.id": ("g",),
    "group.instance.id": ("one",),
    "group.remote.assignor": ("uniform",),
    "isolation.level": ("read_committed", "READ_UNCOMMITTED"),
    "max.in.flight.requests.per.connection": ("6", "1"),
    "max.partition.fetch.bytes": ("0", "2147483647"),
    "max.poll.interval.ms": ("1",),
    "max.request.size": ("0", "2147483647"),
    "metadata.max.age.ms": ("0", "9223372036854775807"),
    "metric.reporters": ("org.apache.flink.kafka.shaded.org.apache.kafka.common.metrics.JmxReporter",),
    "partitioner.class": (
        "org.apache.kafka.clients.producer.RoundRobinPartitioner",
        "org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.internals.DefaultPartitioner",
    ),
    "partitioner.ignore.keys": ("true",),
    "receive.buffer.bytes": ("-1",),
    "reconnect.backoff.max.ms": ("0", "20"),
    "reconnect.backoff.ms": ("20000",),
    "request.timeout.ms": ("0", "2147483647"),
    "retries": ("0", "2147483647"),
    "retry.backoff.max.ms": ("0",),
    "retry.backoff.ms": ("0",),
    "sasl.client.callback.handler.class": (f"{LOGIN}.oauthbearer.internals.OAuthBearerSaslClientCallbackHandler",),
    "sasl.jaas.config": (PLAIN["sasl.jaas.config"],),
    "sasl.kerberos.service.name": ("kafka",),
    "sasl.login.callback.handler.class": (f"{LOGIN}.oauthbearer.OAuthBearerLoginCallbackHandler", "tokens:make"),
    "sasl.mechanism": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
    "security.protocol": ("PLAINTEXT", "plaintext"),
    "send.buffer.bytes": ("-1",),
    "session.timeout.ms": ("1", "99999999"),
    "socket.connection.setup.timeout.ms": ("0",),
    "ssl.cipher.suites": ("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
    "ssl.endpoint.identification.algorithm": ("", "https", "HTTPS"),
    "ssl.key.password": ("secret",),
    "ssl.keystore.location": ("/there/is/none.jks",),
    "ssl.truststore.location": ("/there/is/none.p12",),
    "ssl.truststore.type": ("PKCS12",),
}
"""Values other than the default, above all the limits of Java's ranges."""

NEEDS_JAVA = {
    "partitioner.class": ("com.example.Mine", "set_partitioner"),
    "sasl.client.callback.handler.class": ("com.example.Mine", "'module:function'"),
    "sasl.login.callback.handler.class": ("com.example.Mine", "'module:function'"),
    "sasl.login.class": ("com.example.Mine", "sasl.jaas.config"),
    "sasl.oauthbearer.jwt.retriever.class": ("com.example.Mine", "'module:function'"),
    "ssl.engine.factory.class": ("com.example.Mine", "ssl.truststore"),
}


NO_KERBEROS = ("sasl.mechanism", "GSSAPI")
"""The default, which PyPI's librdkafka does not support; another test shows the message."""


def context(name: str) -> dict[str, str]:
    """Return the properties without which this one has no effect."""
    if name.startswith("ssl."):
        return {"security.protocol": "SSL"}
    if name.startswith(("sasl.oauthbearer.", "sasl.login.callback", "sasl.client.callback")):
        return OAUTH
    if name.startswith("sasl."):
        return PLAIN
    if name == "transactional.id":
        return {"enable.idempotence": "true"}
    return {}


def given() -> list[Any]:
    found = []
    for client, name, _, default in recorded():
        own = default.removeprefix("class ").strip("[]")
        values = [own] if own not in {"", "null"} and not own.startswith("class") else []
        values += [value for value in SAMPLES.get(name, ()) if value not in values]
        found += [(client, name, value) for value in values if (name, value) != NO_KERBEROS]
    return [pytest.param(*item, id=f"{item[0]} {item[1]}={item[2][:40]}") for item in found]


def test_there_is_a_decision_on_every_name():
    names = {name for _, name, _, _ in recorded()}
    assert len(names) > 130
    assert names - set(DOCUMENTED) == set()
    assert set(OF_FLINK) <= OF_THE_CONNECTOR
    assert names >= (MISSED | OF_OTHERS[Role.CONSUMER] | OF_OTHERS[Role.PRODUCER])


def test_nothing_is_decided_twice():
    tables = [SAME, OF_THE_CONNECTOR, WITHOUT_EFFECT, MISSED, IN_TLS, IN_LOGIN, ADVICE.keys()]
    assert sum(map(len, tables)) == len(frozenset().union(*tables))


@pytest.mark.parametrize(("client", "name", "value"), given())
def test_what_java_takes_is_taken(client, name, value, caplog):
    properties = context(name) | {name: value}
    check = check_consumer if client == "consumer" else check_producer
    with caplog.at_level(logging.WARNING):
        check(properties)
        assert caplog.text == ""
        translated = librdkafka(properties, Role(client), reads_files=False)
        translated.pop("oauth_cb", None)
        made = library().Consumer if client == "consumer" else library().Producer
        made({"group.id": "g"} | translated | {"logger": LIBRARY_LOG, "bootstrap.servers": ""})
    assert "CONFWARN" not in caplog.text


@pytest.mark.parametrize("name", NEEDS_JAVA)
def test_what_needs_a_java_class_is_refused_with_what_to_use_instead(name):
    value, advice = NEEDS_JAVA[name]
    with pytest.raises(PlanError, match=rf"'{name}' names the Java class {value}.*{advice}"):
        check_producer(context(name) | {name: value})


@pytest.mark.parametrize("name", sorted(MISSED))
def test_classes_that_are_missed_are_told_of(name, caplog):
    check_consumer({name: "com.example.Mine"})
    assert f"'{name}' names Java classes and has no effect in flintstream: com.example.Mine" in caplog.text
    caplog.clear()
    check_consumer({name: ""})
    assert caplog.text == ""


def test_an_unknown_property_is_no_error_as_in_java_but_told_of_with_what_may_be_meant(caplog):
    for check in (check_consumer, check_producer):
        check({"fetch.min.bites": "1", "zookeeper.connect": "a:2181"})
        assert "property 'fetch.min.bites' is unknown and has no effect; did you mean 'fetch.min.bytes'?" in caplog.text
        assert "property 'zookeeper.connect' is unknown and has no effect\n" in caplog.text
        caplog.clear()
    consumer({"zookeeper.connect": "a:2181"}).close()
    producer({"zookeeper.connect": "a:2181"}, print)
    assert caplog.text == ""  # tasks need not warn again


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        (
            PLAIN | {"sasl.jaas.config": "x.PlainLoginModule required username=hidden;"},
            "lacks a username or a pass",
        ),
        (PLAIN | {"sasl.jaas.config": "hidden"}, "unsupported login module: use PlainLoginModule"),
        (
            PLAIN | {"sasl.jaas.config": "x.LdapLoginModule required password=hidden;"},
            "unsupported login module",
        ),
        (
            PLAIN | {"sasl.jaas.config": "x.ScramLoginModule required username=a password=hidden tokenauth=true;"},
            "delegation token",
        ),
        ({"sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;"}, "the mechanism AWS_MSK_IAM"),
        (
            {"sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler"},
            "the mechanism AWS_MSK_IAM",
        ),
        (OAUTH | {"sasl.oauthbearer.token.endpoint.url": "file:///token"}, "names a file"),
        ({"security.protocol": "SASL_PLAINTEXT"}, "GSSAPI.*lack Kerberos: build it"),
        ({"ssl.truststore.certificates": "hidden", "security.protocol": "SSL"}, "neither a certificate nor"),
        ({"acks": "hidden"}, "acks"),
    ],
)
def test_a_login_that_cannot_work_is_refused_without_telling_secrets(properties, message):
    with pytest.raises(PlanError, match=message) as raised:
        check_producer(properties)
    assert "hidden" not in str(raised.value).replace('"hidden" for', "") or "acks" in properties


def test_ways_to_log_in_are_translated():
    def login(mechanism: str, module: str, **more: str) -> dict[str, Any]:
        found = librdkafka({"sasl.mechanism": mechanism, "sasl.jaas.config": f"{LOGIN}.{module};"} | more)
        assert found.pop("sasl.mechanisms") == mechanism
        return found

    shaded = "org.apache.flink.kafka.shaded.org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
    assert librdkafka({"sasl.jaas.config": f"{shaded} username='u' \\\n password='p';"}) == {
        "sasl.username": "u",
        "sasl.password": "p",
    }
    assert login("SCRAM-SHA-512", r'scram.ScramLoginModule required username="a\"b" password="p;w=1"') == {
        "sasl.username": 'a"b',
        "sasl.password": "p;w=1",
    }
    url = {"sasl.oauthbearer.token.endpoint.url": "https://a/b"}
    tokens = 'oauthbearer.OAuthBearerLoginModule required clientId=i clientSecret="s" scope=c extension_pool="x"'
    assert login("OAUTHBEARER", tokens, **url) == url | {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "i",
        "sasl.oauthbearer.client.secret": "s",
        "sasl.oauthbearer.scope": "c",
        "sasl.oauthbearer.extensions": "pool=x",
    }
    kerberos = 'Krb5LoginModule required useKeyTab=true storeKey=true keyTab="/k" principal="a@B"'
    java = {"sasl.kerberos.kinit.cmd": "/usr/bin/kinit", "sasl.kerberos.service.name": "kafka"}
    assert login("GSSAPI", kerberos, **java) == {
        "sasl.kerberos.keytab": "/k",
        "sasl.kerberos.principal": "a@B",
        "sasl.kerberos.service.name": "kafka",
        "sasl.kerberos.kinit.cmd": '/usr/bin/kinit -t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal}',
    }
    assert login("GSSAPI", "Krb5LoginModule required useTicketCache=true") == {
        "sasl.kerberos.min.time.before.relogin": "0"
    }


def test_properties_for_the_other_client_are_left_out():
    both = {"group.id": "g", "acks": "1", "client.id": "c"}
    assert librdkafka(both, Role.CONSUMER) == {"group.id": "g", "client.id": "c"}
    assert librdkafka(both, Role.PRODUCER) == {"acks": "1", "client.id": "c"}


@pytest.mark.parametrize(
    ("properties", "idempotent"),
    [
        ({}, True),
        ({"acks": "-1"}, True),
        ({"acks": "1"}, False),
        ({"retries": "0"}, False),
        ({"max.in.flight.requests.per.connection": "6"}, False),
    ],
)
def test_a_producer_is_idempotent_unless_other_properties_are_against_it(properties, idempotent):
    assert ("enable.idempotence" in librdkafka(properties, Role.PRODUCER)) == idempotent
    producer(properties, print)


@pytest.mark.parametrize("number", ["9" * 5000, "5 s", "1.5", "1_000", "\u0665"], ids=lambda text: text[:5])
@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("buffer.memory", {}),
        ("compression.zstd.level", {}),
        ("max.in.flight.requests.per.connection", {}),
        ("reconnect.backoff.ms", {"reconnect.backoff.max.ms": "9"}),
        ("retry.backoff.max.ms", {}),
    ],
)
def test_what_is_no_number_is_refused_by_name(name, others, number):
    shown = "compression.*.level" if name.startswith("compression") else name
    with pytest.raises(
        PlanError, match=rf"^the Kafka property '{re.escape(shown)}' must be a whole number, got '"
    ) as no:
        librdkafka({name: number, **others}, Role.PRODUCER)
    assert len(str(no.value)) < 300


@pytest.mark.parametrize("name", ["linger.ms", "max.request.size"])
def test_a_number_of_thousands_of_digits_is_refused_by_name(name):
    with pytest.raises(PlanError, match="must be a whole number, got '9999"):
        librdkafka({name: "9" * 5000}, Role.PRODUCER)


def test_properties_are_not_shown(capsys):
    subscription: Any = None
    assert "hidden" not in repr(KafkaInput({"ssl.key.password": "hidden"}, subscription, subscription))
