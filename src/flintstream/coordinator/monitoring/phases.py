"""Since when a job is in its state, and its tasks are: the times that Flink has as metrics of a job."""

from __future__ import annotations

CREATED, RUNNING, RESTARTING, CANCELLING = "created", "running", "restarting", "cancelling"
STATES = (CREATED, "initializing", RUNNING, "failing", CANCELLING, RESTARTING)
"""States that do not end a job, as in Flink. A job here is never seen in some of them."""


class Phases:
    """The current state of a job and of its tasks. Any thread may read it.

    >>> phases = Phases(0)
    >>> phases.enter(RUNNING, 100)
    >>> phases.deploy(100, 1_700_000_000_000)
    >>> phases.times(160)["deployingTime"], phases.times(160)["runningTime"], phases.times(160)["createdTime"]
    (60, 60, 0)
    >>> phases.all_run(180)
    >>> phases.times(200)["deployingTime"], phases.times(200)["allSubTasksRunningOrFinishedTime"]
    (0, 20)
    >>> phases.enter(RESTARTING, 300)
    >>> phases.times(350)["downtime"], phases.times(350)["allSubTasksRunningOrFinishedTime"]
    (50, 0)
    """

    def __init__(self, now_ms: int) -> None:
        """Start at ``now_ms``, on a clock for durations."""
        self._state = CREATED, now_ms
        self._deploying: int | None = None
        self._all_run: int | None = None
        self.restored_ms: int | None = None
        """When the tasks last started, from a checkpoint or without (ms since the epoch)."""

    def enter(self, state: str, now_ms: int) -> None:
        """Note that the job is in another state."""
        if self._state[0] != CANCELLING:  # which only the end follows
            self._state = state, now_ms
        if state == RESTARTING:
            self._deploying = self._all_run = None

    def deploy(self, now_ms: int, wall_ms: int) -> None:
        """Note that tasks start."""
        self._deploying, self._all_run, self.restored_ms = now_ms, None, wall_ms

    def all_run(self, now_ms: int) -> None:
        """Note that all tasks have run."""
        self._deploying, self._all_run = None, now_ms

    def times(self, now_ms: int, *, ended: bool = False) -> dict[str, object]:
        """Return the times (ms) since the beginning of the states that are the current ones, and 0 for others."""
        name, since = self._state
        spent = {f"{state}Time": now_ms - since if state == name and not ended else 0 for state in STATES}
        down = 0 if ended or name in (CREATED, RUNNING) else now_ms - since
        return {**spent, "downtime": down, **self._of_tasks(now_ms, ended=ended)}

    def _of_tasks(self, now_ms: int, *, ended: bool) -> dict[str, int]:
        names = {"deployingTime": self._deploying, "allSubTasksRunningOrFinishedTime": self._all_run}
        return {name: 0 if since is None or ended else now_ms - since for name, since in names.items()}
