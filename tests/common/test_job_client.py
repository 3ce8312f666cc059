from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

from flintstream.common import CompletableFuture, JobClient, JobExecutionResult, JobID, JobStatus, completable_future
from flintstream.common.job_listener import JobProgress
from flintstream.errors import JobCancelledError, JobFailedError
from flintstream.metrics.subtask import SubtaskMetrics


class Handle:
    """A job that runs until it is released."""

    def __init__(self) -> None:
        self.job_id = JobID()
        self.over = threading.Event()
        self.failure: Exception | None = None

    def status(self) -> JobStatus:
        return JobStatus.FINISHED if self.over.is_set() else JobStatus.RUNNING

    def cancel(self) -> None:
        self.over.set()

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, savepoint_directory: str | None) -> str:
        self.over.set()
        return f"{savepoint_directory}/{advance_to_end_of_event_time}"

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        return f"{savepoint_directory}/savepoint"

    def accumulators(self) -> dict[str, Any]:
        return {"n": 1}

    def progress(self) -> JobProgress:
        return JobProgress(str(self.job_id), "job", self.status(), 1, 0, 0, 3, 2, None)

    def result(self) -> JobExecutionResult:
        self.over.wait(300)
        if self.failure:
            raise self.failure
        return JobExecutionResult(self.job_id, 5, {"n": 2}, self.metrics())

    def metrics(self):
        return [SubtaskMetrics("op", 1, 0, {"n": 2})]


def test_a_client_asks_its_job():
    handle = Handle()
    client = JobClient(handle)
    assert client.get_job_id() == handle.job_id
    assert client.get_job_status().result(300) is JobStatus.RUNNING
    assert client.get_accumulators().result(300) == {"n": 1}
    assert client.get_metrics().result(300) == handle.metrics()
    assert client.trigger_savepoint("dir").result(300) == "dir/savepoint"
    assert client.stop_with_savepoint(True, "dir").result(300) == "dir/True"
    assert client.get_job_status().result(300) is JobStatus.FINISHED


def test_awaiting_a_job_does_not_block_until_its_result_is_asked_for():
    handle = Handle()
    client = JobClient(handle)
    result = client.get_job_execution_result()
    assert not result.done()
    client.cancel().result(300)
    assert result.result(300).get_net_runtime() == 5
    assert result.result(300).get_metrics() == handle.metrics()
    assert result.done()
    assert result.exception() is None


def test_the_failure_of_a_job_is_raised_where_its_result_is_asked_for():
    handle = Handle()
    handle.failure = JobFailedError("gave up")
    handle.over.set()
    result = JobClient(handle).get_job_execution_result()
    with pytest.raises(JobFailedError, match="gave up"):
        result.result(300)
    assert isinstance(result.exception(), JobFailedError)
    assert str(result) == "CompletableFuture[Completed exceptionally]"


def test_waiting_too_long_is_a_timeout():
    with pytest.raises(TimeoutError):
        CompletableFuture[int]().result(0.01)


def test_waiting_ends_by_a_signal_that_another_thread_receives():
    class EndedError(Exception):
        pass

    def end(number, frame):
        raise EndedError

    def receive():
        time.sleep(0.1)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, end)
    try:
        thread = threading.Thread(target=receive)
        with pytest.raises(EndedError):  # noqa: PT012 - the signal may come as soon as the thread runs
            thread.start()
            CompletableFuture[int]().result()
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_waiting_ends_as_soon_as_a_future_is_cancelled(monkeypatch):
    monkeypatch.setattr(completable_future, "SIGNAL_SECONDS", 300)
    future = CompletableFuture[int]()
    errors: list[BaseException] = []

    def wait():
        try:
            future.result()
        except JobCancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    time.sleep(0.05)
    future.cancel()
    thread.join(60)
    assert errors


def test_a_future_can_be_cancelled_before_it_has_a_result():
    future = CompletableFuture[int]()
    assert str(future) == "CompletableFuture[Not completed]"
    assert future.exception() is None
    assert future.cancel()
    assert future.cancelled()
    assert future.done()
    with pytest.raises(JobCancelledError):
        future.result()


def test_the_first_completion_of_a_future_wins():
    future = CompletableFuture[int]()
    future.set_result(1)
    future.set_result(2)
    future.set_exception(ValueError())
    assert future.result() == 1
    assert not future.cancel()
    assert str(future) == "CompletableFuture[Completed normally]"
    failed = CompletableFuture[int]()
    failed.set_exception(KeyError("k"))
    failed.set_result(1)
    with pytest.raises(KeyError):
        failed.result()


def test_a_result_tells_what_is_left_of_the_job():
    job_id = JobID("00112233445566778899AABBCCDDEEFF")
    result = JobExecutionResult(job_id, 12, {"n": 3})
    assert result.get_job_id() == job_id
    assert (result.get_accumulator_result("n"), result.get_accumulator_result("m")) == (3, None)
    assert result.get_all_accumulator_results() == {"n": 3}
    assert str(result) == "Job 00112233445566778899aabbccddeeff finished after 12 ms.\n- n: 3"


def test_a_result_that_is_still_awaited_can_be_cancelled_and_the_job_goes_on():
    handle = Handle()
    future = JobClient(handle).get_job_execution_result()
    assert future.cancel()
    assert (future.cancelled(), future.done()) == (True, True)
    assert not handle.over.is_set()
    handle.over.set()
    with pytest.raises(JobCancelledError):
        future.result(300)


def test_job_ids_are_values():
    job_id = JobID()
    assert JobID(str(job_id)) == job_id
    assert hash(JobID(str(job_id))) == hash(job_id)
    assert JobID() != job_id
    assert len(str(job_id)) == 32


@pytest.mark.parametrize("text", ["", "xyz", "0" * 31, "g" * 32])
def test_a_job_id_is_32_hexadecimal_digits(text: str):
    with pytest.raises(ValueError, match="32 hexadecimal"):
        JobID(text)


def test_three_states_are_final_and_a_suspended_job_is_only_gone_from_here():
    final = {JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED}
    assert {status for status in JobStatus if status.is_globally_terminal_state()} == final
    assert {status for status in JobStatus if status.is_terminal_state()} == final | {JobStatus.SUSPENDED}
