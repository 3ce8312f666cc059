"""The program of benchmarks/found_input.py in plain Python: a reader of asyncio, and a dict."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from contextlib import suppress


async def count(host: str, port: int) -> None:
    """Count the lines of a server per key, and print them."""
    reader, writer = await asyncio.open_connection(host, port)
    counts: Counter[int] = Counter()
    async for line in reader:
        number, written, key = line.decode().split(",")
        counts[int(key)] += 1
        print(f"found {number} {written} {time.time()}", flush=True)
    writer.close()


if __name__ == "__main__":
    given_host, _, given_port = sys.argv[1].partition(":")
    with suppress(KeyboardInterrupt):
        asyncio.run(count(given_host, int(given_port)))
