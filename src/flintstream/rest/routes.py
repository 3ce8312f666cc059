"""The requests that the server answers, in Flink's shape unless they begin with ``/flintstream``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flintstream import __version__
from flintstream.coordinator.monitoring.descriptions import PARTS
from flintstream.rest import checkpoints, cluster, diagnostics, jobs, logs, metrics, replies, vertices
from flintstream.rest.bodies import directory_of, trigger_of, upper_bounds
from flintstream.rest.records import (
    RefusedError,
    Triggers,
    cancel,
    checked_id,
    curves_of,
    log_of,
    record_of,
    records,
    rescale,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.rest.replies import Record


@dataclass(frozen=True)
class Request:
    """What a caller has sent: the parameters in the path, those after the question mark, and the body."""

    path: dict[str, str]
    query: dict[str, str]
    body: dict[str, Any]
    address: str = ""
    """Where the caller has reached the server, as ``http://127.0.0.1:8081``."""
    version: str = ""
    """The beginning of the path, such as ``/v1``."""
    user: str = ""
    """The name that the caller gives beside the token; empty if it gives none."""


class JsonText(str):
    """A reply that is JSON already."""

    __slots__ = ()


@dataclass(frozen=True)
class Route:
    """A request that is answered."""

    method: str
    path: str
    summary: str
    reply: Callable[[Request], object]
    status: int = 200
    kind: str = "application/json"
    """What the reply is; a text is sent as it is."""
    versions: tuple[str, ...] = ("", "/v1")
    """What the path may begin with."""
    takes_body: bool = False
    """Whether a GET may have a body."""
    longest_body: int = 1 << 16
    """In bytes."""


def routes() -> list[Route]:
    """Return all requests that the server answers."""
    return [
        *_about_the_server(),
        *_about_jobs(),
        *_about_vertices(),
        *_actions(Triggers()),
        *_diagnostics(),
        *_for_the_page(),
    ]


def _record(request: Request, *parts: str) -> Record:
    return record_of(request.path["jobid"], *parts)


def _vertex(request: Request, *parts: str) -> tuple[Record, dict[str, Any]]:
    record = _record(request, "plan", *parts)
    wanted = request.path["vertexid"]
    checked_id(wanted, "vertexid")
    for vertex in record["plan"]["vertices"]:
        if vertex["id"] == wanted:
            return record, vertex
    raise RefusedError(404, f"Vertex {wanted} not found")


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise RefusedError(400, f'Cannot resolve the parameter ({name}) from value "{text[:100]}".')
    return int(text)


def _require(reply: object, what: str) -> Any:
    if reply is None:
        raise RefusedError(404, f"{what} not found")
    return reply


def _about_the_server() -> list[Route]:
    def task_manager(request: Request) -> object:
        wanted = request.path["taskmanagerid"]
        return _require(cluster.task_manager(records("status", "plan"), wanted), f"Task manager {wanted}")

    def together(request: Request) -> object:
        wanted = request.query.get("jobs", "").split(",")
        known = [record for record in records("metrics") if wanted == [""] or record["job_id"] in wanted]
        return metrics.together([item["metrics"]["totals"] for item in known], request.query)

    return [
        Route("GET", "/config", "The server", lambda _: cluster.config(__version__)),
        Route(
            "GET",
            "/overview",
            "The number of jobs in each state",
            lambda _: cluster.overview(records("status", "plan"), __version__),
        ),
        Route(
            "GET",
            "/taskmanagers",
            "The processes of running jobs",
            lambda _: cluster.task_managers(records("status", "plan")),
        ),
        Route("GET", "/taskmanagers/metrics", "Metrics of these processes (always empty)", lambda _: []),
        Route("GET", "/taskmanagers/:taskmanagerid", "One of these processes", task_manager),
        Route("GET", "/taskmanagers/:taskmanagerid/metrics", "Its metrics (always empty)", lambda _: []),
        Route("GET", "/taskmanagers/:taskmanagerid/logs", "Its log files (always empty)", lambda _: {"logs": []}),
        Route("GET", "/jobmanager/config", "The configuration of the server (always empty)", lambda _: []),
        Route("GET", "/jobmanager/environment", "The interpreter of the server", lambda _: cluster.environment()),
        Route("GET", "/jobmanager/metrics", "Metrics of the server (always empty)", lambda _: []),
        Route("GET", "/jobmanager/logs", "Log files of jobs that run in the background", lambda _: logs.list_files()),
        Route(
            "GET",
            "/jobmanager/logs/:filename",
            "The text of one of these files",
            lambda request: logs.read_file(request.path["filename"]),
            kind="text/plain",
        ),
        Route("GET", "/jobs/metrics", "Aggregated metrics of several jobs", together),
        Route(
            "GET",
            "/applications/overview",
            "All jobs, as applications",
            lambda _: jobs.applications(records("status")),
        ),
    ]


