"""Reader for the keystores and truststores of Java programs: JKS, JCEKS, PKCS12 and PEM.

As in Java, the content of a store decides its type, not the type that the properties name.
"""

from __future__ import annotations

import base64
import hashlib
import re
import socket
import struct
import textwrap
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.errors import PlanError, optional_module

if TYPE_CHECKING:
    from collections.abc import Iterator

JKS = b"\xfe\xed\xfe\xed"
JCEKS = b"\xce\xce\xce\xce"
PKCS12 = b"\x30"
"""First byte of any ASN.1 file."""

PRIVATE_KEY, CERTIFICATE = 1, 2
"""Entry kinds in JKS and JCEKS."""

HASH_BYTES = 20
WHITENER = b"Mighty Aphrodite"
"""JKS hashes it together with the content, to detect changes."""
JKS_KEY = bytes.fromhex("2b060104012a02110101")
"""The object identifier of the key cipher in JKS: 1.3.6.1.4.1.42.2.17.1.1."""

END_OF_CERTIFICATE = "-----END CERTIFICATE-----\n"

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


class StoreError(PlanError):
    """A keystore or truststore cannot be read. Names file and property, but never a password."""


class Store(NamedTuple):
    """The contents of a store, as PEM."""

    certificates: str = ""
    """The trusted certificates."""
    key: str = ""
    chain: str = ""
    """The certificate of the key, followed by its issuers."""
    key_password: str = ""
    """Password of ``key``; empty if the key is not encrypted."""

    def own_certificate(self) -> str:
        """Return the certificate of the key."""
        first, end, _ = self.chain.partition(END_OF_CERTIFICATE)
        return first + end


def read_store(location: str, what: str, password: str | None, key_password: str | None = None) -> Store:
    """Read a store from a file; ``what`` is the property that names it.

    Raises:
        StoreError: The file is missing or not a store, or the password is wrong.
        MissingDependencyError: It is a PKCS12 store, and cryptography is not installed.
    """
    where = f"'{location}' (Kafka property '{what}') on {socket.gethostname()}"
    try:
        data = Path(location).read_bytes()
    except OSError as error:
        raise StoreError(f"cannot read {where}: {error.strerror}") from None
    try:
        if data.startswith((JKS, JCEKS)):
            return _java_store(data, password, key_password or password)
        if data.startswith(PKCS12):
            return _pkcs12_store(data, password)
        if b"-----BEGIN " in data:
            return pem_store(data.decode(errors="replace"), key_password or password)
    except StoreError as error:
        raise StoreError(f"cannot read {where}: {error}") from None
    except IndexError:
        raise StoreError(f"cannot read {where}: the file is damaged") from None
    raise StoreError(f"cannot read {where}: it is not a JKS, PKCS12 or PEM store")


def pem_store(text: str, key_password: str | None) -> Store:
    """Return the contents of a PEM text."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for match in _PEM.finditer(text):
        found[match[1].endswith("PRIVATE KEY")].append(match[0] + "\n")
    if not found[True] and not found[False]:
        raise StoreError("it contains neither a certificate nor a private key in PEM format")
    certificates = "".join(found[False])
    return Store(certificates, "".join(found[True][:1]), certificates, key_password or "")


def _pem(data: bytes, label: str) -> str:
    lines = "\n".join(textwrap.wrap(base64.b64encode(data).decode(), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def _pkcs12_store(data: bytes, password: str | None) -> Store:
    package = "cryptography"
    optional_module(package, package=package, extra="kafka", purpose="reading PKCS12 stores")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        found = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise StoreError("the password is wrong or missing, or the file is not a PKCS12 store") from None
    encoding = serialization.Encoding.PEM
    others = [additional_cert.certificate for additional_cert in found.additional_certs]
    chain: list[Any] = []
    issuer = found.cert.certificate if found.cert is not None else None
    while issuer is not None and issuer not in chain:
        chain.append(issuer)
        issuer = next((other for other in others if other.subject == chain[-1].issuer), None)

    def texts(certificates: list[Any]) -> str:
        return "".join(certificate.public_bytes(encoding).decode() for certificate in certificates)

    trusted = texts([other for other in others if other not in chain])
    if found.key is None:
        return Store(trusted)
    form, cipher = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return Store(trusted, found.key.private_bytes(encoding, form, cipher).decode(), texts(chain))


def _java_store(data: bytes, password: str | None, key_password: str | None) -> Store:
    if password and data.startswith(JKS):
        content, digest = data[:-HASH_BYTES], data[-HASH_BYTES:]
        if hashlib.sha1(password.encode("utf-16-be") + WHITENER + content, usedforsecurity=False).digest() != digest:
            raise StoreError("the password is wrong, or the file is damaged")
    trusted, key, chain = [], "", ""
    for kind, protected, certificates in _entries(BytesIO(data)):
        texts = [_pem(certificate, "CERTIFICATE") for certificate in certificates]
        if kind == CERTIFICATE:
            trusted += texts
        elif not key:
            key = _pem(_jks_key(protected, key_password), "PRIVATE KEY")
            chain = "".join(texts)
    return Store("".join(trusted), key, chain)


def _entries(source: Any) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Yield kind, protected key and certificates of each entry."""

    def take(size: int) -> bytes:
        taken = bytes(source.read(size))
        if len(taken) != size:
            raise StoreError("the file is damaged")
        return taken

    def number(form: str) -> int:
        return int(struct.unpack(form, take(struct.calcsize(form)))[0])

    def certificate() -> bytes:
        if version > 1:
            take(number(">H"))  # the type, always X.509
        return take(number(">I"))

    take(4)
    version = number(">I")
    for _ in range(number(">I")):
        kind = number(">I")
        take(number(">H"))  # the alias
        take(8)  # the creation time
        if kind == PRIVATE_KEY:
            protected = take(number(">I"))
            yield kind, protected, [certificate() for _ in range(number(">I"))]
        elif kind == CERTIFICATE:
            yield kind, b"", [certificate()]
        else:
            raise StoreError("it contains an entry that only Java can read: convert it to PKCS12 with keytool")


def _jks_key(protected: bytes, password: str | None) -> bytes:
    """Decrypt a key. Each block of the key stream is the hash of the password and the previous block."""
    algorithm, data = _parts(_parts(protected)[0])
    if JKS_KEY not in algorithm:
        raise StoreError("only Java can decrypt its private key: convert it to PKCS12 with keytool")
    if password is None:
        raise StoreError("its private key needs a password: set 'ssl.keystore.password' or 'ssl.key.password'")
    secret = password.encode("utf-16-be")
    block, encrypted, check = data[:HASH_BYTES], data[HASH_BYTES:-HASH_BYTES], data[-HASH_BYTES:]
    stream = b""
    while len(stream) < len(encrypted):
        block = hashlib.sha1(secret + block, usedforsecurity=False).digest()
        stream += block
    key = bytes(a ^ b for a, b in zip(encrypted, stream, strict=False))
    if hashlib.sha1(secret + key, usedforsecurity=False).digest() != check:
        raise StoreError("the password of its private key is wrong")
    return key


def _parts(data: bytes) -> list[bytes]:
    """Return the contents of consecutive ASN.1 elements."""
    found, place = [], 0
    while place < len(data):
        size, place = data[place + 1], place + 2
        if size & 0x80:
            count = size & 0x7F
            size, place = int.from_bytes(data[place : place + count], "big"), place + count
        found.append(data[place : place + size])
        place += size
    return found
