"""A source written as a function: temperatures of some sensors, from a loop in a thread per subtask.

    flintstream run -p 2 examples/source_function.py --readings 100

With checkpoints (``-Dexecution.checkpointing.interval=1s``) no failure loses or repeats a reading.
"""

import argparse
import time

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import SourceFunction


class Sensors(SourceFunction):
    parallel = True  # a copy in each subtask, which reads its share of the sensors

    def __init__(self, sensors, readings):
        self.sensors = sensors
        self.readings = readings
        self.done = 0
        self.running = True

    def run(self, ctx):
        mine = range(ctx.index, self.sensors, ctx.count)
        while self.running and self.done < self.readings:
            now = 1000 * self.done
            with ctx.get_checkpoint_lock():  # a checkpoint contains both these records and the new state, or neither
                for sensor in mine:
                    ctx.collect_with_timestamp((sensor, 20 + (sensor + self.done) % 5), now)
                ctx.emit_watermark(now - 1)
                self.done += 1
            time.sleep(0.001)

    def cancel(self):
        self.running = False

    def snapshot_state(self):
        return self.done

    def restore_state(self, state):
        self.done = state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readings", type=int, default=100)
    arguments = parser.parse_args()
    env = StreamExecutionEnvironment.get_execution_environment()
    readings = env.add_source(Sensors(10, arguments.readings), "sensors", Types.TUPLE([Types.INT(), Types.INT()]))
    readings.key_by(lambda reading: reading[0], Types.INT()).max(1).print()
    env.execute("sensors")


if __name__ == "__main__":
    main()
