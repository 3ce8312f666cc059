"""Shared by all tests: profiles of different lengths, markers, and one S3 server."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
import uuid
import zlib
from contextlib import suppress
from functools import partial
from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings

import flintstream.datastream.connectors.file_system
import flintstream.datastream.formats.csv
import flintstream.table.expressions  # noqa: F401 - modules that publish classes: their examples run with its names
from flintstream.options.command_line import reset_defaults

# These modules publish classes: examples in the modules that define them run under the public names.
for public in ("datastream.connectors.file_system", "datastream.formats.csv", "table.expressions"):
    with suppress(ImportError):  # an extra is missing
        import_module(f"flintstream.{public}")

SERVERS = {"broker", "mariadb", "postgresql", "s3", "s3_server", "secure", "server"}
"""Fixtures that start a server."""

# On a busy machine, drawing an example may take longer than hypothesis thinks healthy
settings.register_profile("thorough", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.register_profile("default", settings.get_profile("thorough"), max_examples=50)
settings.register_profile("fast", settings.get_profile("default"), max_examples=10)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
if settings.get_current_profile_name() in {"default", "ci"}:  # the second one where the environment has CI
    settings.load_profile(settings.get_current_profile_name())


def pytest_addoption(parser):
    parser.addoption(
        "--stop-after",
        type=float,
        metavar="MINUTES",
        help="skip the tests that have not begun by then, and say so",
    )


def pytest_configure(config):
    if "FLINTSTREAM_HISTORY_DIR" not in os.environ:  # jobs of tests leave no record in the home directory
        os.environ["FLINTSTREAM_HISTORY_DIR"] = tempfile.mkdtemp(prefix="flintstream-history-")
        config.add_cleanup(partial(shutil.rmtree, os.environ["FLINTSTREAM_HISTORY_DIR"], ignore_errors=True))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # for sessions that examples create themselves
    # After nohup, programs would inherit that these are ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    minutes = config.getoption("--stop-after")
    config.stash[END] = None if minutes is None else time.monotonic() + minutes * 60


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in this hook, too
def pytest_collection_modifyitems(items):
    """Mark tests that need a server, and keep tests that share an expensive fixture in one process."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and "SparkSession" in (item.dtest.docstring or ""):
            item.add_marker(pytest.mark.spark)
        called = item.callspec.params.values() if hasattr(item, "callspec") else ()
        fixtures = {*getattr(item, "fixturenames", ()), *(value for value in called if isinstance(value, str))}
        servers = SERVERS & fixtures
        if servers:
            item.add_marker(pytest.mark.server)
        if item.get_closest_marker("spark"):
            # Two processes have a JVM, and a file's tests share one: they often share a session too
            item.add_marker(pytest.mark.xdist_group(f"spark {zlib.crc32(item.path.name.encode()) % 2}"))
        elif servers:
            item.add_marker(pytest.mark.xdist_group(" ".join(sorted(servers))))


def pytest_collection_finish(session):
    """Refuse versions of pytest and xdist that ignore groups: each process would start Spark and every server."""
    if os.environ.get("PYTEST_XDIST_WORKER") and session.config.getoption("loadgroup"):  # --dist is "no" in a worker
        for item in session.items:
            if item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
                message = f"the group of {item.nodeid} is ignored: make setup installs versions that go together"
                raise pytest.UsageError(message)


def pytest_runtest_setup(item):
    end = item.config.stash[END]
    if end is not None and time.monotonic() > end:
        pytest.skip(f"the {item.config.getoption('--stop-after'):g} minutes of this run are over")


END = pytest.StashKey[float | None]()


@pytest.fixture(autouse=True)
def no_settings_of_commands():
    """Forget the settings of a command that a test ran in this process, or all later jobs have them as defaults."""
    yield
    reset_defaults()


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
    """Return the URI of a new bucket; the environment has the address of its server."""
    import s3fs

    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # they have an environment of before
    bucket = f"b{uuid.uuid4().hex}"
    s3fs.S3FileSystem().mkdir(bucket)
    yield f"s3://{bucket}"
    s3fs.S3FileSystem.clear_instance_cache()
