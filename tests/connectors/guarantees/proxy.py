"""Between a client and a server: a proxy that can be away, hang and be slow."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

SIZE = 1 << 16


class Proxy:
    """Passes bytes between connections to its port and those to another port of this machine."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: list[socket.socket] = []
        self._flows = threading.Event()
        self._flows.set()
        self.delay = 0.0
        """Seconds before each piece of an answer is passed on."""
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._open += [client, server]
            threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while piece := source.recv(SIZE):
                self._flows.wait()
                if answers and self.delay:
                    time.sleep(self.delay)
                target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def leave(self) -> None:
        """Cut all connections and refuse new ones."""
        # A thread that waits in accept() would take one more connection.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def come_back(self) -> None:
        """Accept connections again."""
        self._listener = self._listen(self.port)

    def hang(self) -> None:
        """Pass nothing on, and keep all connections."""
        self._flows.clear()

    def flow(self) -> None:
        """Pass on what has been held back."""
        self._flows.set()

    def close(self) -> None:
        """End all connections."""
        self.flow()
        self.leave()
