"""Reads the stores of keys and certificates that Java programs use: JKS, JCEKS, PKCS12 and PEM.

A store is recognised by its content, as Java recognises it, whatever type the properties name.
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
"""Any file of ASN.1 begins so."""

PRIVATE_KEY, CERTIFICATE = 1, 2
"""Kinds of entries in JKS and JCEKS."""

HASH_BYTES = 20
WHITENER = b"Mighty Aphrodite"
"""JKS hashes it together with the content, so that a change is noticed."""
JKS_KEY = bytes.fromhex("2b060104012a02110101")
"""The identifier of the cipher of keys in JKS: 1.3.6.1.4.1.42.2.17.1.1."""

END_OF_CERTIFICATE = "-----END CERTIFICATE-----\n"

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


class StoreError(PlanError):
    """A store of keys or certificates cannot be read; names file and property, and never a password."""


class Store(NamedTuple):
    """What is in a store, as PEM."""

    certificates: str = ""
    """Those that are trusted."""
    key: str = ""
    chain: str = ""
    """The certificate of the key, and those that vouch for it."""
    key_password: str = ""
    """Needed to read ``key``; empty if it is not encrypted."""

    def own_certificate(self) -> str:
        """Return the certificate of the key."""
        first, end, _ = self.chain.partition(END_OF_CERTIFICATE)
        return first + end


def read_store(location: str, what: str, password: str | None, key_password: str | None = None) -> Store:
    """Read a file; ``what`` is the property that names it.

    Raises:
        StoreError: The file is not there, is no store, or the password is wrong.
        MissingDependencyError: It is a PKCS12 store, and the package cryptography is not installed.
    """
    where = f"'{location}', which the Kafka property '{what}' names, on {socket.gethostname()}"
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
        raise StoreError(f"cannot read {where}: it is damaged") from None
    raise StoreError(f"cannot read {where}: it is no store of the types JKS, PKCS12 or PEM")


def pem_store(text: str, key_password: str | None) -> Store:
    """Return what a PEM text has."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for match in _PEM.finditer(text):
        found[match[1].endswith("PRIVATE KEY")].append(match[0] + "\n")
    if not found[True] and not found[False]:
        raise StoreError("there is neither a certificate nor a private key in it, in the form of PEM")
    certificates = "".join(found[False])
    return Store(certificates, "".join(found[True][:1]), certificates, key_password or "")


def _pem(data: bytes, label: str) -> str:
    lines = "\n".join(textwrap.wrap(base64.b64encode(data).decode(), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def _pkcs12_store(data: bytes, password: str | None) -> Store:
    package = "cryptography"
    optional_module(package, package=package, extra="kafka", purpose="reading PKCS12 stores")
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - only who has such a store needs it
    from cryptography.hazmat.primitives.serialization import pkcs12  # noqa: PLC0415 - as above

    try:
        found = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise StoreError("the password is wrong or missing, or it is no PKCS12 store") from None
    encoding = serialization.Encoding.PEM
    others = [each.certificate for each in found.additional_certs]
    chain: list[Any] = []
    issuer = found.cert.certificate if found.cert is not None else None
    while issuer is not None and issuer not in chain:
        chain.append(issuer)
        issuer = next((each for each in others if each.subject == chain[-1].issuer), None)

    def texts(certificates: list[Any]) -> str:
        return "".join(each.public_bytes(encoding).decode() for each in certificates)

    trusted = texts([each for each in others if each not in chain])
    if found.key is None:
        return Store(trusted)
    form, cipher = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return Store(trusted, found.key.private_bytes(encoding, form, cipher).decode(), texts(chain))


def _java_store(data: bytes, password: str | None, key_password: str | None) -> Store:
    if password and data.startswith(JKS):
        content, digest = data[:-HASH_BYTES], data[-HASH_BYTES:]
        if hashlib.sha1(password.encode("utf-16-be") + WHITENER + content, usedforsecurity=False).digest() != digest:
            raise StoreError("the password is wrong, or it is damaged")
    trusted, key, chain = [], "", ""
    for kind, protected, certificates in _entries(BytesIO(data)):
        texts = [_pem(each, "CERTIFICATE") for each in certificates]
        if kind == CERTIFICATE:
            trusted += texts
        elif not key:
            key = _pem(_jks_key(protected, key_password), "PRIVATE KEY")
            chain = "".join(texts)
    return Store("".join(trusted), key, chain)


def _entries(source: Any) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Read the kind, the protected key and the certificates of each entry."""

    def take(size: int) -> bytes:
        taken = bytes(source.read(size))
        if len(taken) != size:
            raise StoreError("it is damaged")
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
        take(8)  # when it was made
        if kind == PRIVATE_KEY:
            protected = take(number(">I"))
            yield kind, protected, [certificate() for _ in range(number(">I"))]
        elif kind == CERTIFICATE:
            yield kind, b"", [certificate()]
        else:
            raise StoreError("it has an entry of a kind that only Java reads; convert it to PKCS12 with keytool")


def _jks_key(protected: bytes, password: str | None) -> bytes:
    """Decrypt a key: each block of a key stream is the hash of the password and the block before."""
    algorithm, data = _parts(_parts(protected)[0])
    if JKS_KEY not in algorithm:
        raise StoreError("its private key is encrypted as only Java reads it; convert it to PKCS12 with keytool")
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
    """Return the contents of the elements of ASN.1 that follow one another."""
    found, place = [], 0
    while place < len(data):
        size, place = data[place + 1], place + 2
        if size & 0x80:
            count = size & 0x7F
            size, place = int.from_bytes(data[place : place + count]), place + count
        found.append(data[place : place + size])
        place += size
    return found
