"""Reading and writing files like the engine, without an engine."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

from flintstream.connectors.files.enumerator import plan_splits
from flintstream.connectors.sink import WriterContext
from flintstream.connectors.source import Fetch
from flintstream.datastream.connectors.file_system import BucketAssigner, FileSink


def write_file(factory, path, records):
    """Write one file with a bulk writer."""
    with Path(path).open("wb") as stream:
        writer = factory.create(stream)
        writer.add_elements(records)
        writer.finish()


def write_through_sink(factory, directory, *blocks):
    """Write files through the sink, one for each list of blocks."""
    made = FileSink.for_bulk_format(str(directory), factory)
    sink = made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    for number, records in enumerate(blocks):
        writer = pickle.loads(pickle.dumps(sink)).create_writer(WriterContext(0, 1, str(number)))
        writer.write(records, None)
        sink.create_committer().commit(writer.prepare_commit(end_of_input=True))


def read_file(file_format, path, size=7):
    """Read a whole file."""
    (split,) = plan_splits([(str(path), 0)], 1, splittable=False)
    return read_split(file_format, split, size)


def read_split(file_format, split, size=7):
    reader = pickle.loads(pickle.dumps(file_format)).create_reader()
    records = [record for batch in reader.read(split, Fetch(size)) for record in batch]
    reader.close()
    return records


def read_with_interruptions(file_format, split, rng: random.Random, same_reader=0.5, largest=40):
    """Read like the engine may: stop after any batch, continue from the pickled split, perhaps with another reader."""
    reader = file_format.create_reader()
    records = []
    while True:
        fetch = Fetch(rng.randint(1, largest))
        reading = reader.read(split, fetch)
        stop_after = rng.randint(1, 3)
        finished = True
        for number, batch in enumerate(reading, 1):
            records.extend(batch)
            fetch.size = rng.randint(1, largest)
            if number == stop_after:
                finished = False
                reading.close()
                break
        if finished:
            reader.close()
            return records
        split = pickle.loads(pickle.dumps(split))
        if rng.random() > same_reader:
            reader.close()
            reader = file_format.create_reader()
