"""Iceberg's own REST server, the one of its tests, behind a door that asks for tokens: only on this machine.

Maven downloads the server from Maven Central, once. It is kept in the directory that the variable
``FLINTSTREAM_ICEBERG_REST`` names, ``~/.cache/flintstream/iceberg-rest-<version>`` by default.
"""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests import maven

VERSION = "1.10.0"
DIRECTORY = "FLINTSTREAM_ICEBERG_REST"
START_SECONDS = 240
PREFIX = "team-a"
CREDENTIAL = ("somebody", "very-secret")
SCOPE = "PRINCIPAL_ROLE:ALL"
ISSUED, FIXED = "issued-very-secret-token", "fixed-very-secret-token"
"""The token that a credential gets, and one that programs may give."""

LAUNCHER = """
import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

public class Launcher {
  public static void main(String[] given) throws Exception {
    Map<String, String> properties = Map.of(
        "catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog", "uri", given[1], "warehouse", given[2]);
    var catalog = CatalogUtil.buildIcebergCatalog("server", properties, new Configuration());
    var context = new ServletContextHandler();
    context.setContextPath("/");
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    var server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(given[0])));
    server.setHandler(context);
    server.start();
    System.in.read();  // until the parent process is gone
    System.exit(0);
  }
}
"""


class NoServerError(Exception):
    """No server can be started on this machine; the message has the reason."""


def jar() -> Path:
    """Return the jar of the server; download it if necessary.

    Raises:
        NoServerError: It cannot be downloaded.
    """
    own = os.environ.get(DIRECTORY)
    directory = Path(own) if own else Path.home() / ".cache" / "flintstream" / f"iceberg-rest-{VERSION}"
    found = directory / f"iceberg-open-api-{VERSION}.jar"
    if found.is_file():
        return found
    if shutil.which("javac") is None or shutil.which("mvn") is None:
        raise NoServerError("it needs a JDK, and mvn to download it")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{directory}.lock").open("w") as lock, tempfile.TemporaryDirectory(dir=directory.parent) as work:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found.is_file():  # another process has just downloaded it
            return found
        command = ["mvn", "-q", "-B", f"-Dmaven.repo.local={work}/repository", "dependency:copy"]
        command += [f"-Dartifact=org.apache.iceberg:iceberg-open-api:{VERSION}", f"-DoutputDirectory={work}/found"]
        try:
            done = subprocess.run(  # noqa: S603 - written above
                command, capture_output=True, text=True, timeout=maven.DOWNLOAD_SECONDS, check=False, cwd=work
            )
        except subprocess.TimeoutExpired:
            raise NoServerError(f"Maven Central has not sent it within {maven.DOWNLOAD_SECONDS} s") from None
        if done.returncode or not Path(work, "found", found.name).is_file():
            raise NoServerError(f"it cannot be downloaded: {(done.stdout.splitlines() or ['?'])[0]}")
        Path(work, "found").rename(directory)
    return found


class Server:
    """The server, and the door in front of it, which lets only requests with a token and the prefix pass."""

    def __init__(self, directory: Path) -> None:
        own = jar()
        port = maven.free_port()
        launcher, self._log = directory / "Launcher.java", directory / "log"
        launcher.write_text(LAUNCHER, "utf-8")
        (directory / "warehouse").mkdir()
        command = ["java", "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(own), str(launcher)]
        command += [str(port), f"jdbc:sqlite:{directory}/catalog.db", (directory / "warehouse").as_uri()]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - written above
                command, stdin=subprocess.PIPE, stdout=log, stderr=log
            )
        self.requests: list[tuple[str, str]] = []
        self._door = ThreadingHTTPServer(("127.0.0.1", 0), _door(port, self.requests))
        self._door.daemon_threads = True
        self._thread = threading.Thread(target=self._door.serve_forever, daemon=True)
        self._thread.start()
        self.uri = f"http://127.0.0.1:{self._door.server_address[1]}"
        self.tokens = f"{self.uri}/tokens"
        until = time.monotonic() + START_SECONDS
        while not _answers(port):
            if self._process.poll() is not None or time.monotonic() > until:
                self.close()
                raise NoServerError(f"the server does not start:\n{self._log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.2)

    def close(self) -> None:
        """End both."""
        self._door.shutdown()
        self._door.server_close()
        self._thread.join()
        self._process.communicate()


def _answers(port: int) -> bool:
    try:
        return _forward(port, "GET", "/v1/config", b"")[0] == http.client.OK
    except OSError:
        return False


def _forward(port: int, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body or None, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _door(port: int, requests: list[tuple[str, str]]) -> type[BaseHTTPRequestHandler]:
    """Return what answers the requests of clients, and notes them."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            requests.append((self.command, self.path))
            if self.path == "/tokens":
                self._send(*_token(body.decode()))
            elif self.headers.get("Authorization") not in {f"Bearer {ISSUED}", f"Bearer {FIXED}"}:
                self._send(*_error(401, "NotAuthorizedException", "the token is not valid"))
            elif self.path.startswith("/v1/config"):
                self._send(*_forward(port, "GET", "/v1/config", b""))
            elif not self.path.startswith(f"/v1/{PREFIX}/"):
                self._send(*_error(404, "NoSuchPrefixException", "the prefix is not known"))
            else:
                self._send(*_forward(port, self.command, "/v1/" + self.path.removeprefix(f"/v1/{PREFIX}/"), body))

        do_GET = do_POST = do_DELETE = do_HEAD = _answer  # noqa: N815 - as http.server calls them

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status != http.client.NO_CONTENT:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_given: object) -> None:
            """Say nothing."""

    return Door


def _token(form: str) -> tuple[int, bytes]:
    given = dict(urllib.parse.parse_qsl(form))
    wanted = {"grant_type": "client_credentials", "scope": SCOPE}
    wanted |= {"client_id": CREDENTIAL[0], "client_secret": CREDENTIAL[1]}
    if any(given.get(key) != text for key, text in wanted.items()):
        return 401, json.dumps({"error": "invalid_client", "error_description": "wrong credentials"}).encode()
    return 200, json.dumps({"access_token": ISSUED, "token_type": "bearer", "expires_in": 3600}).encode()


def _error(code: int, kind: str, message: str) -> tuple[int, bytes]:
    return code, json.dumps({"error": {"message": message, "type": kind, "code": code}}).encode()
