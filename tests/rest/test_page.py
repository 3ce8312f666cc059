"""The web page in a real browser: what it shows of a job, what its buttons do, and that nobody is shut out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.engine.sources import PacedSource
from tests.rest.browser import browser, needs_browser
from tests.rest.test_rest import TOKEN, places, serving  # noqa: F401 - a fixture
from tests.waiting import wait_for

from flintstream.common import JobStatus, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.rest import page as page_of_jobs
from flintstream.rest.app import application
from flintstream.testing import CollectSink

uvicorn = pytest.importorskip("uvicorn")

pytestmark = [pytest.mark.server, pytest.mark.slow, needs_browser]

EVIL = "<img src=x onerror='window.evil=1'><script>window.evil=1</script>"
CHECKS = (Path(__file__).parent / "page_checks.js").read_text()
TABS = ("graph", "curves", "checkpoints", "exceptions", "state", "configuration", "log")


@pytest.fixture(scope="module")
def window():
    with browser() as started:
        yield started


@pytest.fixture
def page(window):
    """A window without a page: that of the test before would complain that its server has gone."""
    window.open("about:blank")
    window.complaints()
    return window


@pytest.fixture
def server():
    with serving(application(TOKEN)) as caller:
        yield caller


@pytest.fixture
def job(tmp_path):
    settings = {
        "flintstream.engine": "inline",
        "flintstream.epoch.idle-duration": "20",
        "execution.checkpointing.interval": "200 ms",
        "execution.checkpointing.dir": (tmp_path / "checkpoints").as_uri(),
        "execution.checkpointing.savepoint-dir": (tmp_path / "savepoints").as_uri(),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "10 ms",
        "spark.hadoop.fs.s3a.secret.key": "abc",
    }
    flag = tmp_path / "fail"

    def price(n):
        if flag.exists():
            flag.unlink()
            raise KeyError(EVIL)
        return n + 1

    env = StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)
    numbers = env.from_source(PacedSource(10**9, 0.002), WatermarkStrategy.for_monotonous_timestamps(), "numbers")
    most = numbers.key_by(lambda n: n % 3).reduce(max).name("most")
    most.map(price).name(f"price {EVIL}").sink_to(CollectSink()).name("shop")
    client = env.execute_async(f"revenue {EVIL}")
    wait_for(lambda: client.get_accumulators().result().get("numCheckpoints", 0) > 1)
    yield client
    client.cancel().result()


def shown(page, server, job, tab="graph"):
    page.open("about:blank")
    page.open(f"http://127.0.0.1:{server.port}/?token={TOKEN}")
    wait_for(lambda: page.run("return location.hash").startswith("#/jobs/"))  # the page opens the only job
    page.run("location.hash = arguments[0]", f"#/jobs/{job.get_job_id()}/{tab}")
    return page.wait_for("Savepoint")


def test_the_graph_shows_operators_exchanges_and_subtasks(page, server, job):
    page.look(1280)
    told = shown(page, server, job)
    assert f"revenue {EVIL}" in told
    page.wait_for("superstep 2", ".graph")
    vertices = page.run("return [...document.querySelectorAll('.vertex')].map(e => e.innerText)")
    vertices = [vertex.replace("\u200b", "") for vertex in vertices]  # where names may break
    assert len(vertices) == 2
    assert "numbers" in vertices[0]
    assert f"price {EVIL}" in vertices[1]
    assert "\N{MULTIPLICATION SIGN} 2" in vertices[1]
    assert page.run("return document.querySelector('.edges').textContent") == "hash"
    page.click(".step:last-of-type .vertex")
    rows = wait_for(lambda: page.run("return document.querySelectorAll('.panel table.cards tbody tr').length"))
    assert rows == 2
    assert "Skew" in page.text("#view")
    wait_for(lambda: "/s" in page.text(".tiles"))


def test_views_show_checkpoints_an_exception_with_its_record_state_settings_and_the_log(page, server, job, tmp_path):
    page.look(1280)
    (tmp_path / "fail").touch()
    wait_for(lambda: server.get(f"/jobs/{job.get_job_id()}/exceptions").json()["exceptionHistory"]["entries"])
    shown(page, server, job, "exceptions")
    told = page.wait_for("KeyError", ".exception")
    assert EVIL in told
    assert "raise KeyError(EVIL)" in told
    assert "test_page.py" in told
    assert "record" in told
    assert "from checkpoint" in told
    shown(page, server, job, "checkpoints")
    assert "COMPLETED" in page.wait_for("exactly once", "#view")
    shown(page, server, job, "state")
    assert "most" in page.wait_for("By subtask", "#view")
    shown(page, server, job, "configuration")
    told = page.wait_for("execution.checkpointing.interval", "#view")
    assert "abc" not in told
    page.click("input[type=search]")
    page.type("restart")
    wait_for(lambda: "execution.checkpointing" not in page.text("#view"))
    assert "restart-strategy.type" in page.text("#view")
    shown(page, server, job, "log")
    assert "restarts in 10 ms" in page.wait_for("WARNING", "#view")
    shown(page, server, job, "curves")
    wait_for(lambda: page.run("return document.querySelectorAll('.chart path.line').length") > 5)
    told = page.wait_for("Epoch, average duration", "#view")
    page.run("const e = document.querySelector('.choice select'); e.value = 'numEpochs'; e.onchange({ target: e })")
    wait_for(lambda: page.run("return document.querySelector('.choice select').value") == "numEpochs")
    shown(page, server, job, "checkpoints")
    assert "99 %" in page.run("return document.querySelector('details.more').textContent")
    assert "engine" in page.wait_for("inline", ".tiles")


def test_no_text_of_a_job_becomes_a_part_of_the_page(page, server, job, tmp_path):
    page.look(1280)
    (tmp_path / "fail").touch()
    for tab in TABS:
        shown(page, server, job, tab)
        wait_for(lambda: page.text("#view"))
    page.run("location.hash = '#/'")
    page.wait_for("Running (1)")
    assert page.run("return [window.evil ?? null, document.querySelectorAll('img').length]") == [None, 0]
    assert page.run("return document.querySelectorAll('script').length") == 1
    assert page.complaints() == []


def test_a_savepoint_is_taken_by_keyboard(page, server, job, tmp_path):
    page.look(1280)
    shown(page, server, job)
    page.run("[...document.querySelectorAll('.actions button')].find(e => e.innerText == 'Savepoint').focus()")
    page.type(["\ue007"])
    page.wait_for("keeps running", "dialog")
    assert page.run("return document.querySelector('dialog input').value").endswith("savepoints")
    page.type(["\ue007"])  # in the field: takes the default of the form, which must not be to act
    wait_for(lambda: not page.run("return !!document.querySelector('dialog')"))
    assert not (tmp_path / "savepoints").exists()
    page.click(".actions button")
    page.wait_for("keeps running", "dialog")
    page.click("dialog button.primary")
    told = page.wait_for("Savepoint:", "#status")
    assert str(tmp_path / "savepoints") in told
    assert job.get_job_status().result() is JobStatus.RUNNING


def test_a_job_is_rescaled(page, server, job):
    page.look(1280)
    shown(page, server, job)
    page.run("[...document.querySelectorAll('.actions button')].find(e => e.innerText.startsWith('Rescale')).click()")
    page.wait_for("continues from a checkpoint", "dialog")
    page.run("document.querySelector('dialog input').value = 3")
    page.click("dialog button.primary")
    page.wait_for("runs with parallelism 3", "#status")
    page.wait_for("\N{MULTIPLICATION SIGN} 3", ".graph")
    assert page.complaints() == []


def test_a_job_is_cancelled_only_when_that_is_confirmed(page, server, job):
    page.look(1280)
    shown(page, server, job)
    page.click(".actions .danger")
    page.wait_for("ends without a savepoint", "dialog")
    page.type(["\ue00c"])
    wait_for(lambda: not page.run("return !!document.querySelector('dialog')"))
    assert job.get_job_status().result() is JobStatus.RUNNING
    page.click(".actions .danger")
    page.click("dialog .danger")
    page.wait_for("CANCELED", "h1")
    assert job.get_job_status().result() is JobStatus.CANCELED
    assert not page.run("return !!document.querySelector('.jobhead .actions')")
    page.run("location.hash = '#/'")
    assert "CANCELED" in page.wait_for("Ended (1)")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_every_view_fits_has_names_and_enough_contrast(page, server, job, tmp_path, width, dark):
    page.look(width, dark=dark)
    (tmp_path / "fail").touch()
    for tab in TABS:
        shown(page, server, job, tab)
        wait_for(lambda: page.text("#view"))
        if tab == "graph":
            page.click(".vertex")
            page.wait_for("Skew", "#view")
        assert page.run("return document.documentElement.scrollWidth") <= width, tab
        assert page.run(CHECKS + "return nameless()") == [], tab
        assert page.run(CHECKS + "return faint()") == [], tab


def test_the_token_in_the_address_is_exchanged_and_hidden(page, server, job):
    page.look(1280)
    place = f"http://127.0.0.1:{server.port}/"
    page.tool("Network.clearBrowserCookies")
    page.open(place)
    assert "Only the user who started this server" in page.wait_for("A token is required")
    assert page.run("return document.documentElement.scrollWidth") <= 1280
    page.complaints()  # that the reply was 401
    page.open(f"{place}?token={TOKEN}")
    page.wait_for("revenue")
    wait_for(lambda: page.run("return location.href").startswith(f"{place}#/jobs/"))
    everything = (
        "return [document.documentElement.outerHTML, document.cookie, document.referrer, JSON.stringify(localStorage)]"
    )
    told = page.run(everything)
    assert TOKEN not in str(told)
    assert told[1] == ""  # no script can read the cookie
    page.open(place)  # again, without the token
    page.wait_for("revenue")
    page.open(f"{place}docs")
    page.wait_for("/v1/jobs/{jobid}")
    assert page.complaints() == []


def test_a_page_without_its_key_says_what_to_do(page, server, job):
    page.look(1280)
    shown(page, server, job)
    page.run("localStorage.clear()")
    page.wait_for("Open the address with the token", "#banner")
    page.complaints()


def test_the_page_says_that_the_server_has_gone(page, job):
    page.look(1280)
    with serving(application(TOKEN)) as server:
        shown(page, server, job)
    assert "flintstream ui" in page.wait_for("does not answer", "#banner")
    page.complaints()


def test_the_page_runs_nothing_but_itself(server):
    connection = server.call("GET", "/")
    assert connection.status_code == 200
    assert b"http" not in connection.content.replace(b"http://www.w3.org/2000/svg", b"")
    assert json.dumps(str(connection.content)).count("<script") == 1
    scripts = {"main.js"}
    read: set[str] = set()
    while scripts > read:
        name = min(scripts - read)
        read.add(name)
        module = server.get(f"/web/{name}")
        assert (module.status_code, module.headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
        assert b"http" not in module.content.replace(b"http://www.w3.org/2000/svg", b"")
        scripts.update(re.findall(r'^import .*from "\./([\w.]+)";$', module.content.decode(), re.MULTILINE))
    assert read == set(page_of_jobs.modules())
