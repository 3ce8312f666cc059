"""Flink's own dashboard shows our jobs. ``PYFLINK_DIRECTORY`` names an installed package ``pyflink``, which has it."""

from __future__ import annotations

import mimetypes
import os
import zipfile
from pathlib import Path

import pytest
from tests.rest.browser import browser, needs_browser
from tests.rest.test_rest import TOKEN, job, places, serving  # noqa: F401 - fixtures

from flintstream.rest.app import application

PYFLINK = os.environ.get("PYFLINK_DIRECTORY")

pytestmark = [
    pytest.mark.server,
    pytest.mark.slow,
    needs_browser,
    pytest.mark.skipif(PYFLINK is None, reason="PYFLINK_DIRECTORY names no installation of PyFlink"),
]


@pytest.fixture
def dashboard():
    """A server of the REST interface that has Flink's files, too."""
    (jar,) = Path(str(PYFLINK), "lib").glob("flink-dist-*.jar")
    rest = application(TOKEN)
    with zipfile.ZipFile(jar) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name.startswith("web/")}

    async def app(scope, receive, send):
        scope["headers"].append((b"authorization", f"Bearer {TOKEN}".encode()))
        path = "web" + scope["path"].replace("//", "/")
        content = files.get(path + "index.html" if path.endswith("/") else path)
        if not content:
            await rest(scope, receive, send)
            return
        kind = mimetypes.guess_type(path)[0] or "text/html"
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    with serving(app) as caller:
        yield caller


def test_flinks_dashboard_lists_a_job_and_shows_its_plan_and_checkpoints(dashboard, job):  # noqa: F811
    number = str(job.get_job_id())
    with browser() as page:
        page.look(1400)
        place = f"http://127.0.0.1:{dashboard.port}/#"
        page.open(f"{place}/overview")
        told = page.wait_for("recorded")
        assert "RUNNING" in told
        page.open(f"{place}/job/running/{number}/overview")
        told = page.wait_for("most", "svg.flow, flink-dagre, body")
        assert "Source: numbers" in told or "numbers" in told
        page.open(f"{place}/job/running/{number}/checkpoints")
        told = page.wait_for("Latest Completed Checkpoint")
        assert "Latest Restore" in told
        page.open(f"{place}/job/running/{number}/exceptions")
        page.wait_for("Exception")
        page.open(f"{place}/task-manager")
        page.wait_for(os.uname().nodename)
        troubles = [
            complaint
            for complaint in page.complaints()
            if "SEVERE" in complaint or "TypeError" in complaint or " 50" in complaint
        ]
    assert troubles == []
