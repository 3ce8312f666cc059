"""The systems that the same programs write and read: each starts a server of its own, and tells what it holds."""

from __future__ import annotations

import importlib
import uuid
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class System(ABC):
    """A server with an empty target of its own."""

    once: ClassVar[bool] = False
    """Whether a number is there once, with its last count: the target has keys, or commits."""
    restarts: ClassVar[bool] = False
    """Whether the job fails, and restarts, if the server is away for longer than some attempts take."""
    package: ClassVar[str]
    """The client's package, without which a test is skipped."""
    port: int

    def __init__(self, directory: Path) -> None:
        pytest.importorskip(self.package, reason=f"{self.package} is not installed: make setup")
        directory.mkdir(parents=True, exist_ok=True)
        self.start(directory)
        self.renew()

    @abstractmethod
    def start(self, directory: Path) -> None:
        """Start the server."""

    @abstractmethod
    def renew(self) -> None:
        """Create an empty target and an empty input."""

    @abstractmethod
    def settings(self, port: int) -> dict[str, Any]:
        """Return what programs need, if the server is reached at a port."""

    @abstractmethod
    def texts(self) -> Iterable[str]:
        """Return what has been written: a number and its count each."""

    def fill(self, texts: list[str]) -> None:
        """Write the input of a source."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop the server."""
        self.server.close()

    server: Any


def new_name() -> str:
    """Return a name that no other target has."""
    return f"n{uuid.uuid4().hex[:12]}"


def started(module: str, directory: Path, start: str = "Server") -> Any:
    """Start a server of a test module, or skip the test and say why."""
    servers = importlib.import_module(f"tests.connectors.{module}")
    make = servers.Server
    try:
        return (make.somewhere if start == "somewhere" else make)(directory)
    except servers.NoServerError as error:
        pytest.skip(f"no server on this machine: {error}")


class RabbitMQ(System):
    """A queue."""

    package = "pika"

    def start(self, directory: Path) -> None:
        self.server = started("rabbitmq.server", directory, "somewhere")
        self.port = self.server.port

    def renew(self) -> None:
        self.out, self.input = new_name(), new_name()

    def settings(self, port: int) -> dict[str, Any]:
        return {"port": port, "in": self.input, "out": self.out}

    def texts(self) -> Iterable[str]:
        found: list[str] = self.server.drain(self.out)
        return found

    def fill(self, texts: list[str]) -> None:
        self.server.send(self.input, texts)


class Moto(System):
    """Services of AWS."""

    package = "moto.server"

    def start(self, directory: Path) -> None:
        pytest.importorskip("boto3", reason="boto3 is not installed: make setup")
        from tests.connectors.aws.conftest import Kinesis
        from tests.s3 import S3Server

        del directory
        self.server = S3Server()
        self.port = int(self.server.endpoint.rsplit(":", 1)[1])
        self.client = Kinesis(self.server.endpoint)

    def properties(self, port: int) -> dict[str, str]:
        return {**self.client.properties, "aws.endpoint": f"http://127.0.0.1:{port}"}


class KinesisStream(Moto):
    """Two streams of two shards each."""

    def renew(self) -> None:
        self.out, self.input = new_name(), new_name()
        self.client.create(self.out, 2)
        self.client.create(self.input, 2)

    def settings(self, port: int) -> dict[str, Any]:
        return {
            "properties": self.properties(port),
            "in": self.input,
            "out": self.out,
            "endpoint": self.client.endpoint,
        }

    def texts(self) -> Iterable[str]:
        return [record["Data"].decode() for record in self.client.records(self.out)]

    def fill(self, texts: list[str]) -> None:
        self.client.send(self.input, texts)


class Queue(Moto):
    """A queue of SQS."""

    def renew(self) -> None:
        self.sqs = self.client.session.client("sqs", endpoint_url=self.client.endpoint)
        self.url = self.sqs.create_queue(QueueName=new_name())["QueueUrl"]

    def settings(self, port: int) -> dict[str, Any]:
        return {"properties": self.properties(port), "url": self.url, "endpoint": self.client.endpoint}

    def texts(self) -> Iterable[str]:
        from tests.connectors.aws.test_sinks import messages

        found: list[str] = messages(self.sqs, self.url)
        return found


class DeliveryStream(Moto):
    """A stream of Firehose into a bucket."""

    def renew(self) -> None:
        self.out = new_name()
        self.s3 = self.client.session.client("s3", endpoint_url=self.client.endpoint)
        self.s3.create_bucket(Bucket=self.out)
        target = {"RoleARN": "arn:aws:iam::123456789012:role/any", "BucketARN": f"arn:aws:s3:::{self.out}"}
        firehose = self.client.session.client("firehose", endpoint_url=self.client.endpoint)
        firehose.create_delivery_stream(DeliveryStreamName=self.out, ExtendedS3DestinationConfiguration=target)

    def settings(self, port: int) -> dict[str, Any]:
        return {"properties": self.properties(port), "out": self.out, "endpoint": self.client.endpoint}

    def texts(self) -> Iterable[str]:
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.out)
        for key in [item["Key"] for page in pages for item in page.get("Contents", ())]:
            yield from self.s3.get_object(Bucket=self.out, Key=key)["Body"].read().decode().splitlines()


