"""From a queue through keyed state into files, while workers and drivers are killed; each message counts once."""

from __future__ import annotations

import pytest
from tests.connectors.rabbitmq.jobs import END
from tests.faults.counting import check, counted
from tests.faults.rounds import Course, Round, run_round

RECORDS = 400
KEYS = 5
QUEUE = "counted"

PROGRAM = """
import sys, time
from pathlib import Path
from pyflink.common import Encoder, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSink, RollingPolicy
from pyflink.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSource
from tests.connectors.rabbitmq.jobs import UntilEnd
from tests.faults.counting import Count

output, port, queue, keys = sys.argv[1:]


def slow(text):
    time.sleep(0.01)
    return int(text)


config = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(int(port)).set_virtual_host("/")
config = config.set_user_name("guest").set_password("guest").build()
sink = FileSink.for_row_format(output, Encoder.simple_string_encoder())
sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(12)
numbers = env.add_source(RMQSource(config, queue, True, UntilEnd())).map(slow, output_type=Types.INT())
keyed = numbers.key_by(lambda number: number % int(keys), key_type=Types.INT())
keyed.process(Count(), output_type=Types.STRING()).sink_to(sink)
env.execute("counting")
Path("over").touch()
while not Path("last-kill").exists():  # killed here, when its job is over, it must not run it again
    time.sleep(0.02)
"""


class RabbitCourse(Course):
    """Read a queue with correlation ids."""

    program = PROGRAM
    port = 0

    def _arguments(self):
        return [str(self.port), QUEUE, str(KEYS)]

    def _check(self):
        check(counted(line for path in self.files for line in path.read_text().splitlines()), RECORDS, KEYS)


@pytest.mark.deep
@pytest.mark.kills
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_each_message_counts_once_whatever_is_killed(server, monkeypatch):
    monkeypatch.setattr(RabbitCourse, "port", server.port)
    server.send(QUEUE, [*map(str, range(RECORDS)), END])
    kills = (("worker", 0.3), ("driver", 0.4), ("tree", 0.2))
    said: list[str] = []
    killed = run_round(Round(7, "local", "hashmap", False, kills, (2, 1, 2)), said.append, kind=RabbitCourse)
    assert killed == {"worker": 1, "driver": 1, "tree": 1}, said
    assert server.drain(QUEUE) == [END]
