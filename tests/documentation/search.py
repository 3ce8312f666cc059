"""``python -m tests.documentation.search``, after ``make docs``: the search finds the right page first."""

from __future__ import annotations

import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote_plus

from tests.documentation.screenshots import BUILT
from tests.rest.browser import browser

FIRST = {
    "key_by": "reference/api/streams.html",
    "MapState": "reference/api/state.html",
    "late data": "how-to/windows.html",
    "exactly once": "how-to/exactly-once.html",
}
SECONDS = 30
FOUND = (
    "return (document.querySelector('#search-results ul.search li > a') || {getAttribute() {}}).getAttribute('href')"
)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(BUILT)))
    Thread(target=server.serve_forever, daemon=True).start()
    wrong = 0
    with browser() as window:
        for words, page in FIRST.items():
            window.open(f"http://127.0.0.1:{server.server_port}/search.html?q={quote_plus(words)}")
            end = time.monotonic() + SECONDS
            while (found := window.run(FOUND)) is None and time.monotonic() < end:
                time.sleep(0.2)
            right = found is not None and found.startswith(page)
            wrong += not right
            print(f"{words}: {found}{'' if right else f' instead of {page}'}")
    server.shutdown()
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
