"""Translation of the TLS settings of Kafka's Java clients to those of librdkafka."""

from __future__ import annotations

import ssl
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from flintstream.connectors.kafka.stores import StoreError, pem_store, read_store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.connectors.kafka.stores import Store

ENGINE = "ssl.engine.factory.class"
TRUST = "ssl.truststore"
KEYS = "ssl.keystore"

ALWAYS_ON = ("TLS_AES_", "TLS_CHACHA20_")
"""Prefixes of TLS 1.3 suites. librdkafka always enables all of them, and lists only those of TLS 1.2."""


def tls(properties: Mapping[str, str], *, reads_files: bool = True) -> dict[str, str]:
    r"""Return the librdkafka properties for TLS. Reads store files here, in the process that connects.

    >>> tls({"ssl.truststore.certificates": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"})
    {'ssl.ca.pem': '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'}

    Raises:
        StoreError: A store cannot be read.
    """
    found = {}
    trusted = _store(properties, TRUST, ("certificates",), reads_files=reads_files)
    if trusted is not None:
        certificates, own_certificate = trusted.certificates, trusted.own_certificate()
        if own_certificate not in certificates:
            certificates += own_certificate  # like Java, trust the key's own certificate
        if not certificates:
            raise StoreError(f"the truststore that '{TRUST}.*' names contains no certificate")
        found["ssl.ca.pem"] = certificates
    own = _store(properties, KEYS, ("key", "certificate.chain"), reads_files=reads_files)
    if own is not None:
        if not own.key or not own.chain:
            raise StoreError(f"the keystore that '{KEYS}.*' names contains no private key with a certificate")
        found |= {"ssl.key.pem": own.key, "ssl.certificate.pem": own.chain}
        if own.key_password:
            found["ssl.key.password"] = own.key_password
    elif "ssl.key.password" in properties and reads_files:
        found["ssl.key.password"] = properties["ssl.key.password"]
    if "ssl.endpoint.identification.algorithm" in properties:
        found["ssl.endpoint.identification.algorithm"] = (
            properties["ssl.endpoint.identification.algorithm"].strip().lower() or "none"
        )
    suites = [part.strip() for part in properties.get("ssl.cipher.suites", "").replace(":", ",").split(",")]
    named = [suite for suite in suites if suite and not suite.startswith(ALWAYS_ON)]
    if named:
        found["ssl.cipher.suites"] = ":".join(named)
    return found


def tls_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    r"""Return what Python's clients need for TLS, from the settings of Java's.

    Without a truststore, it trusts what the system trusts.

    >>> tls_context({}).verify_mode.name
    'CERT_REQUIRED'

    Raises:
        StoreError: A store cannot be read.
    """
    found = tls(properties)
    context = ssl.create_default_context(cadata=found.get("ssl.ca.pem"))
    if "ssl.key.pem" in found:
        with NamedTemporaryFile("w", suffix=".pem") as file:  # for this user alone; ssl reads keys from files only
            file.write(found["ssl.key.pem"] + found["ssl.certificate.pem"])
            file.flush()
            context.load_cert_chain(file.name, password=found.get("ssl.key.password"))
    if found.get("ssl.endpoint.identification.algorithm") == "none":
        context.check_hostname = False
    return context


def _store(properties: Mapping[str, str], which: str, inline: tuple[str, ...], *, reads_files: bool) -> Store | None:
    """Return a store from a file or from the properties themselves; None if neither is set."""
    texts = [properties[f"{which}.{part}"] for part in inline if properties.get(f"{which}.{part}")]
    if texts:
        try:
            return pem_store("\n".join(texts), properties.get("ssl.key.password"))
        except StoreError as error:
            raise StoreError(f"the Kafka property '{which}.{inline[0]}': {error}") from None
    location = properties.get(f"{which}.location")
    if not location or not reads_files:
        return None
    key_password = properties.get("ssl.key.password") if which == KEYS else None
    return read_store(location, f"{which}.location", properties.get(f"{which}.password"), key_password)
