"""Write a checkpoint with files of RocksDB, which later commits must restore.

Run ``python -m tests.compat.record_checkpoint NAME`` once per change to these files or their names, never to make a
failing test pass: recorded checkpoints stay.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from tests.engine.sources import PacedSource
from tests.waiting import wait_for_numbers

from flintstream.common import Types, WatermarkStrategy
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.functions import KeyedProcessFunction
from flintstream.datastream.state import ListStateDescriptor, ValueStateDescriptor
from flintstream.testing import CollectSink

CHECKPOINTS = Path(__file__).parent / "checkpoints"
RECORDS = 40


class Sums(KeyedProcessFunction):
    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value)
        self.seen.add(value)
        yield value, self.sum.value(), len(list(self.seen.get()))


def started(directory, hold, **more):
    """Start the job, whose second half waits for the file ``hold``; return its client and its sink."""
    env = StreamExecutionEnvironment.get_execution_environment(
        {
            "flintstream.engine": "inline",
            "flintstream.epoch.idle-duration": "10",
            "state.backend.type": "rocksdb",
            "execution.checkpointing.interval": "20 ms",
            "execution.checkpointing.dir": Path(directory, "checkpoints").as_uri(),
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "restart-strategy.type": "none",
            **more,
        }
    ).set_parallelism(1)
    sink = CollectSink()
    numbers = env.from_source(PacedSource(RECORDS, 0.001, hold), WatermarkStrategy.no_watermarks(), "numbers")
    summed = numbers.uid("numbers").key_by(lambda n: n % 4).process(Sums()).uid("shop/sums").name("sums")
    summed.sink_to(sink).uid("sink")
    return env.execute_async("recorded"), sink


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a checkpoint with files of RocksDB.")
    parser.add_argument("name", help="its name")
    target = CHECKPOINTS / parser.parse_args().name
    if target.exists():
        raise SystemExit(f"{target} is there already, and must not change")
    with tempfile.TemporaryDirectory() as place:
        client, _ = started(place, Path(place, "released"))
        wait_for_numbers(client, numRecordsIn=RECORDS // 2, numCheckpoints=3)
        client.cancel().result()
        (metadata,) = Path(place).glob("checkpoints/*/chk-*/_metadata")
        shutil.copytree(metadata.parent.parent, target)
    print(target)


if __name__ == "__main__":
    main()
