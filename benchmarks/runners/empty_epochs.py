"""A job whose source stays silent: how long its epochs take. Prints the median of the second half, in ms.

python empty_epochs.py MASTER SECONDS SETTINGS
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks.latency import Count, Metronome
from flintstream.common import WatermarkStrategy
from flintstream.coordinator.subtasks import Subtasks
from flintstream.datastream import StreamExecutionEnvironment

if TYPE_CHECKING:
    from flintstream.runtime.protocol import Report


def main() -> None:
    """Run the job."""
    master, seconds, settings = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
    took: list[float] = []
    original = Subtasks.run_epoch

    def run_epoch(self: Subtasks, *arguments: Any) -> list[Report]:
        began = time.perf_counter()
        reports = original(self, *arguments)
        took.append((time.perf_counter() - began) * 1000)
        return reports

    Subtasks.run_epoch = run_epoch  # type: ignore[method-assign]
    env = StreamExecutionEnvironment.get_execution_environment(
        {
            "flintstream.master": master,
            "flintstream.epoch.max-duration": "1",
            "flintstream.epoch.idle-duration": "1",
            **settings,
        }
    )
    env.set_parallelism(2)
    # One record at the start and one at the end, and a keyed function behind an exchange.
    source = env.from_source(Metronome(1 / seconds, 2.5 * seconds), WatermarkStrategy.no_watermarks(), "silent")
    source.key_by(lambda value: value[0]).process(Count()).filter(lambda _: False).print()
    env.execute("empty epochs")
    print(json.dumps({"epochs": len(took), "ms": statistics.median(took[len(took) // 2 :])}))


if __name__ == "__main__":
    main()
