"""Records that Amazon's producer library puts together are separated, and each of them is read once."""

from __future__ import annotations

import hashlib
import random

import pytest
from tests.connectors.aws.test_source import consumer, read
from tests.connectors.kafka.jobs import checkpointed
from tests.datastream.inline import make_env
from tests.engine.faults import Faults, FaultyMap

from flintstream.checkpoint.codec import decode_one, encode_one
from flintstream.connectors.aws.aggregation import MAGIC, UserRecord, hash_of, user_records
from flintstream.connectors.aws.reader import separate
from flintstream.connectors.aws.shards import KinesisSplit
from flintstream.datastream.connectors.kinesis import KinesisDeserializationSchema

OF_A_LIBRARY = bytes.fromhex(
    "f3899ac20a03616e6e0a03626f621201371a0708001a036f6e651a09080110001a0374776f1a0408001a00e9e544db8b961e7d7820a2f8c05f277a"
)
"""What version 1.2.3 of aws_kinesis_agg makes of three records, of which the second has the hash key 7."""


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number):
    made = b""
    while number > 127:
        made, number = made + bytes([number & 127 | 128]), number >> 7
    return made + bytes([number])


def aggregated(records):
    """Return one record for keys and texts."""
    keys = sorted({key for key, _ in records})
    content = b"".join(field(1, key.encode()) for key in keys)
    for key, text in records:
        content += field(3, field(1, keys.index(key)) + field(3, text.encode()))
    return MAGIC + content + hashlib.md5(content, usedforsecurity=False).digest()


def send(server, stream, records, at_most=40):
    """Send records in records of different sizes, and some as they are."""
    chosen = random.Random(7)
    while records:
        size = chosen.randint(1, at_most)
        part, records = records[:size], records[size:]
        data = part[0][1].encode() if size == 1 else aggregated(part)
        server.client.put_record(StreamName=stream, Data=data, PartitionKey=part[0][0])


def test_a_record_of_a_library_is_separated():
    assert user_records(OF_A_LIBRARY) == [
        UserRecord("ann", b"one", hash_of("ann")), UserRecord("bob", b"two", 7), UserRecord("ann", b"", hash_of("ann")),
    ]  # fmt: skip


def test_large_records_and_fields_of_later_versions_are_read():
    content = field(1, b"k") + field(9, 1) + varint(9 << 3 | 1) + bytes(8) + varint(9 << 3 | 5) + bytes(4)
    content += field(3, field(1, 0) + field(3, b"x" * 300) + field(4, b"tag"))
    whole = MAGIC + content + hashlib.md5(content, usedforsecurity=False).digest()
    assert user_records(whole) == [UserRecord("k", b"x" * 300, hash_of("k"))]


@pytest.mark.parametrize(
    "data",
    [
        b"", b"text", MAGIC, MAGIC + b"short", OF_A_LIBRARY[:-1] + b"?",
        *[MAGIC + wrong + hashlib.md5(wrong, usedforsecurity=False).digest()
          for wrong in (b"\xff", b"\x08" + b"\xff" * 1_000_000 + b"\x01", b"\x0b", b"\n\tx",
                        field(3, field(3, b"x")), field(3, field(1, 5) + field(3, b"x")))],
    ],
)  # fmt: skip
def test_other_data_is_a_record_of_its_own(data):
    assert user_records(data) is None


@pytest.mark.parametrize("parallelism", [1, 2])
def test_each_record_is_read_once_through_failures_between_those_of_a_record(server, tmp_path, parallelism):
    stream = f"aggregated-{parallelism}"
    server.create(stream, 1)
    texts = [str(n) for n in range(1000)]
    send(server, stream, [(f"k{n % 9}", text) for n, text in enumerate(texts)])
    faults = Faults(tmp_path / "faults", [("map", text) for text in ("3", "100", "517", "999")])
    env = checkpointed(tmp_path, parallelism)
    found = read(env, consumer(server, stream), len(texts), FaultyMap(faults))
    assert sorted(map(int, found)) == list(range(1000))
    assert faults.happened() == faults.planned()


def test_records_have_their_own_keys_and_their_order(server):
    class Keys(KinesisDeserializationSchema):
        def deserialize(self, message):
            return (message.partition_key, message.data)

    server.create("aggregated-keys", 1)
    records = [(f"k{n % 3}", str(n)) for n in range(50)]
    send(server, "aggregated-keys", records, 7)
    found = read(make_env(), consumer(server, "aggregated-keys", schema=Keys()), 50)
    assert found == [(key, text.encode()) for key, text in records]


def split(**more):
    return KinesisSplit("s/1", "s", "1", "TRIM_HORIZON", **more)


def messages(*parts):
    return [{"SequenceNumber": "17", "Data": data, "PartitionKey": "p"} for data in parts]


def texts_of(found):
    return [(message["Data"].decode(), message.get("Part")) for message in found]


def test_reading_resumes_after_any_record_of_a_record():
    data = aggregated([("a", "0"), ("b", "1"), ("c", "2")])
    assert texts_of(separate(messages(data), split())) == [("0", 0), ("1", 1), ("2", None)]
    assert texts_of(separate(messages(data), split(position="17", part=0))) == [("1", 1), ("2", None)]
    assert texts_of(separate(messages(data), split(position="17", part=1))) == [("2", None)]
    assert texts_of(separate(messages(data), split(position="16", part=1)))[0] == ("0", 0)
    assert texts_of(separate(messages(b"plain"), split(position="17", part=0))) == [("plain", None)]


def test_records_of_other_shards_are_left_out():
    records = [(f"k{n}", str(n)) for n in range(20)]
    half = 2**127
    low = [text for key, text in records if hash_of(key) < half]
    high = [text for key, text in records if hash_of(key) >= half]
    assert low
    assert high
    data = messages(aggregated(records))
    of_low = separate(data, split(first_hash_key="0", last_hash_key=str(half - 1)))
    found = list(texts_of(of_low))
    assert [text for text, _ in found] == low
    assert found[-1][1] is None
    of_high = separate(data, split(first_hash_key=str(half), last_hash_key=str(2**128 - 1)))
    assert [text for text, _ in texts_of(of_high)] == high


def test_states_of_earlier_releases_are_read():
    older = encode_one(split(position="17"))
    assert decode_one(older, allow_pickle=False) == split(position="17", part=-1)
