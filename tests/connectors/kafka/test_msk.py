"""Brokers of Amazon MSK with IAM get tokens that the credentials of AWS have signed."""

from __future__ import annotations

import base64
import pickle
import threading
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from confluent_kafka import Consumer

from flintstream.connectors.aws.client import AwsError
from flintstream.connectors.kafka.msk import MskTokens, msk_tokens
from flintstream.connectors.kafka.properties import librdkafka

pytest.importorskip("boto3", reason="boto3 is not installed")

SERVERLESS = "boot-abc.c2.kafka-serverless.eu-central-1.amazonaws.com:9098"
LOGIN = {
    "bootstrap.servers": SERVERLESS,
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
}
"""What programs have for Java's client."""


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASOMEBODY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")


def test_a_token_is_a_signed_request_to_connect():
    token, until = MskTokens("eu-central-1")("")
    url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    assert (url.scheme, url.netloc, url.path) == ("https", "kafka.eu-central-1.amazonaws.com", "/")
    found = {key: value[0] for key, value in parse_qs(url.query).items()}
    assert found["Action"] == "kafka-cluster:Connect"
    assert found["X-Amz-Credential"].startswith("AKIASOMEBODY/")
    assert found["X-Amz-Credential"].endswith("/eu-central-1/kafka-cluster/aws4_request")
    assert found["X-Amz-Expires"] == "900"
    assert len(found["X-Amz-Signature"]) == 64
    assert list(found)[-1] == "User-Agent"
    assert 800 < until - time.time() <= 900
    assert "very-secret" not in token


def test_the_properties_of_java_become_those_of_librdkafka():
    found = librdkafka(LOGIN)
    assert found == {
        "bootstrap.servers": SERVERLESS,
        "security.protocol": "sasl_ssl",
        "sasl.mechanisms": "OAUTHBEARER",
        "oauth_cb": MskTokens("eu-central-1"),
    }
    assert pickle.loads(pickle.dumps(found["oauth_cb"])) == found["oauth_cb"]


def test_a_client_asks_for_a_token():
    asked = threading.Event()
    tokens = librdkafka(LOGIN)["oauth_cb"]

    def token(config):
        asked.set()
        return tokens(config)

    consumer = Consumer({**librdkafka(LOGIN), "bootstrap.servers": "127.0.0.1:1", "group.id": "g", "oauth_cb": token,
                         "log_level": 0})  # fmt: skip
    until = time.monotonic() + 10
    while not asked.is_set() and time.monotonic() < until:
        consumer.poll(0.1)
    consumer.close()
    assert asked.is_set()


def test_the_region_is_that_of_the_brokers_or_of_the_environment(monkeypatch):
    assert msk_tokens("b-1.a.b.c3.kafka.ap-south-1.amazonaws.com:9098,b-2", {}).region == "ap-south-1"
    assert msk_tokens("broker:9098", {}).region == "us-east-1"
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert msk_tokens("broker:9098", {}).region == "eu-north-1"


def test_options_of_the_login_module_choose_the_credentials():
    module = "software.amazon.msk.auth.iam.IAMLoginModule required"
    role = f'{module} awsRoleArn="arn:aws:iam::1:role/reader" awsRoleSessionName="mine";'
    assert dict(librdkafka({**LOGIN, "sasl.jaas.config": role})["oauth_cb"].properties) == {
        "aws.credentials.provider": "ASSUME_ROLE",
        "aws.credentials.provider.role.arn": "arn:aws:iam::1:role/reader",
        "aws.credentials.provider.role.sessionName": "mine",
    }
    profile = librdkafka({**LOGIN, "sasl.jaas.config": f'{module} awsProfileName="them";'})["oauth_cb"]
    assert profile.properties[1] == ("aws.credentials.provider.profile.name", "them")


def test_missing_credentials_are_an_error(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(AwsError, match="the login to Amazon MSK finds no AWS credentials"):
        MskTokens("eu-central-1")("")
