"""A server that has the API of S3: that of moto, in a process of its own, on this machine alone, all in memory."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import logging, sys
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line for each request
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()  # until whoever started it is gone
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
        """What a program must find in its environment to come here with whatever is of ``s3://``."""

    def close(self) -> None:
        """End it."""
        self.process.communicate()
