"""moto's server, which has the API of S3: in a separate process, only on this machine, all data in memory."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import io, logging, sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line for each request
app, lock = DomainDispatcherApplication(create_backend_app), threading.Lock()


def one_by_one(environ, start_response):
    if length := int(environ.get("CONTENT_LENGTH") or 0):  # a client that stops within a request stops no other
        environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read(length))
    with lock:  # two requests at once that write to a shard of Kinesis lose records of one of them
        return app(environ, start_response)


server = make_server("127.0.0.1", 0, one_by_one, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()  # until the parent process is gone
"""


class S3Server:
    """Runs until it is closed, or the process that started it ends."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", PROGRAM]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        assert self.process.stdout is not None
        port = self.process.stdout.readline().strip()
        assert port, "the server has not started"
        self.endpoint = f"http://127.0.0.1:{port}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        """Environment variables that direct ``s3://`` URIs of a program to this server."""

    def close(self) -> None:
        """Stop the server."""
        self.process.communicate()