def _about_jobs() -> list[Route]:
    def on(reply: Callable[[Record], object], *parts: str) -> Callable[[Request], object]:
        return lambda request: reply(_record(request, *parts))

    def exceptions(request: Request) -> object:
        longest = request.query.get("maxExceptions")
        return jobs.exceptions(
            _record(request, "exceptions"), None if longest is None else _number(longest, "maxExceptions")
        )

    def checkpoint(request: Request) -> object:
        number = _number(request.path["checkpointid"], "checkpointid")
        return _require(checkpoints.details(_record(request, "checkpoints", "plan"), number), f"Checkpoint {number}")

    def checkpoint_of_vertex(request: Request) -> object:
        record, vertex = _vertex(request, "checkpoints", "status")
        number = _number(request.path["checkpointid"], "checkpointid")
        return _require(checkpoints.subtask_details(record, number, vertex["id"]), f"Checkpoint {number}")

    def job_metrics(request: Request) -> object:
        return metrics.list_metrics(_record(request, "metrics")["metrics"]["totals"], request.query.get("get"))

    def application(reply: Callable[[Record], object], *parts: str) -> Callable[[Request], object]:
        return lambda request: reply(record_of(request.path["applicationid"], *parts))

    details = "/jobs/:jobid/checkpoints/details/:checkpointid"
    return [
        Route("GET", "/jobs", "The id and state of each job", lambda _: jobs.jobs(records("status"))),
        Route("GET", "/jobs/overview", "All jobs", lambda _: jobs.jobs_overview(records("status", "plan"))),
        Route("GET", "/jobs/:jobid", "A job", on(jobs.job, "status", "plan", "metrics")),
        Route(
            "GET", "/jobs/:jobid/status", "Its state", on(lambda record: {"status": replies.state(record)}, "status")
        ),
        Route("GET", "/jobs/:jobid/plan", "Its plan", on(jobs.plan, "plan")),
        Route("GET", "/jobs/:jobid/config", "Its configuration", on(jobs.config, "plan", "configuration")),
        Route(
            "GET", "/jobs/:jobid/jobmanager/config", "Its configuration, as a list", on(jobs.settings, "configuration")
        ),
        Route("GET", "/jobs/:jobid/jobmanager/environment", "The interpreter", on(lambda _: cluster.environment())),
        Route(
            "GET", "/jobs/:jobid/resource-requirements", "The parallelism of its chains", on(jobs.requirements, "plan")
        ),
        Route("GET", "/jobs/:jobid/exceptions", "Its errors, latest first", exceptions),
        Route("GET", "/jobs/:jobid/accumulators", "Its accumulators (always empty)", on(jobs.accumulators)),
        Route(
            "GET",
            "/jobs/:jobid/checkpoints",
            "Its checkpoints",
            on(checkpoints.checkpoints, "checkpoints", "status", "plan", "exceptions"),
        ),
        Route(
            "GET", "/jobs/:jobid/checkpoints/config", "Its checkpoint settings", on(checkpoints.config, "checkpoints")
        ),
        Route("GET", details, "A checkpoint", checkpoint),
        Route("GET", f"{details}/subtasks/:vertexid", "A checkpoint, for one chain of operators", checkpoint_of_vertex),
        Route("GET", "/jobs/:jobid/metrics", "The names of its metrics, or the values of those in 'get'", job_metrics),
        Route(
            "GET",
            "/applications/:applicationid",
            "A job, as an application",
            application(jobs.application, "status", "plan"),
        ),
        Route(
            "GET",
            "/applications/:applicationid/exceptions",
            "Always empty: see the exceptions of the job",
            application(jobs.application_exceptions),
        ),
    ]


