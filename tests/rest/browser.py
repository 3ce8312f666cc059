"""A real browser without a window: Chromium, by the protocol of WebDriver, which takes a few requests."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.waiting import wait_for

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(
    DRIVER is None or BROWSER is None, reason="chromium and chromedriver are not there (.ci/systems installs them)"
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window."""

    def __init__(self, port, session):
        self._place = f"http://127.0.0.1:{port}/session/{session}"

    def ask(self, method, path, body=None):
        return call(method, self._place + path, body)

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Run the body of a function in the page, and return what it returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def tool(self, command, **parameters):
        """Use Chromium's own tools for developers."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, height=900, *, dark=False, scale=1):
        """Choose the size of the window and the colours of the system."""
        self.tool(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tool("Emulation.setEmulatedMedia", features=[scheme])

    def text(self, selector="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def click(self, selector):
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.ask("POST", f"/element/{found}/click", {})

    def type(self, keys):
        """Press keys, wherever the focus is."""
        pressed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": pressed}]})

    def wait_for(self, text, selector="body"):
        """Wait until a text can be seen; return all text of the element."""
        return wait_for(lambda: (told := self.text(selector)) and text in told and told)

    def picture(self, path):
        """Write what can be seen to a PNG file."""
        Path(path).write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))

    def complaints(self):
        """Return what the console says: errors of scripts, and what the policy of the page has refused."""
        return [item["message"] for item in self.ask("POST", "/se/log", {"type": "browser"})]


def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
            return json.loads(reply.read())["value"]
    except urllib.error.HTTPError as error:
        raise RuntimeError(json.loads(error.read())["value"]["message"]) from None


@contextmanager
def browser():
    """Start a browser, and end it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        log = Path(profile, "log")
        with log.open("wb") as out:
            driver = subprocess.Popen([str(DRIVER), "--port=0"], stdout=out, stderr=out)  # noqa: S603
        try:
            told = wait_for(
                lambda: "started successfully on port" in log.read_text() and log.read_text(),
                processes=[driver],
                log=log,
            )
            port = int(told.rpartition("started successfully on port ")[2].split(".")[0])
            options = {
                "binary": BROWSER,
                "args": [
                    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"),
                    *("--no-first-run", "--disable-background-networking", f"--user-data-dir={profile}/profile"),
                ],
            }
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            body = {"capabilities": {"alwaysMatch": wanted}}
            session = call("POST", f"http://127.0.0.1:{port}/session", body)["sessionId"]
            try:
                yield Browser(port, session)
            finally:
                call("DELETE", f"http://127.0.0.1:{port}/session/{session}")
        finally:
            driver.terminate()
            driver.wait(20)
