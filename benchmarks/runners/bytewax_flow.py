"""Bytewax: two processes, an exchange by key between them."""

# ruff: noqa: ANN201, ARG001, ARG002, D103 - as a user of that engine would write it

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SETTINGS = "KEYED_COUNT"
BATCH = 4096


def get_flow():
    import bytewax.operators as op  # noqa: PLC0415
    from bytewax.dataflow import Dataflow  # noqa: PLC0415
    from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition  # noqa: PLC0415
    from bytewax.outputs import DynamicSink, StatelessSinkPartition  # noqa: PLC0415
    from options import SPREAD  # noqa: PLC0415

    records, keys, every, output = os.environ[SETTINGS].split(",", 3)
    records, keys, every = int(records), int(keys), int(every)

    class Numbers(StatefulSourcePartition):
        def __init__(self, first: int, last: int) -> None:
            self.next, self.last = first, last

        def next_batch(self) -> range:
            if self.next >= self.last:
                raise StopIteration
            first, self.next = self.next, min(self.next + BATCH, self.last)
            return range(first, self.next)

        def snapshot(self) -> int:
            return self.next

    class Source(FixedPartitionedSource):
        def list_parts(self) -> list[str]:
            return ["0", "1"]

        def build_part(self, step_id: str, for_part: str, resume_state: object) -> Numbers:
            half = records // 2
            return Numbers(0, half) if for_part == "0" else Numbers(half, records)

    class Lines(StatelessSinkPartition):
        def __init__(self, path: str) -> None:
            self.file = open(path, "w")  # noqa: PTH123, SIM115

        def write_batch(self, items: list[tuple[str, int]]) -> None:
            self.file.writelines(f"({key},{number})\n" for key, number in items)

        def close(self) -> None:
            self.file.close()

    class Sink(DynamicSink):
        def build(self, step_id: str, worker_index: int, worker_count: int) -> Lines:
            return Lines(f"{output}/part-{worker_index}")

    def count(state: int | None, value: int) -> tuple[int, list[int]]:
        number = (state or 0) + 1
        return number, [number] if number % every == 0 else []

    flow = Dataflow("keyed_count")
    numbers = op.input("numbers", flow, Source())
    pairs = op.map("to_pair", numbers, lambda n: (str(n * SPREAD % keys), n))  # its keys must be str
    op.output("files", op.stateful_flat_map("count", pairs, count), Sink())
    return flow


def main() -> None:
    from options import read  # noqa: PLC0415

    options = read()
    here = str(Path(__file__).parent)
    environment = {
        **os.environ,
        SETTINGS: f"{options.records},{options.keys},{options.every},{options.output}",
        "PYTHONPATH": here,
    }
    command = [sys.executable, "-m", "bytewax.testing", "-p", "2", "-w", "1", "bytewax_flow:get_flow()"]
    subprocess.run(command, check=True, env=environment)  # noqa: S603 - our own program


if __name__ == "__main__":
    main()
