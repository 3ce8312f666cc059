"""The bound: two Python processes with the clients that flintstream uses, without an exchange."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.connectors.records import is_written, parse, to_name, to_text
from benchmarks.runners.run_bare import run_both
from benchmarks.workload import Run, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BLOCK = 4096


def counted(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Count the keys."""
    counts: dict[str, int] = {}
    for text in texts:
        key, _ = parse(text)
        count = counts[key] = counts.get(key, 0) + 1
        yield key, count


def file_count(number: int, run: Run) -> None:
    """Count the keys of one file."""
    with Path(run.input, f"part-{number}").open() as file, Path(run.output, f"part-{number}").open("w") as output:
        output.writelines(map(line, filter(is_written, counted(file))))


def file_copy(number: int, run: Run) -> None:
    """Copy one file, line by line."""
    with Path(run.input, f"part-{number}").open() as file, Path(run.output, f"part-{number}").open("w") as output:
        output.writelines(file)


def consumed(number: int, run: Run) -> Iterator[str]:
    """Return the texts of one partition."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    servers = run.settings["servers"]
    client = Consumer({"bootstrap.servers": servers, "group.id": "bare", "fetch.queue.backoff.ms": 10})
    client.assign([TopicPartition(run.settings["from"], number, OFFSET_BEGINNING)])
    left = run.half
    while left:
        for message in client.consume(BLOCK, 0.1):
            if value := message.value():
                yield value.decode()
                left -= 1
    client.close()


def kafka_read(number: int, run: Run) -> None:
    """Count the keys of one partition."""
    with Path(run.output, f"part-{number}").open("w") as output:
        output.writelines(map(line, filter(is_written, counted(consumed(number, run)))))


def kafka_count(number: int, run: Run) -> None:
    """Count the keys of one partition and write all counts, in one transaction for exactly once."""
    from confluent_kafka import Producer

    topic, once = run.settings["to"], run.settings["guarantee"] == "EXACTLY_ONCE"
    config = {"bootstrap.servers": run.settings["servers"], "queue.buffering.max.messages": 1_000_000}
    client = Producer(
        {**config, **({"transactional.id": f"{topic}-{number}"} if once else {"enable.idempotence": True})}
    )
    if once:
        client.init_transactions()
        client.begin_transaction()
    for position, item in enumerate(counted(consumed(number, run))):
        value = to_text(item).encode()
        while True:
            try:
                client.produce(topic, value)
                break
            except BufferError:
                client.poll(0.01)
        if position % BLOCK == 0:
            client.poll(0)
    if once:
        client.commit_transaction()
    client.flush()


def jdbc_insert(number: int, run: Run) -> None:
    """Insert one half of the numbers, a batch in a transaction."""
    import psycopg

    insert: Any = f"INSERT INTO {run.settings['table']} VALUES (%s, %s)"  # noqa: S608 - a table of ours
    batch, end = run.settings["batch"], (number + 1) * run.half
    user, password, port = (run.settings[name] for name in ("user", "password", "port"))
    connected = psycopg.connect(host="127.0.0.1", port=port, user=user, password=password, dbname="shop")
    with closing(connected) as connection, connection.cursor() as cursor:
        for start in range(number * run.half, end, batch):
            cursor.executemany(insert, [(n, to_name(n)) for n in range(start, min(start + batch, end))])
            connection.commit()


PROGRAMS: dict[str, Callable[[int, Run], None]] = {
    program.__name__: program for program in (file_count, file_copy, kafka_read, kafka_count, jdbc_insert)
}


if __name__ == "__main__":
    given = Run.from_json(sys.argv[1])
    run_both(PROGRAMS[given.package], given)