class DynamoDB(Moto):
    """A table with a key."""

    once = True

    def renew(self) -> None:
        self.table = new_name()
        self.dynamodb = self.client.session.client("dynamodb", endpoint_url=self.client.endpoint)
        self.dynamodb.create_table(
            TableName=self.table,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "N"}],
            BillingMode="PAY_PER_REQUEST",
        )

    def settings(self, port: int) -> dict[str, Any]:
        return {"properties": self.properties(port), "table": self.table, "endpoint": self.client.endpoint}

    def texts(self) -> Iterable[str]:
        for page in self.dynamodb.get_paginator("scan").paginate(TableName=self.table):
            yield from (f"{item['id']['N']} {item['seen']['S']}" for item in page["Items"])


class Pulsar(System):
    """Two topics of two partitions each. The broker tells clients its own port, so a proxy has no effect."""

    package = "pulsar"

    def start(self, directory: Path) -> None:
        self.server = started("pulsar.server", directory)
        self.port = self.server.port

    def renew(self) -> None:
        self.out, self.input = self.server.topic(2), self.server.topic(2)

    def settings(self, port: int) -> dict[str, Any]:
        del port
        return {"url": self.server.url, "admin": self.server.admin, "in": self.input, "out": self.out}

    def texts(self) -> Iterable[str]:
        found: list[str] = self.server.texts(self.out)
        return found

    def fill(self, texts: list[str]) -> None:
        self.server.send(self.input, texts)


class Cassandra(System):
    """A table with a row for each number and count: it shows a number that was written with another count."""

    package = "cassandra"
    log = False
    columns = "id int PRIMARY KEY, value text"
    once = True

    def start(self, directory: Path) -> None:
        self.server = started("cassandra.server", directory)
        self.port = self.server.port

    def renew(self) -> None:
        self.keyspace = self.server.keyspace(f"t ({self.columns})")

    def settings(self, port: int) -> dict[str, Any]:
        return {"port": port, "keyspace": self.keyspace, "log": self.log}

    def texts(self) -> Iterable[str]:
        return [f"{number} {seen}" for number, seen in self.server.rows(f"SELECT id, value FROM {self.keyspace}.t")]  # noqa: S608 - a table of ours


class CassandraLog(Cassandra):
    """With the write-ahead log, no row is written that no checkpoint has."""

    log = True
    columns = "id int, value text, PRIMARY KEY (id, value)"


class PostgreSQL(System):
    """A table with a key."""

    package = "psycopg"
    restarts = True
    once = True

    def start(self, directory: Path) -> None:
        del directory
        from tests.connectors.jdbc.servers import NoServerError, Postgresql

        try:
            self.server = Postgresql()
        except NoServerError as error:
            pytest.skip(f"no PostgreSQL on this machine: {error}")
        self.port = self.server.port

    def renew(self) -> None:
        self.table = self.server.table("id int PRIMARY KEY, value varchar(30)")

    def settings(self, port: int) -> dict[str, Any]:
        from tests.connectors.jdbc.servers import PASSWORD

        return {"url": f"jdbc:postgresql://127.0.0.1:{port}/shop", "password": PASSWORD, "table": self.table}

    def texts(self) -> Iterable[str]:
        rows = self.server.execute(f"SELECT id, value FROM {self.table}")  # noqa: S608 - a table of ours
        return [f"{number} {seen}" for number, seen in rows]


class MongoDB(System):
    """Two collections."""

    package = "pymongo"
    once = True

    def start(self, directory: Path) -> None:
        self.server = started("mongodb.server", directory)
        self.port = self.server.port

    def renew(self) -> None:
        self.out, self.input = self.server.database(), self.server.database()

    def settings(self, port: int) -> dict[str, Any]:
        return {"uri": f"mongodb://127.0.0.1:{port}/", "in": self.input, "out": self.out}

    def texts(self) -> Iterable[str]:
        return [f"{document['_id']} {document['seen']}" for document in self.server.documents(self.out)]

    def fill(self, texts: list[str]) -> None:
        self.server.insert(self.input, [{"_id": int(text.split()[0]), "text": text} for text in texts])


class Elasticsearch(System):
    """A stand-in for the bulk API."""

    package = "urllib3"
    once = True

    def start(self, directory: Path) -> None:
        from tests.connectors.test_elasticsearch import Fake

        del directory
        self.server = Fake()
        self.port = int(self.server.host.rsplit(":", 1)[1])

    def renew(self) -> None:
        self.server.documents.clear()

    def settings(self, port: int) -> dict[str, Any]:
        return {"host": f"127.0.0.1:{port}"}

    def texts(self) -> Iterable[str]:
        newest = {target["_id"]: content["seen"] for target, content in self.server.documents}
        return [f"{number} {seen}" for number, seen in newest.items()]


SYSTEMS: dict[str, type[System]] = {
    "rabbitmq": RabbitMQ,
    "kinesis": KinesisStream,
    "sqs": Queue,
    "firehose": DeliveryStream,
    "dynamodb": DynamoDB,
    "pulsar": Pulsar,
    "cassandra": Cassandra,
    "cassandra-log": CassandraLog,
    "postgresql": PostgreSQL,
    "mongodb": MongoDB,
    "elasticsearch": Elasticsearch,
}
