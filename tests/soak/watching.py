"""Keeps the web page of a soak open in a browser, and looks at one view of the job after the other."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.rest.browser import BROWSER, DRIVER, browser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.rest.browser import Browser

VIEWS = ("graph", "curves", "checkpoints", "exceptions", "state", "configuration", "log")
VIEW_SECONDS = 20.0
START_SECONDS = 120.0
FIND_JOB = """return document.querySelector('[aria-label="Running jobs"] a[href^="#/jobs/"]')?.getAttribute("href")"""


class Watcher:
    """A browser on the page of a job."""

    def __init__(self, address: Path) -> None:
        """Watch the page whose address will be in a file."""
        self.address = address
        self.views = 0
        """How many views of a running job the browser showed."""
        self.errors: list[str] = []
        """What went wrong: the page is part of the soak."""
        self._unreachable: list[str] = []
        self._over = threading.Event()

    def watch(self) -> None:
        """Watch until the end."""
        try:
            with browser() as page:
                if self._wait_for_address():
                    page.open(self.address.read_text("utf-8"))
                    self._look_around(page)
        except Exception as error:  # noqa: BLE001 - reported with the results
            self.errors.append(repr(error)[:500])

    def stop(self) -> None:
        """End."""
        self._over.set()

    def note(self, complaints: Iterable[str], *, runs: bool) -> None:
        """Note what the console of the browser said while a view was open, and whether that showed a running job.

        Between two legs, the job that the page shows has left the registry. The driver takes the page with it, so that
        the page cannot be reached only counts if it comes back.
        """
        self.views += runs
        for message in complaints:
            if "ERR_CONNECTION_REFUSED" in message:
                self._unreachable.append(message)
            elif "status of 404" not in message:
                self.errors.append(message)
        if runs:
            self.errors += self._unreachable
            self._unreachable.clear()

    def _wait_for_address(self) -> bool:
        until = time.monotonic() + START_SECONDS
        while not self.address.exists():
            if self._over.wait(0.5):
                return False
            if time.monotonic() > until:
                raise AssertionError("the page was not served")
        return True

    def _look_around(self, page: Browser) -> None:
        """Show the newest job again and again: each leg is another one."""
        while not self._over.wait(1):
            page.run("location.hash = '#/'")
            if self._over.wait(5):
                return
            job = page.run(FIND_JOB)
            for view in VIEWS if job else ():
                page.run("location.hash = arguments[0]", f"{job}/{view}")
                if self._over.wait(VIEW_SECONDS):
                    return
                self.note(page.complaints(), runs="RUNNING" in page.text("h1"))


@contextmanager
def watch_page(address: Path) -> Iterator[Watcher | None]:
    """Watch the page while the block runs; yield None, and say so, where there is no browser."""
    if DRIVER is None or BROWSER is None:
        print("the page is not open: chromium and chromedriver are not there (.ci/systems installs them)")
        yield None
        return
    watcher = Watcher(address)
    thread = threading.Thread(target=watcher.watch, name="watcher", daemon=True)
    thread.start()
    try:
        yield watcher
    finally:
        watcher.stop()
        thread.join(60)
