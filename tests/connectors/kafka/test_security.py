"""Brokers that require TLS, certificates, users or tokens, with the stores and properties of Java programs."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest
from tests.connectors.kafka.broker import NoBrokerError
from tests.connectors.kafka.jobs import NO_WATERMARKS, source
from tests.connectors.kafka.secure_broker import SECRET, USER, SecureBroker
from tests.datastream.inline import make_env as inline_env
from tests.engine.conftest import make_spark_env as on_spark

from flintstream.common.serialization import SimpleStringSchema
from flintstream.connectors.kafka.client import KafkaConnectorError, check_consumer, consumer
from flintstream.connectors.kafka.stores import StoreError, pem_store, read_store
from flintstream.connectors.kafka.tls import tls
from flintstream.datastream.connectors.base import DeliveryGuarantee
from flintstream.datastream.connectors.kafka import KafkaRecordSerializationSchema, KafkaSink
from flintstream.errors import MissingDependencyError

LOGIN = "org.apache.kafka.common.security"
make_spark_env = on_spark


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    try:
        found = SecureBroker(tmp_path_factory.mktemp("secure"))
    except NoBrokerError as error:
        pytest.skip(f"no Kafka broker on this machine: {error}")
    yield found
    found.close()


def token(config: str) -> tuple[str, float]:
    """Return an unsigned token, which the broker accepts."""
    now = int(time.time())

    def part(content: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'sub': config or 'admin', 'iat': now, 'exp': now + 600})}.", now + 600


def trust(broker: SecureBroker, ending: str = "p12") -> dict[str, str]:
    return {
        "ssl.truststore.location": str(broker.stores / f"root.{ending}"),
        "ssl.truststore.password": SECRET,
    }


def keys(broker: SecureBroker, ending: str = "p12") -> dict[str, str]:
    return {
        "ssl.keystore.location": str(broker.stores / f"client.{ending}"),
        "ssl.keystore.password": SECRET,
    }


def user(mechanism: str, module: str) -> dict[str, str]:
    jaas = f'{LOGIN}.{module} required username="{USER}" password="{SECRET}";'
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": jaas}


def oauth(**options: str) -> dict[str, str]:
    given = " ".join(f'{key}="{value}"' for key, value in options.items())
    jaas = f"{LOGIN}.oauthbearer.OAuthBearerLoginModule required {given};"
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": jaas}


def pem(broker: SecureBroker) -> dict[str, str]:
    """Return the texts of the stores, which properties may contain directly."""
    own = read_store(str(broker.stores / "client.jks"), "test", SECRET)
    return {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": (broker.stores / "root.pem").read_text("utf-8"),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": own.key,
        "ssl.keystore.certificate.chain": own.chain,
    }


TLS = {"security.protocol": "SSL"}
SASL_SSL = {"security.protocol": "SASL_SSL"}
PLAIN = user("PLAIN", "plain.PlainLoginModule")

WAYS: dict[str, Any] = {
    "JKS": lambda b: (b.ssl, TLS | trust(b, "jks") | keys(b, "jks") | {"ssl.key.password": SECRET}),
    "PKCS12": lambda b: (b.ssl, TLS | trust(b) | keys(b) | {"ssl.keystore.type": "PKCS12", "ssl.truststore.type": "x"}),
    "PEM": lambda b: (b.ssl, TLS | pem(b)),
    "PLAIN": lambda b: (b.sasl_ssl, SASL_SSL | trust(b, "jks") | PLAIN),
    "SCRAM-SHA-256": lambda b: (
        b.sasl_plaintext,
        {"security.protocol": "SASL_PLAINTEXT"} | user("SCRAM-SHA-256", "scram.ScramLoginModule"),
    ),
    "SCRAM-SHA-512": lambda b: (
        b.sasl_ssl,
        SASL_SSL
        | trust(b)
        | user("SCRAM-SHA-512", "scram.ScramLoginModule")
        | {"ssl.endpoint.identification.algorithm": "", "ssl.enabled.protocols": "TLSv1.2,TLSv1.3"},
    ),
    "token": lambda b: (b.sasl_plaintext, oauth(unsecuredLoginStringClaim_sub="admin")),
    "token of a function": lambda b: (
        b.sasl_plaintext,
        oauth() | {"sasl.login.callback.handler.class": f"{__name__}:token"},
    ),
}


def through(env: Any, read_env: Any, broker: SecureBroker, servers: str, properties: dict[str, str], guarantee: Any):
    """Write records and read them again."""
    topic = broker.topic(partitions=2)
    record = KafkaRecordSerializationSchema.builder().set_topic(topic)
    record.set_value_serialization_schema(SimpleStringSchema())
    sink = KafkaSink.builder().set_bootstrap_servers(servers).set_record_serializer(record.build())
    sink.set_delivery_guarantee(guarantee).set_transactional_id_prefix(f"to-{topic}")
    for key, value in properties.items():
        sink.set_property(key, value)
    env.from_collection(["a", "b", "c"]).sink_to(sink.build())
    env.execute()
    built = source(broker, topic).set_bootstrap_servers(servers).set_properties(properties).set_group_id("g").build()
    with read_env.from_source(built, NO_WATERMARKS, "back").execute_and_collect() as found:
        return sorted(found)


@pytest.mark.parametrize("way", [way if way == "PEM" else pytest.param(way, marks=pytest.mark.deep) for way in WAYS])
def test_records_go_through(secure, way):
    servers, properties = WAYS[way](secure)
    guarantee = DeliveryGuarantee.EXACTLY_ONCE if way == "JKS" else DeliveryGuarantee.AT_LEAST_ONCE
    assert through(inline_env(), inline_env(), secure, servers, properties, guarantee) == ["a", "b", "c"]


@pytest.mark.spark
@pytest.mark.parametrize("way", ["JKS", "PKCS12"])
def test_records_go_through_on_spark(secure, way, make_spark_env):
    servers, properties = WAYS[way](secure)
    found = through(make_spark_env(2), make_spark_env(2), secure, servers, properties, DeliveryGuarantee.AT_LEAST_ONCE)
    assert found == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("servers", "properties", "message"),
    [
        ("ssl", lambda b: TLS | keys(b), "certificate verify failed"),
        ("sasl_ssl", lambda b: SASL_SSL | trust(b) | PLAIN | {"sasl.jaas.config": wrong_password()}, "Authentication"),
    ],
)
def test_a_broker_that_lets_nobody_in_is_an_error_soon_that_says_why(secure, servers, properties, message):
    built = source(secure, secure.topic()).set_bootstrap_servers(getattr(secure, servers))
    stream = inline_env().from_source(built.set_properties(properties(secure)).build(), NO_WATERMARKS, "refused")
    with pytest.raises(KafkaConnectorError, match=f"cannot list the topics: .*{message}") as raised:
        list(stream.execute_and_collect())
    assert SECRET not in str(raised.value)


def wrong_password() -> str:
    return f'{LOGIN}.plain.PlainLoginModule required username="{USER}" password="{SECRET}!";'


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        (lambda b: trust(b) | {"ssl.truststore.password": "wrong"}, "the password is wrong or missing"),
        (
            lambda b: trust(b, "jks") | {"ssl.truststore.password": "wrong"},
            "password is wrong, or the file is damaged",
        ),
        (lambda b: keys(b, "jks") | {"ssl.key.password": "wrong"}, "the password of its private key is wrong"),
        (lambda b: {"ssl.keystore.location": str(b.stores / "client.jks")}, "private key needs a password"),
        (lambda b: {"ssl.keystore.location": str(b.stores / "root.jks")}, "no private key with a certificate"),
        (
            lambda _: {"ssl.truststore.location": "/there/is/none.jks"},
            r"'/there/is/none.jks' .*truststore.location'\) on",
        ),
        (lambda _: {"ssl.truststore.location": __file__}, "not a JKS, PKCS12 or PEM store"),
        (lambda b: {"ssl.truststore.location": str(damaged(b))}, "the file is damaged"),
    ],
)
def test_a_store_that_cannot_be_read_is_an_error_that_names_it_and_no_password(secure, properties, message):
    given = properties(secure)
    check_consumer(TLS | given)  # the file need not exist where the program is built
    with pytest.raises(StoreError, match=message) as raised:
        consumer(TLS | given)
    assert "wrong" not in str(raised.value).replace("is wrong", "")
    assert SECRET not in str(raised.value)


def damaged(broker: SecureBroker) -> Any:
    path = broker.stores / "damaged.jks"
    path.write_bytes((broker.stores / "root.jks").read_bytes()[:100])
    return path


def test_a_store_of_keys_is_one_of_certificates_too(secure):
    for ending in ("jks", "p12"):
        properties = {f"ssl.truststore.{key.rpartition('.')[2]}": value for key, value in keys(secure, ending).items()}
        assert tls(properties)["ssl.ca.pem"].count("BEGIN CERTIFICATE") >= 1


def test_all_kinds_of_stores_have_the_same(secure):
    jks, p12 = (read_store(str(secure.stores / f"client.{ending}"), "test", SECRET) for ending in ("jks", "p12"))
    assert sorted(jks.chain.split("-----BEGIN")) == sorted(p12.chain.split("-----BEGIN"))
    assert jks.chain.count("BEGIN CERTIFICATE") == 3
    assert tls(pem(secure))["ssl.ca.pem"].count("BEGIN CERTIFICATE") == 1
    both = pem_store(jks.key + jks.chain, SECRET)
    assert (both.key, both.chain, both.key_password) == (jks.key, jks.chain, SECRET)


def test_a_missing_package_is_named(secure, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cryptography", None)
    with pytest.raises(MissingDependencyError, match="cryptography"):
        tls(trust(secure))
