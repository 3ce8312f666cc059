"""The programs with Kafka on Quix Streams: two processes of a consumer group.

With the mode ``grouped``, records are grouped by key as a user would do it, which takes them through another topic.
With the mode ``local``, they are not: the partitions have separate keys, so each process can count those of its own.
"""

# ruff: noqa: ANN001, ANN201, ARG001, D103 - as a user of that engine would write it

import multiprocessing
import sys
from pathlib import Path

from quixstreams import Application

from benchmarks.connectors.records import is_written, parse, to_text
from benchmarks.workload import Run, line

COMMIT_SECONDS = 2
IDLE_SECONDS = 8
"""A process ends when it has received no message for this long; that is part of the start-up, which is subtracted."""


def count(value, state):
    key = value[0]
    counted = state.get(key, 0) + 1
    state.set(key, counted)
    return key, counted


def counted(app, mode, run):
    topic = app.topic(run.settings["from"], value_deserializer="string", key_deserializer="bytes")
    pairs = app.dataframe(topic).apply(parse)
    if mode == "grouped":
        pairs = pairs.group_by(lambda value: value[0], name="key", key_serializer="string", key_deserializer="string")
    return pairs.apply(count, stateful=True)


def kafka_read(app, mode, run, file):
    counted(app, mode, run).filter(is_written).update(lambda value: file.write(line(value)))


def kafka_count(app, mode, run, file):
    topic = app.topic(run.settings["to"], value_serializer="string", key_serializer="string")
    counted(app, mode, run).apply(to_text).to_topic(topic, key=lambda value: value[:6])


PROGRAMS = {program.__name__: program for program in (kafka_read, kafka_count)}


def process(number, mode, run):
    app = Application(
        broker_address=run.settings["servers"],
        consumer_group=run.settings["to"],
        auto_offset_reset="earliest",
        commit_interval=COMMIT_SECONDS,
        state_dir=f"{run.directory}/state-{number}",
        processing_guarantee=run.settings.get("guarantee", "AT_LEAST_ONCE").lower().replace("_", "-"),
        loglevel="WARNING",
    )
    with Path(run.output, f"part-{number}").open("w") as file:
        PROGRAMS[run.package](app, mode, run, file)
        app.run(timeout=IDLE_SECONDS, collect=False)


def main():
    mode, run = sys.argv[1], Run.from_json(sys.argv[2])
    processes = [multiprocessing.Process(target=process, args=(number, mode, run)) for number in range(2)]
    for item in processes:
        item.start()
    for item in processes:
        item.join()
    sys.exit(max(abs(item.exitcode or 0) for item in processes))


if __name__ == "__main__":
    main()
