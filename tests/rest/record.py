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
    }.items():
        config.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    env.set_parallelism(1)
    numbers = env.from_source(NumberSequenceSource(0, 10**12), WatermarkStrategy.for_monotonous_timestamps(), "numbers")
    numbers.key_by(lambda n: n % 3).map(lambda n: n + 1).filter(lambda n: n < 0).print()
    return env.execute_async("recorded")


def main(target):
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
    get("GET /v1/taskmanagers", "/v1/taskmanagers")
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
    get("PATCH /v1/jobs/:jobid?mode=cancel", f"/v1/jobs/{job}?mode=cancel", "PATCH")
    Path(target + ".raw").write_text(json.dumps(raw, indent=1))
    shapes = {name: {"status": each["status"], "reply": shape(each["reply"])} for name, each in sorted(raw.items())}
    Path(target).write_text(json.dumps(shapes, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
