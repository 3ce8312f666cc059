"""Encryption of channels between machines, at the end of the listener: TLS with a certificate that it makes for itself.

The certificate reaches callers together with the key, and they accept no other one. So neither names of machines nor
authorities matter. Callers need Python's ``ssl`` only.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.channels.listener import require_encryption

if TYPE_CHECKING:
    import socket

__all__ = ["OwnCertificate"]

_NAME = "flintstream"
_BEGIN, _END = datetime(2000, 1, 1, tzinfo=timezone.utc), datetime(9999, 12, 31, tzinfo=timezone.utc)
"""As long as possible: the certificate ends with its listener, and clocks of machines differ."""


class OwnCertificate:
    """The key and the certificate of one listener."""

    def __init__(self) -> None:
        """Make them.

        Raises:
            MissingDependencyError: cryptography is not installed.
        """
        require_encryption()
        # Here, because it is optional.
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, _NAME)])
        builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), _BEGIN, _END)
        certificate = builder.sign(key, hashes.SHA256())
        pem = serialization.Encoding.PEM
        self.certificate = certificate.public_bytes(pem).decode()
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context.num_tickets = 0  # callers connect once
        _load(self._context, private + self.certificate.encode())

    def wrap(self, connection: socket.socket) -> socket.socket:
        """Return an encrypted connection before its handshake."""
        return self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)

    def shake_hands(self, connection: socket.socket) -> None:
        """Agree on keys with the other end, within the time limit of the connection."""
        assert isinstance(connection, ssl.SSLSocket)  # noqa: S101 - wrap() made it
        connection.do_handshake()


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """Load a certificate and its key, which Python reads from a file only."""
    descriptor, path = tempfile.mkstemp(prefix="flintstream-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        context.load_cert_chain(path)
    finally:
        Path(path).unlink()
