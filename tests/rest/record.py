"""Record the shape of the replies of a real Flink REST server, with the Python of an installation of PyFlink:

``PYTHONPATH=. /path/to/pyflink/bin/python tests/rest/record.py tests/rest/goldens.json``
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

PORT = 18081


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}{path}", data, {"Content-Type": "application/json"}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
            return reply.status, json.loads(reply.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def failing(directory):
    """Return a function that fails once when there is a file of this name."""

    def function(n):
        import os

        if os.path.exists(f"{directory}/fail"):  # noqa: PTH110
            os.remove(f"{directory}/fail")  # noqa: PTH107
            raise ValueError(f"no good: {n}")
        return n + 1

    return function


def start(directory):
    from pyflink.common import Configuration, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.number_seq import NumberSequenceSource

    config = Configuration()
    for key, value in {
        "rest.bind-port": str(PORT),
        "rest.port": str(PORT),
        "rest.bind-address": "127.0.0.1",
        "rest.address": "127.0.0.1",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "python.fn-execution.bundle.size": "100",
        "metrics.fetcher.update-interval": "500",
        "execution.checkpointing.interval": "500 ms",
        "execution.checkpointing.dir": f"file://{directory}/checkpoints",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "100 ms",
    }.items():
        config.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_parallelism(1)
    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.for_monotonous_timestamps(), "numbers")
    numbers.key_by(lambda n: n % 3).map(failing(directory)).filter(lambda n: n < 0).print()
    return env.execute_async("recorded")


def main(target):  # noqa: PLR0915 - one request after the other
    from tests.rest.shape import shape

    directory = tempfile.mkdtemp()
    client = start(directory)
    job = str(client.get_job_id())
    for _ in range(45):
        time.sleep(1)
        status, reply = call("GET", f"/v1/jobs/{job}/checkpoints")
        if status == 200 and reply["latest"]["completed"]:
            break
    raw = {}

    def get(name, path, method="GET", body=None):
        status, reply = call(method, path, body)
        raw[name] = {"status": status, "reply": reply}
        return reply

    get("GET /v1/config", "/v1/config")
    get("GET /v1/overview", "/v1/overview")
    get("GET /v1/jobs", "/v1/jobs")
    get("GET /v1/jobs/overview", "/v1/jobs/overview")
    detail = get("GET /v1/jobs/:jobid", f"/v1/jobs/{job}")
    get("GET /v1/jobs/:jobid (unknown)", f"/v1/jobs/{'0' * 32}")
    get("GET /v1/jobs/:jobid (malformed)", "/v1/jobs/x")
    get("GET /v1/nothing", "/v1/nothing")
    for part in (
        "plan",
        "config",
        "exceptions",
        "checkpoints",
        "checkpoints/config",
        "metrics",
        "accumulators",
        "status",
    ):
        get(f"GET /v1/jobs/:jobid/{part}", f"/v1/jobs/{job}/{part}")
    get("GET /v1/jobs/:jobid/metrics?get=", f"/v1/jobs/{job}/metrics?get=numRestarts,uptime")
    checkpoints = raw["GET /v1/jobs/:jobid/checkpoints"]["reply"]
    number = checkpoints["latest"]["completed"]["id"]
    get("GET /v1/jobs/:jobid/checkpoints/details/:checkpointid", f"/v1/jobs/{job}/checkpoints/details/{number}")
    vertex = detail["vertices"][-1]["id"]
    get("GET /v1/jobs/:jobid/vertices/:vertexid", f"/v1/jobs/{job}/vertices/{vertex}")
    for part in ("backpressure", "metrics", "watermarks", "subtasktimes", "taskmanagers", "accumulators"):
        get(f"GET /v1/jobs/:jobid/vertices/:vertexid/{part}", f"/v1/jobs/{job}/vertices/{vertex}/{part}")
    time.sleep(3)
    get("GET /v1/jobs/:jobid/vertices/:vertexid/backpressure", f"/v1/jobs/{job}/vertices/{vertex}/backpressure")
    get(
        "GET /v1/jobs/:jobid/vertices/:vertexid/subtasks/metrics?get=",
        f"/v1/jobs/{job}/vertices/{vertex}/subtasks/metrics?get=numRecordsIn",
    )
    get("GET /v1/jobs/:jobid/vertices/:vertexid/subtasks/metrics", f"/v1/jobs/{job}/vertices/{vertex}/subtasks/metrics")
    get("GET /v1/jobs/:jobid/vertices/:vertexid/subtasks/0", f"/v1/jobs/{job}/vertices/{vertex}/subtasks/0")
    get("GET /v1/jobs/:jobid/vertices/:vertexid/subtasks/7 (unknown)", f"/v1/jobs/{job}/vertices/{vertex}/subtasks/7")
    for part in ("attempts/0", "attempts/0/accumulators", "metrics"):
        get(
            f"GET /v1/jobs/:jobid/vertices/:vertexid/subtasks/0/{part}",
            f"/v1/jobs/{job}/vertices/{vertex}/subtasks/0/{part}",
        )
    get(
        "GET /v1/jobs/:jobid/vertices/:vertexid/subtasks/accumulators",
        f"/v1/jobs/{job}/vertices/{vertex}/subtasks/accumulators",
    )
    get(
        "GET /v1/jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid",
        f"/v1/jobs/{job}/checkpoints/details/{number}/subtasks/{vertex}",
    )
    get(
        "GET /v1/jobs/:jobid/checkpoints/details/99999999 (unknown)",
        f"/v1/jobs/{job}/checkpoints/details/99999999",
    )
    get("GET /v1/jars", "/v1/jars")
    get("GET /v1/datasets", "/v1/datasets")
    get("GET /v1/jobmanager/thread-dump", "/v1/jobmanager/thread-dump")
    get("GET /v1/jobs/:jobid/execution-result", f"/v1/jobs/{job}/execution-result")
    get("GET /v1/jobs/:jobid/jobmanager/log-url", f"/v1/jobs/{job}/jobmanager/log-url")
    get("GET /v1/jobs/:jobid/vertices/:vertexid/flamegraph", f"/v1/jobs/{job}/vertices/{vertex}/flamegraph")
    get("GET /v1/applications", "/v1/applications")
    application = get("GET /v1/applications/overview", "/v1/applications/overview")["applications"][0]["id"]
    get("GET /v1/applications/:applicationid", f"/v1/applications/{application}")
    get("GET /v1/applications/:applicationid/exceptions", f"/v1/applications/{application}/exceptions")
    get("GET /v1/jobs/metrics", "/v1/jobs/metrics")
    get("GET /v1/jobs/metrics?get=", "/v1/jobs/metrics?get=numRestarts,uptime")
    get("GET /v1/jobmanager/config", "/v1/jobmanager/config")
    get("GET /v1/jobmanager/environment", "/v1/jobmanager/environment")
    get("GET /v1/jobmanager/logs", "/v1/jobmanager/logs")
    get("GET /v1/jobmanager/metrics", "/v1/jobmanager/metrics")
    get("GET /v1/jobs/:jobid/jobmanager/config", f"/v1/jobs/{job}/jobmanager/config")
    get("GET /v1/jobs/:jobid/jobmanager/environment", f"/v1/jobs/{job}/jobmanager/environment")
    managers = get("GET /v1/taskmanagers", "/v1/taskmanagers")
    manager = managers["taskmanagers"][0]["id"]
    get("GET /v1/taskmanagers/:taskmanagerid", f"/v1/taskmanagers/{manager}")
    get("GET /v1/taskmanagers/:taskmanagerid (unknown)", "/v1/taskmanagers/x")
    get("GET /v1/taskmanagers/:taskmanagerid/metrics", f"/v1/taskmanagers/{manager}/metrics")
    get("GET /v1/taskmanagers/:taskmanagerid/logs", f"/v1/taskmanagers/{manager}/logs")
    get("GET /v1/taskmanagers/:taskmanagerid/thread-dump", f"/v1/taskmanagers/{manager}/thread-dump")
    get("GET /v1/jobs/:jobid/taskmanagers/:taskmanagerid/log-url", f"/v1/jobs/{job}/taskmanagers/{manager}/log-url")
    get("GET /v1/taskmanagers/metrics", "/v1/taskmanagers/metrics")
    trigger = get(
        "POST /v1/jobs/:jobid/savepoints",
        f"/v1/jobs/{job}/savepoints",
        "POST",
        {"target-directory": f"file://{directory}/s"},
    )
    place = f"/v1/jobs/{job}/savepoints/{trigger['request-id']}"
    get("GET /v1/jobs/:jobid/savepoints/:triggerid (in progress)", place)
    for _ in range(30):
        time.sleep(0.3)
        if get("GET /v1/jobs/:jobid/savepoints/:triggerid", place)["status"]["id"] == "COMPLETED":
            break
    get("GET /v1/jobs/:jobid/savepoints/:triggerid (unknown)", f"/v1/jobs/{job}/savepoints/{'0' * 32}")
    trigger = get("POST /v1/jobs/:jobid/checkpoints", f"/v1/jobs/{job}/checkpoints", "POST", {"checkpointType": "FULL"})
    place = f"/v1/jobs/{job}/checkpoints/{trigger['request-id']}"
    for _ in range(30):
        time.sleep(0.3)
        if get("GET /v1/jobs/:jobid/checkpoints/:triggerid", place)["status"]["id"] == "COMPLETED":
            break
    Path(directory, "fail").touch()
    for _ in range(60):
        time.sleep(0.5)
        restored = call("GET", f"/v1/jobs/{job}/checkpoints")[1]["latest"]["restored"]
        if restored and call("GET", f"/v1/jobs/{job}/status")[1]["status"] == "RUNNING":
            break
    time.sleep(3)
    get("GET /v1/jobs/:jobid/exceptions (after a failure)", f"/v1/jobs/{job}/exceptions")
    get("GET /v1/jobs/:jobid/checkpoints (after a failure)", f"/v1/jobs/{job}/checkpoints")
    get("PATCH /v1/jobs/:jobid?mode=cancel", f"/v1/jobs/{job}?mode=cancel", "PATCH")
    Path(target + ".raw").write_text(json.dumps(raw, indent=1))
    shapes = {name: {"status": item["status"], "reply": shape(item["reply"])} for name, item in sorted(raw.items())}
    Path(target).write_text(json.dumps(shapes, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
