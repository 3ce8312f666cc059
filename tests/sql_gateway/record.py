"""Record how Flink's SQL gateway describes types and writes values, from one that runs:

``python -m tests.sql_gateway.record http://127.0.0.1:8083 tests/sql_gateway/goldens.json``
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

EXPRESSIONS = (
    "CAST(1 AS TINYINT)",
    "CAST(2 AS SMALLINT)",
    "3",
    "CAST(9223372036854775807 AS BIGINT)",
    "CAST(1.1 AS FLOAT)",
    "CAST(2.5 AS DOUBLE)",
    "1e30",
    "CAST(0.00001 AS DOUBLE)",
    "CAST('NaN' AS DOUBLE)",
    "CAST('Infinity' AS DOUBLE)",
    "CAST('-Infinity' AS DOUBLE)",
    "CAST(1.2 AS DECIMAL(5, 2))",
    "TRUE",
    "'x'",
    "'\"quoted\", ü'",
    "CAST('abc' AS CHAR(5))",
    "CAST('abc' AS VARCHAR(7))",
    "CAST('abc' AS STRING)",
    "X'0102ff'",
    "CAST(X'04' AS BINARY(2))",
    "CAST(X'04' AS BYTES)",
    "DATE '2026-01-02'",
    "TIME '10:11:12'",
    "CAST('10:11:12.5' AS TIME(3))",
    "TIMESTAMP '2026-01-02 03:04:05'",
    "TIMESTAMP '2026-01-02 03:04:05.6'",
    "CAST(TIMESTAMP '2026-01-02 03:04:05.678' AS TIMESTAMP(6))",
    "CAST(TIMESTAMP '2026-01-02 03:04:05.678' AS TIMESTAMP_LTZ(3))",
    "INTERVAL '3' DAY",
    "INTERVAL '1-2' YEAR TO MONTH",
    "ARRAY[1, 2]",
    "ARRAY[X'01']",
    "MAP['a', 1]",
    "CAST(ROW(1, 'z') AS ROW<x INT, y STRING>)",
    "CAST(NULL AS STRING)",
    "CAST(NULL AS ROW<x INT, y ARRAY<TIMESTAMP(3)>>)",
    "CAST(NULL AS MULTISET<INT>)",
    "CAST(NULL AS MAP<STRING, DATE>)",
)
"""Each is a column ``c`` of one row. How many digits a large FLOAT has depends on the release of Java."""
STATEMENTS = (
    "SHOW CURRENT CATALOG",
    "SHOW CURRENT DATABASE",
    "SHOW CATALOGS",
    "SHOW DATABASES",
    "SHOW TABLES",
    "SHOW VIEWS",
    "SHOW JARS",
    "SHOW MODULES",
    "USE CATALOG default_catalog",
    "SET 'table.local-time-zone' = 'UTC'",
    "RESET 'table.local-time-zone'",
    "CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'datagen')",
    "DESCRIBE t",
    "BEGIN STATEMENT SET",
)


class Recorder:
    """Calls a gateway."""

    def __init__(self, address: str) -> None:
        """Open a session."""
        self._address = address
        self.session = self.call("POST", "/v4/sessions", {"properties": {"execution.runtime-mode": "batch"}})[
            "sessionHandle"
        ]

    def call(self, method, path, body=None):
        """Return a reply, also one of an error."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 - a server of this machine
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
                return json.loads(reply.read(), parse_float=str)
        except urllib.error.HTTPError as error:
            return json.loads(error.read())

    def run(self, statement, row_format):
        """Return columns, rows and kind of a result; None if the gateway has no form for it."""
        session = f"/v4/sessions/{self.session}"
        operation = self.call("POST", f"{session}/statements", {"statement": statement})["operationHandle"]
        address = f"{session}/operations/{operation}/result/0?rowFormat={row_format}"
        rows, reply = [], {}
        while address is not None:
            reply = self.call("GET", address)
            if "errors" in reply:
                return None
            address = reply.get("nextResultUri")
            if reply["resultType"] == "NOT_READY":
                time.sleep(0.05)
                continue
            rows += reply["results"]["data"]
            time.sleep(0.02)
        kind = {name: reply[name] for name in ("resultKind", "isQueryResult")}
        return {"columns": reply["results"]["columns"], "rows": rows, **kind}


def main(address, target):
    """Record."""
    recorder = Recorder(address)
    forms = ("JSON", "PLAIN_TEXT")
    found = {
        statement: {form: recorder.run(statement, form) for form in forms}
        for statement in (f"SELECT {expression} AS c" for expression in EXPRESSIONS)
    }
    found |= {statement: {"JSON": recorder.run(statement, "JSON")} for statement in STATEMENTS}
    lines = [f"{json.dumps(statement)}: {json.dumps(forms)}" for statement, forms in found.items()]
    Path(target).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