def _about_vertices() -> list[Route]:
    def on(reply: Callable[[Record, dict[str, object]], object]) -> Callable[[Request], object]:
        return lambda request: reply(*_vertex(request, "status", "metrics"))

    def on_subtask(reply: Callable[[Record, dict[str, object], int], object]) -> Callable[[Request], object]:
        def answer(request: Request) -> object:
            record, vertex = _vertex(request, "status", "metrics")
            number = _number(request.path["subtaskindex"], "subtaskindex")
            if number >= vertex["parallelism"]:
                raise RefusedError(404, f"Invalid subtask index for vertex {vertex['id']}")
            return reply(record, vertex, number)

        return answer

    def vertex_metrics(request: Request) -> object:
        record, vertex = _vertex(request, "metrics")
        return metrics.list_metrics(metrics.of_vertex(record, vertex["id"]), request.query.get("get"))

    def together(request: Request) -> object:
        record, vertex = _vertex(request, "metrics")
        return metrics.together(metrics.by_subtask(record, vertex["id"]).values(), request.query)

    def coordinators(request: Request) -> object:
        _vertex(request)
        return metrics.list_metrics({}, request.query.get("get"))

    def subtask_metrics(request: Request) -> object:
        record, vertex = _vertex(request, "metrics")
        values = metrics.by_subtask(record, vertex["id"]).get(_number(request.path["subtaskindex"], "subtaskindex"), {})
        return metrics.list_metrics(values, request.query.get("get"))

    place = "/jobs/:jobid/vertices/:vertexid"
    one = f"{place}/subtasks/:subtaskindex"
    return [
        Route("GET", place, "A chain of operators", on(vertices.vertex)),
        Route("GET", f"{place}/subtasktimes", "When its subtasks started and ended", on(vertices.subtask_times)),
        Route("GET", f"{place}/taskmanagers", "The processes that run its subtasks", on(vertices.task_managers)),
        Route("GET", f"{place}/accumulators", "Its accumulators (always empty)", on(vertices.accumulators)),
        Route("GET", f"{place}/backpressure", "How its subtasks spend their time", on(vertices.back_pressure)),
        Route("GET", f"{place}/watermarks", "The watermarks of its subtasks", on(vertices.watermarks)),
        Route("GET", f"{place}/metrics", "Its metrics", vertex_metrics),
        Route("GET", f"{place}/jm-operator-metrics", "Metrics of its coordinators (always empty)", coordinators),
        Route("GET", f"{place}/subtasks/metrics", "Aggregated metrics of its subtasks", together),
        Route(
            "GET",
            f"{place}/subtasks/accumulators",
            "Accumulators of its subtasks (always empty)",
            on(vertices.subtask_accumulators),
        ),
        Route("GET", one, "A subtask", on_subtask(vertices.subtask)),
        Route("GET", f"{one}/metrics", "Its metrics", subtask_metrics),
        Route("GET", f"{one}/attempts/:attempt", "Its attempt", on_subtask(vertices.subtask)),
        Route(
            "GET",
            f"{one}/attempts/:attempt/accumulators",
            "Accumulators of its attempt (always empty)",
            on_subtask(vertices.attempt_accumulators),
        ),
    ]


def _actions(triggers: Triggers) -> list[Route]:
    def savepoint(request: Request) -> object:
        job, wanted = request.path["jobid"], trigger_of(request.body)
        directory = directory_of(job, request.body, "target-directory")
        if request.body.get("cancel-job"):
            return {"request-id": triggers.start(job, "stop", wanted, directory=directory, drain=False)}
        return {"request-id": triggers.start(job, "savepoint", wanted, directory=directory)}

    def stop(request: Request) -> object:
        job, wanted = request.path["jobid"], trigger_of(request.body)
        directory, drain = directory_of(job, request.body, "targetDirectory"), request.body.get("drain") is True
        return {"request-id": triggers.start(job, "stop", wanted, directory=directory, drain=drain)}

    def cancel_job(request: Request) -> object:
        mode = request.query.get("mode", "cancel")
        if mode != "cancel":
            raise RefusedError(400, f"unknown mode '{mode}': use 'cancel', or POST .../stop")
        cancel(request.path["jobid"])
        return {}

    def heartbeat(request: Request) -> object:
        record_of(request.path["jobid"], "status")
        return {}

    def application_cancelled(request: Request) -> object:
        cancel(request.path["applicationid"])
        return {}

    def require_job(request: Request) -> object:
        rescale(request.path["jobid"], vertices=upper_bounds(request.body), wait=False)
        return {}

    def checkpoint(request: Request) -> object:
        kind = request.body.get("checkpointType") or "CONFIGURED"
        if kind not in diagnostics.CHECKPOINT_TYPES:
            raise RefusedError(400, f"'checkpointType' must be one of {', '.join(diagnostics.CHECKPOINT_TYPES)}")
        work = partial(diagnostics.take_checkpoint, kind=str(kind))
        return {"request-id": triggers.begin(request.path["jobid"], work, trigger_of(request.body))}

    def savepoint_status(request: Request) -> object:
        return triggers.status(request.path["jobid"], request.path["triggerid"])

    return [
        Route("POST", "/jobs/:jobid/savepoints", "Take a savepoint below 'target-directory'", savepoint, 202),
        Route("GET", "/jobs/:jobid/savepoints/:triggerid", "The status of that savepoint", savepoint_status),
        Route("POST", "/jobs/:jobid/checkpoints", "Take a checkpoint", checkpoint, 202),
        Route("GET", "/jobs/:jobid/checkpoints/:triggerid", "The status of that checkpoint", savepoint_status),
        Route("POST", "/jobs/:jobid/stop", "Stop the job with a savepoint below 'targetDirectory'", stop, 202),
        Route("PUT", "/jobs/:jobid/resource-requirements", "Change the parallelism of its chains", require_job),
        Route("PATCH", "/jobs/:jobid", "Cancel the job; the reply is sent when the job has ended", cancel_job, 202),
        Route("PATCH", "/jobs/:jobid/clientHeartbeat", "Has no effect: jobs do not need heartbeats", heartbeat, 202),
        Route("POST", "/applications/:applicationid/cancel", "Cancel the job", application_cancelled, 202),
    ]


