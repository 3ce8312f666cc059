"""Text forms: durations, sizes, paths and URIs, configuration values, Kafka's properties, key stores, SQL."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutate import mutated
from tests.fuzz.target import ACCEPTED, EQUAL, Target, Violation

from flintstream.common import Configuration
from flintstream.connectors.jdbc.jdbc_url import JdbcUrl
from flintstream.connectors.jdbc.mysql import MysqlDatabase
from flintstream.connectors.jdbc.postgresql import PostgresqlDatabase
from flintstream.connectors.jdbc.sqlite import SqliteDatabase
from flintstream.connectors.jdbc.statement import Grammar, Statement
from flintstream.connectors.kafka.properties import Role, librdkafka
from flintstream.connectors.kafka.stores import JKS, read_store
from flintstream.options.table import OPTIONS
from flintstream.options.units import duration_text, parse_bytes, parse_nanos, size_text
from flintstream.storage.location import Location

if TYPE_CHECKING:
    from random import Random


class _Texts(Target):
    """A text."""

    share = 2
    texts: tuple[str, ...]

    def valid(self) -> list[bytes]:
        return [text.encode() for text in self.texts]

    def check(self, data: bytes) -> str:
        self.parse(data.decode("utf-8", "surrogateescape"))
        return EQUAL if data in self.corpus else ACCEPTED

    def parse(self, text: str) -> None:
        raise NotImplementedError


class _Values(_Texts):
    """Values of settings, for which the API promises a ValueError that says what is wrong, as PyFlink does."""

    def is_refusal(self, error: BaseException) -> bool:
        return type(error) is ValueError and "digits" not in str(error) and "literal" not in str(error)


class Durations(_Values):
    """A duration is written as a text that means the same."""

    name = "durations"
    share = 6
    texts = ("10 s", "5min", "250", "PT1M30.5S", "P1DT2H", "1 d", "17 µs", "-PT5S", "0")

    def parse(self, text: str) -> None:
        nanos = parse_nanos(text)
        if nanos >= 0 and parse_nanos(duration_text(nanos)) != nanos:
            raise Violation(f"{nanos} ns is written as {duration_text(nanos)}")


class Sizes(_Values):
    """A size is written as a text that means the same."""

    name = "sizes"
    share = 6
    texts = ("64 mb", "1g", "4096", "20 kibibytes", "5 bytes", "0")

    def parse(self, text: str) -> None:
        size = parse_bytes(text)
        if parse_bytes(size_text(size)) != size:
            raise Violation(f"{size} is written as {size_text(size)}")


class Locations(_Texts):
    """A location is written as a text that means the same, and is the same in another directory."""

    name = "locations"
    share = 8
    texts = (
        *(
            "/data/in",
            "data/in",
            "file:///data//in/",
            "file:/x",
            "s3://bucket/in/../out",
            "hdfs://name:8020/x/",
            "S3://B",
        ),
        *(
            "https://host/a?b=../c",
            "zip://x.csv::/data/a.zip",
            "memory://tests/a",
            "C:/x",
            "a b ",
            "file://localhost/x",
        ),
    )

    def parse(self, text: str) -> None:
        location = Location.parse(text)
        if Location.parse(str(location)) != location:
            raise Violation(
                f"{text!r} is {location!r}, but its text {str(location)!r} is {Location.parse(str(location))!r}"
            )
        if location.is_local and (".." in location.path.split("/") or not location.path.startswith("/")):
            raise Violation(f"{text!r} leads to {location.path!r}")


class Options(_Texts):
    """The value of any option is refused in words, or written as a text that means the same."""

    name = "options"
    share = 8
    texts = ()

    def valid(self) -> list[bytes]:
        return [f"{option.key}={option.default_text() or 'x'}".encode() for option in OPTIONS if option.default_text()]

    def mutated(self, random: Random) -> bytes:
        key, _, value = random.choice(self.corpus).partition(b"=")
        values = [item.partition(b"=")[2] for item in self.corpus]
        return key + b"=" + mutated(random, random.choice((value, *values[:1])), values)

    def parse(self, text: str) -> None:
        key, _, value = text.partition("=")
        option = next(item for item in OPTIONS if item.key == key)
        read = Configuration().set_string(key, value).get(option)
        again = Configuration().set_string(key, option.type.write(read)).get(option)
        if again != read and not (isinstance(read, float) and math.isnan(read)):
            raise Violation(f"{key}: {value!r} is {read!r}, but its text is {again!r}")

    def is_refusal(self, error: BaseException) -> bool:
        return type(error) is ValueError and " must be " in str(error)


class Configurations(_Values):
    """A value that a program reads as another type."""

    name = "configuration"
    share = 6
    texts = ("5", "true", "1.5", "10 s", "a;b", "[a, 'b']", "-1")

    def parse(self, text: str) -> None:
        configuration = Configuration().set_string("key", text)
        configuration.parse_list_value(text)
        if not isinstance(str(configuration), str) or configuration.to_dict() != {"key": text}:
            raise Violation("the text is changed")
        found: dict[str, Any] = {}
        for name, default in (("integer", 0), ("boolean", False), ("float", 0.0), ("duration", None), ("string", "")):
            try:
                found[name] = getattr(configuration, f"get_{name}")("key", default)
            except ValueError as error:
                if "does not have the type" not in str(error):
                    raise Violation(f"the error names neither key nor value: {error}") from error
        if "integer" in found and not re.fullmatch(r"[+-]?\d+", text):
            raise Violation(f"{text!r} is read as {found['integer']}")

    def is_refusal(self, error: BaseException) -> bool:
        return False


JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="a\\"b";'


class KafkaProperties(Target):
    """Properties of Java's clients, with JAAS configurations: translated, or refused by name."""

    name = "kafka-properties"
    share = 8

    def valid(self) -> list[bytes]:
        scram = JAAS.replace("plain.PlainLoginModule", "scram.ScramLoginModule")
        tokens = 'x.OAuthBearerLoginModule required clientId="a" clientSecret="b" extension_c="d";'
        properties = [
            {"bootstrap.servers": "PLAINTEXT://a:1, b:2", "group.id": "g", "fetch.max.wait.ms": "5", "retries": "3"},
            {"sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS, "security.protocol": "SASL_SSL"},
            {"sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": scram, "buffer.memory": "33554432"},
            {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": tokens, "compression.zstd.level": "3"},
            {"acks": "all", "max.in.flight.requests.per.connection": "5", "reconnect.backoff.ms": "50"},
            {
                "ssl.truststore.location": "/nowhere/x.jks",
                "ssl.truststore.password": "p",
                "ssl.endpoint.identification.algorithm": "",
            },
        ]
        return [json.dumps(item).encode() for item in properties]

    def mutated(self, random: Random) -> bytes:
        tree = json.loads(random.choice(self.corpus))
        other = json.loads(random.choice(self.corpus))
        tree.update(random.sample(sorted(other.items()), random.randint(0, len(other))))
        key = random.choice(sorted(tree))
        values = [str(value).encode() for value in tree.values()]
        tree[key] = mutated(random, tree[key].encode(), values).decode("utf-8", "replace")
        if random.random() < 0.1:
            tree[mutated(random, key.encode(), values).decode("utf-8", "replace")] = tree.pop(key)
        return json.dumps(tree).encode()

    def check(self, data: bytes) -> str:
        for role in Role:
            found = librdkafka(json.loads(data), role, reads_files=False)
            if not all(isinstance(key, str) for key in found):
                raise Violation(f"keys that are no texts: {found}")
        return EQUAL if data in self.corpus else ACCEPTED


class KeyStores(Target):
    """Key stores of Java's clients: JKS, PKCS12 and PEM."""

    name = "key-stores"
    share = 4

    def valid(self) -> list[bytes]:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import pkcs12

        key = ec.derive_private_key(17, ec.SECP256R1())
        form, none = serialization.PrivateFormat, serialization.NoEncryption()
        pem = key.private_bytes(serialization.Encoding.PEM, form.PKCS8, none)
        store = JKS + b"\0\0\0\2\0\0\0\1\0\0\0\2\0\1a" + b"\0" * 8 + b"\0\5X.509\0\0\0\3abc" + b"\0" * 20
        p12 = base64.b64encode(pkcs12.serialize_key_and_certificates(b"k", key, None, None, none))
        return [pem + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", store, base64.b64decode(p12)]

    def check(self, data: bytes) -> str:
        path = self.file(data)
        read_store(path, "ssl.keystore.location", None)
        return EQUAL if data in self.corpus else ACCEPTED


class JdbcUrls(_Texts):
    """JDBC URLs: the errors and texts never contain the password."""

    name = "jdbc-urls"
    share = 6
    texts = (
        "jdbc:postgresql://db:5432/shop?user=me&password=HUSH&ssl=true&currentSchema=a b",
        "jdbc:postgresql://[::1]:5432,other/shop?connectTimeout=5&options=-c x=y",
        "jdbc:mysql://me:HUSH@db:3306/shop?useSSL=false&connectionTimeZone=UTC",
        "jdbc:sqlite:/nowhere/x.db?journal_mode=WAL&transaction_mode=IMMEDIATE",
    )

    def parse(self, text: str) -> None:
        JdbcUrl.parse(text)
        for kind in (PostgresqlDatabase, MysqlDatabase, SqliteDatabase):
            if text.startswith(kind.prefixes):
                kind(text)


class Sql(_Texts):
    """Statements: what is rendered for a driver is the statement, apart from the placeholders."""

    name = "sql"
    share = 6
    texts = (
        "INSERT INTO t (\"a\"\"?\", `b?`, [c?]) VALUES (?, 'it''s ?', ?) -- really?",
        "UPDATE t /* ? */ SET a = ? WHERE b = E'\\'?' AND c ?? ?",
        "SELECT $tag$ ? $tag$, 5 % 2, '%s' # ?\n, ?",
    )

    def parse(self, text: str) -> None:
        for grammar in Grammar:
            try:
                statement = Statement(text, grammar)
            except ValueError as error:
                if not self.is_refusal(error):
                    raise
                continue
            doubled = 2 if grammar is Grammar.POSTGRESQL else 1
            rendered = statement.render("qmark")
            if doubled == 1 and rendered != text:
                raise Violation(f"{grammar}: {text!r} is rendered as {rendered!r}")
            if statement.render("format").count("%s") < statement.arity:
                raise Violation("a placeholder is lost")


TARGETS: tuple[type[Target], ...] = (
    *(Durations, Sizes, Locations, Options, Configurations, KafkaProperties, KeyStores, JdbcUrls, Sql),
)
