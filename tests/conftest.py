"""One server of S3 for all tests of a session."""

from __future__ import annotations

import uuid

import pytest


@pytest.fixture(scope="session")
def s3_server():
    for needed in ("moto", "flask_cors", "s3fs"):
        pytest.importorskip(needed, reason=f"{needed} is not installed")
    from tests.s3 import S3Server

    server = S3Server()
    yield server
    server.close()


@pytest.fixture
def s3(s3_server, monkeypatch):
    """Return the URI of a new bucket; the environment says where its server is."""
    import s3fs

    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # they have an environment of before
    bucket = f"b{uuid.uuid4().hex}"
    s3fs.S3FileSystem().mkdir(bucket)
    yield f"s3://{bucket}"
    s3fs.S3FileSystem.clear_instance_cache()
