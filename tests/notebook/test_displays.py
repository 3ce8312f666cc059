"""What notebooks show of results and job clients, and which tracebacks, without IPython."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from flintstream.common import JobClient, JobExecutionResult, JobID, JobStatus
from flintstream.common.job_listener import JobProgress
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream._streams.collect import CloseableIterator
from flintstream.table import StreamTableEnvironment


@pytest.fixture
def env():
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)


def cells(html):
    return re.findall(r"<t[hd]>(.*?)</t[hd]>", html)


def test_a_result_shows_its_records_and_keeps_them(env):
    results = env.from_collection(["<a>", "b"]).execute_and_collect()
    assert cells(results._repr_html_()) == ["record", "&#x27;&lt;a&gt;&#x27;", "&#x27;b&#x27;"]
    assert "<div>2 records</div>" in results._repr_html_()
    assert list(results) == ["<a>", "b"]
    assert "<div>0 records</div>" in results._repr_html_()


def test_a_long_result_shows_its_beginning(env):
    results = env.from_collection(list(range(50))).execute_and_collect()
    assert next(results) == 0
    text = results._repr_html_()
    assert cells(text) == ["record", *(str(n) for n in range(1, 21))]
    assert "the first 20 records; there may be more" in text
    assert list(results) == list(range(1, 50))


def test_a_result_says_that_its_job_has_failed(env):
    results = env.from_collection([1, 0]).map(lambda n: 1 // n).execute_and_collect()
    assert "then the job failed: ZeroDivisionError" in results._repr_html_()
    with pytest.raises(ZeroDivisionError):
        list(results)


def test_a_result_that_does_not_come_is_not_waited_for():
    running = SimpleNamespace(finished=threading.Event(), status=lambda: JobStatus.RUNNING)
    job: Any = SimpleNamespace(_handle=running)
    sink: Any = SimpleNamespace(queue=queue.SimpleQueue())
    results = CloseableIterator(sink, job)
    assert results._peek(20, 0.01) == ([], "no records yet")


def test_the_wait_for_records_begins_when_the_job_runs():
    sink: Any = SimpleNamespace(queue=queue.SimpleQueue())
    asked: list[int] = []

    def status():
        asked.append(len(asked))
        if len(asked) == 5:
            sink.queue.put(["late"])
        return JobStatus.CREATED if len(asked) < 6 else JobStatus.RUNNING

    job: Any = SimpleNamespace(_handle=SimpleNamespace(finished=threading.Event(), status=status))
    assert CloseableIterator(sink, job)._peek(20, 0.01) == (["late"], "the first record; there may be more")


def test_table_results_show_rows_with_the_kinds_of_change(env):
    t_env = StreamTableEnvironment.create(env)
    result = t_env.execute_sql("SELECT * FROM (VALUES (1, 'a'), (2, CAST(NULL AS STRING))) AS T(id, name)")
    assert cells(result._repr_html_()) == ["op", "id", "name", "+I", "1", "a", "+I", "2", "&lt;NULL&gt;"]
    with result.collect() as rows:
        assert [row.id for row in rows] == [1, 2]
    told = t_env.execute_sql("SHOW CURRENT DATABASE")
    assert cells(told._repr_html_()) == ["current database name", "default_database"]
    ddl = "CREATE TEMPORARY VIEW ones AS SELECT 1 AS n"
    assert t_env.execute_sql(ddl)._repr_html_() == "<p>OK</p>"


def test_a_job_client_shows_the_progress_of_its_job():
    job_id = JobID()
    progress = JobProgress(str(job_id), "shop & co", JobStatus.RUNNING, 7, 1, 2, 3000, 40, 0)
    handle = SimpleNamespace(job_id=job_id, progress=lambda: progress, status=lambda: progress.status)
    client = JobClient(handle)
    text = client._repr_html_()
    assert f"shop &amp; co: RUNNING ({job_id})" in text
    assert dict(zip(cells(text)[:6], cells(text)[6:], strict=True)) == {
        "epochs": "7",
        "records in": "3,000",
        "records out": "40",
        "watermark": "1970-01-01 00:00:00 UTC",
        "checkpoints": "2",
        "restarts": "1",
    }
    with pytest.raises(NotImplementedError):  # so IPython shows it as any object
        client._ipython_display_()


def test_a_client_of_a_real_job_shows_its_end(env):
    env.from_collection([1, 2, 3]).print()
    client = env.execute_async("three")
    client.get_job_execution_result().result(300)
    assert "three: FINISHED" in client._repr_html_()
    assert cells(client._repr_html_())[7] == "3"


def test_a_job_result_shows_its_accumulators():
    text = JobExecutionResult(JobID(), 1200, {"numEpochs": 3})._repr_html_()
    assert "finished after 1,200 ms" in text
    assert cells(text) == ["accumulator", "value", "numEpochs", "3"]


class Shell:
    """As much of IPython's shell as tracebacks need."""

    def __init__(self) -> None:
        self.custom_exceptions: tuple = ()
        self.handler = None
        self.shown: list[list[str]] = []

    def set_custom_exc(self, kinds, handler):
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, exc_tuple, tb_offset=None):
        trace, names = exc_tuple[2], []
        while trace is not None:
            names.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        self.shown.append(names)


@pytest.fixture
def shell(monkeypatch):
    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "last_traceback", None, raising=False)
    return shell


def depth(trace):
    return 0 if trace is None else 1 + depth(trace.tb_next)


def test_in_ipython_a_traceback_has_the_lines_of_the_program_and_the_whole_one_stays(shell, env, capsys):
    StreamExecutionEnvironment.get_execution_environment()
    assert issubclass(ZeroDivisionError, shell.custom_exceptions)
    env.from_collection([0]).map(lambda n: 1 // n).print()
    with pytest.raises(ZeroDivisionError) as failed:
        env.execute()
    error, whole = failed.value, failed.value.__traceback__
    shell.handler(shell, type(error), error, whole, tb_offset=1)
    assert error.__traceback__ is whole
    assert shell.shown == [["test_in_ipython_a_traceback_has_the_lines_of_the_program_and_the_whole_one_stays"]]
    assert sys.last_traceback is whole
    assert depth(whole) > 5
    assert capsys.readouterr().err == "(%tb shows the full traceback)\n"


def test_a_traceback_without_lines_of_ours_is_shown_as_it_is(shell, env, capsys):
    StreamExecutionEnvironment.get_execution_environment()
    try:
        _ = 1 // 0
    except ZeroDivisionError as error:
        shell.handler(shell, type(error), error, error.__traceback__)
    assert shell.shown == [["test_a_traceback_without_lines_of_ours_is_shown_as_it_is"]]
    assert capsys.readouterr().err == ""


def test_a_handler_that_is_there_stays(shell):
    shell.custom_exceptions = (KeyError,)
    StreamExecutionEnvironment.get_execution_environment()
    assert shell.handler is None


@pytest.mark.slow
def test_outside_of_ipython_it_is_never_imported():
    program = (
        "import sys; from flintstream.table import TableEnvironment as T, EnvironmentSettings as S; "
        "T.create(S.in_streaming_mode()); assert not {'IPython', 'ipykernel', 'jupyter_client'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603
