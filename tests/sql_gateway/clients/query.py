"""Reads a table with a driver for Python's DB-API, and prints what it gets."""

import os
import sys

import httpx  # type: ignore[import-not-found]
from flink_gateway import connect  # type: ignore[import-not-found]

client = httpx.Client(headers={"Authorization": f"Bearer {os.environ['FLINTSTREAM_REST_TOKEN']}"})
with client, connect(sys.argv[1], properties={"execution.runtime-mode": "batch"}, http_client=client) as connection:
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIEW fruit AS SELECT * FROM (VALUES (1, 'pear'), (2, 'apple')) AS t (id, name)")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, name, CAST(1.25 AS DECIMAL(5, 2)) AS price, TIMESTAMP '2026-01-02 03:04:05.678' AS made, "
            "ROW(id, name) AS pair, ARRAY[id] AS ids FROM fruit ORDER BY id"
        )
        print([column[0] for column in cursor.description])
        for row in cursor:
            print(row)
