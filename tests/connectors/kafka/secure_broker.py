"""A broker that accepts TLS and SASL connections, and its key stores, created by Java's keytool."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.connectors.kafka.broker import Broker
from tests.maven import free_port

if TYPE_CHECKING:
    import os

SECRET = "not-to-be-told"  # noqa: S105 - of keys made for a test
USER = "alice"
OAUTH = "OAuthBearerLoginModule"
CLAIM = "unsecuredLoginStringClaim_sub"

CONFIG = """
listeners=PLAINTEXT://127.0.0.1:{{port}},CONTROLLER://127.0.0.1:{{controller}},SSL://127.0.0.1:{ssl},SASL_SSL://127.0.0.1:{sasl},SASL_PLAINTEXT://127.0.0.1:{plain}
advertised.listeners=PLAINTEXT://127.0.0.1:{{port}},SSL://127.0.0.1:{ssl},SASL_SSL://127.0.0.1:{sasl},SASL_PLAINTEXT://127.0.0.1:{plain}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
ssl.keystore.location={stores}/broker.p12
ssl.keystore.password={secret}
ssl.truststore.location={stores}/root.p12
ssl.truststore.password={secret}
listener.name.ssl.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
"""
LISTENER = """
listener.name.{name}.plain.sasl.jaas.config={security}.plain.PlainLoginModule required user_{user}="{secret}";
listener.name.{name}.scram-sha-256.sasl.jaas.config={security}.scram.ScramLoginModule required;
listener.name.{name}.scram-sha-512.sasl.jaas.config={security}.scram.ScramLoginModule required;
listener.name.{name}.oauthbearer.sasl.jaas.config={security}.oauthbearer.{oauth} required {claim}="admin";
"""


class SecureBroker(Broker):
    """``ssl`` requires a client certificate; ``sasl_ssl`` and ``sasl_plaintext`` a user, or a token."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Create the stores and start the broker."""
        self.stores = Path(directory, "stores")
        self.stores.mkdir(parents=True)
        make_stores(self.stores)
        ports = {name: free_port() for name in ("ssl", "sasl", "plain")}
        more = CONFIG.format(stores=self.stores, secret=SECRET, **ports)
        security = "org.apache.kafka.common.security"
        for name in ("sasl_ssl", "sasl_plaintext"):
            more += LISTENER.format(name=name, user=USER, secret=SECRET, security=security, claim=CLAIM, oauth=OAUTH)
        scram = []
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            scram += ["--add-scram", f"{mechanism}=[name={USER},password={SECRET}]"]
        super().__init__(directory, more, *scram)
        self.ssl, self.sasl_ssl, self.sasl_plaintext = (f"127.0.0.1:{port}" for port in ports.values())


def make_stores(directory: Path) -> None:
    """Create a root, an intermediate authority, and keys of broker and client; those of the client in all forms."""

    def keytool(*arguments: str, give: str = "") -> str:
        command = [
            "keytool",
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            *arguments,
            "-storepass",
            SECRET,
            "-noprompt",
        ]
        done = subprocess.run(command, input=give, cwd=directory, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def pair(name: str, *extensions: str) -> None:
        form = ["-genkeypair", "-keyalg", "RSA", "-keysize", "2048", "-storetype", "PKCS12", "-validity", "30"]
        keytool(*form, "-alias", name, "-dname", f"CN={name}", "-keystore", f"{name}.keys", *extensions)

    def sign(name: str, by: str, chain: list[str], *extensions: str) -> None:
        asked = keytool("-certreq", "-alias", name, "-keystore", f"{name}.keys")
        form = ["-gencert", "-alias", by, "-keystore", f"{by}.keys", "-rfc", "-validity", "30", *extensions]
        signed = keytool(*form, give=asked)
        (directory / f"{name}.pem").write_text(signed, "utf-8")
        whole = "".join((directory / f"{item}.pem").read_text("utf-8") for item in [name, *chain])
        keytool("-importcert", "-alias", name, "-keystore", f"{name}.keys", give=whole)

    authority = ("-ext", "bc:c")
    pair("root", *authority)
    (directory / "root.pem").write_text(
        keytool("-exportcert", "-rfc", "-alias", "root", "-keystore", "root.keys"), "utf-8"
    )
    for kind, ending in (("PKCS12", "p12"), ("JKS", "jks")):
        form = ["-importcert", "-storetype", kind, "-file", "root.pem"]
        keytool(*form, "-alias", "root", "-keystore", f"root.{ending}")
    pair("between", *authority)
    sign("between", "root", ["root"], *authority)
    pair("broker")
    sign("broker", "root", ["root"], "-ext", "san=ip:127.0.0.1")
    pair("client")
    sign("client", "between", ["between", "root"])
    for name, kind, ending in (("broker", "PKCS12", "p12"), ("client", "PKCS12", "p12"), ("client", "JKS", "jks")):
        form = ["-importkeystore", "-srckeystore", f"{name}.keys", "-srcstorepass", SECRET]
        keytool(*form, "-destkeystore", f"{name}.{ending}", "-deststoretype", kind, "-deststorepass", SECRET)