def _diagnostics() -> list[Route]:
    def dump_of_manager(request: Request) -> object:
        _require(cluster.task_manager(records("status", "plan"), request.path["taskmanagerid"]), "TaskManager")
        return diagnostics.thread_dump()

    def result(request: Request) -> object:
        return diagnostics.execution_result(_record(request, "status"))

    def log(request: Request) -> object:
        return diagnostics.log_url(request.address, _record(request))

    def flame_graph(request: Request) -> object:
        _vertex(request)
        return diagnostics.flame_graph()

    job = "/jobs/:jobid"
    return [
        Route("GET", "/jars", "Uploaded programs (always empty)", lambda r: diagnostics.jars(r.address)),
        Route("GET", "/datasets", "Data sets that are kept (always empty)", lambda _: diagnostics.datasets()),
        Route("GET", "/jobmanager/thread-dump", "Threads of the server", lambda _: diagnostics.thread_dump()),
        Route("GET", "/taskmanagers/:taskmanagerid/thread-dump", "Threads of the server", dump_of_manager),
        Route("GET", f"{job}/execution-result", "Whether it has ended, and how", result),
        Route("GET", f"{job}/jobmanager/log-url", "The URL of its log", log),
        Route("GET", f"{job}/taskmanagers/:taskmanagerid/log-url", "The URL of its log", log),
        Route("GET", f"{job}/vertices/:vertexid/flamegraph", "A flame graph (always disabled)", flame_graph),
    ]


def _for_the_page() -> list[Route]:
    def overview(_: Request) -> object:
        names = ("job_id", "name", "host", "pid", "started_ms", "ended_ms", "status")
        return [
            {**{name: item[name] for name in names}, "error": item.get("error"), "batch": item["plan"]["batch"]}
            for item in records("status", "plan")
        ]

    def record(request: Request) -> object:
        return {name: value for name, value in _record(request, *PARTS).items() if name not in {"curves", "log"}}

    def curves(request: Request) -> object:
        return curves_of(request.path["jobid"], _number(request.query.get("since", "0"), "since"))

    def change(request: Request) -> object:
        parallelism = request.body.get("parallelism")
        if not isinstance(parallelism, int) or isinstance(parallelism, bool):
            raise RefusedError(400, "'parallelism' must be a number")
        rescale(request.path["jobid"], parallelism=parallelism)
        return {}

    return [
        Route("POST", "/flintstream/jobs/:jobid/rescale", "Change the 'parallelism' of a job", change),
        Route("GET", "/flintstream/jobs", "All jobs, in flintstream's own form", overview),
        Route("GET", "/flintstream/jobs/:jobid", "Everything that is known about a job", record),
        Route("GET", "/flintstream/jobs/:jobid/curves", "Samples of its totals after 'since' (ms)", curves),
        Route("GET", "/flintstream/jobs/:jobid/log", "The last lines of its log", lambda r: log_of(r.path["jobid"])),
    ]
