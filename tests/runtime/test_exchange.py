"""Both ends of an exchange."""

from __future__ import annotations

import pickle
import random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flintstream.common import Types
from flintstream.runtime.exchange import keyed_output
from flintstream.runtime.exchange import receiving as exchange
from flintstream.runtime.exchange.blocks import unpack
from flintstream.runtime.exchange.receiving import ACTIVE, IDLE, InputGate, Item
from flintstream.runtime.exchange.sending import exchange_output
from flintstream.runtime.failure import OperatorFailure
from flintstream.runtime.partitioners import (
    BroadcastPartitioner,
    CustomPartitioner,
    ForwardPartitioner,
    GlobalPartitioner,
    KeyGroupPartitioner,
    RebalancePartitioner,
    RescalePartitioner,
    ShufflePartitioner,
)
from flintstream.runtime.plan import ExchangeEdge


def identity(value):
    return value


def edge(partitioner, senders=1, targets=3):
    return ExchangeEdge(0, 1, 2, 0, partitioner, senders, targets, 1, 128, 1)


def send(partitioner, values, timestamps=None, channel=0, senders=1, targets=3, *, batch=False):
    outbox: list[Item] = []
    output = exchange_output(edge(partitioner, senders, targets), channel, outbox, "sender", batch=batch)
    output.emit(list(values), timestamps)
    output.flush()
    received: dict[int, list] = {target: [] for target in range(targets)}
    for item in outbox:
        block = unpack(item.payload)
        stamped = block.values if block.timestamps is None else zip(block.values, block.timestamps, strict=True)
        received[item.subtask] += stamped
    return received


def test_forward_sends_to_the_subtask_of_the_same_index():
    assert send(ForwardPartitioner(), [1, 2], channel=1, senders=3) == {0: [], 1: [1, 2], 2: []}


def test_global_sends_to_the_first_subtask():
    assert send(GlobalPartitioner(), [1, 2]) == {0: [1, 2], 1: [], 2: []}


def test_broadcast_sends_to_every_subtask():
    assert send(BroadcastPartitioner(), [1, 2]) == {0: [1, 2], 1: [1, 2], 2: [1, 2]}


def test_rebalance_deals_records_out_in_turn():
    assert send(RebalancePartitioner(), range(7)) == {0: [0, 3, 6], 1: [1, 4], 2: [2, 5]}


def test_rescale_serves_only_the_subtasks_that_belong_to_the_sender():
    assert send(RescalePartitioner(), range(4), channel=1, senders=2, targets=4) == {0: [], 1: [], 2: [1, 3], 3: [0, 2]}


def test_shuffle_loses_nothing():
    received = send(ShufflePartitioner(), range(100))
    assert sorted(v for values in received.values() for v in values) == list(range(100))


def test_a_custom_partitioner_is_given_the_key_and_the_number_of_subtasks():
    assert send(CustomPartitioner(lambda key, n: key % n, lambda v: v + 1), range(4)) == {0: [2], 1: [0, 3], 2: [1]}


def test_a_custom_partitioner_that_names_no_subtask_fails_with_the_record():
    with pytest.raises(OperatorFailure) as failure:
        send(CustomPartitioner(lambda key, n: 7, identity), ["x"])
    assert failure.value.record == "'x'"
    assert "a subtask from 0 to 2" in str(failure.value.error)


@given(st.lists(st.integers() | st.text() | st.none() | st.lists(st.integers(), max_size=2)), st.booleans())
def test_records_of_a_key_meet_in_one_subtask_in_order(values, timed):
    tagged = [(value, i) for i, value in enumerate(values)]
    stamps = list(range(len(values))) if timed else None
    received = send(KeyGroupPartitioner(lambda v: v[0]), tagged, stamps)
    if timed:
        for records in received.values():
            assert all(stamp == value[1] for value, stamp in records)
        received = {target: [value for value, _ in records] for target, records in received.items()}
    for records in received.values():
        assert [i for _, i in records] == sorted(i for _, i in records)
    where: dict[str, set[int]] = {}
    for target, records in received.items():
        for key, _ in records:
            where.setdefault(repr(key), set()).add(target)
    assert all(len(targets) == 1 for targets in where.values())
    assert sum(map(len, received.values())) == len(values)


@pytest.mark.parametrize("declared", [None, Types.LONG(), Types.INT()], ids=str)
@pytest.mark.parametrize("timed", [False, True])
@given(keys=st.lists(st.integers(-(2**31), 2**31 - 1) | st.sampled_from([2**31 - 1, True, -1, -2]), min_size=1))
def test_the_target_of_a_key_is_the_same_without_compiled_code(timed, declared, keys):
    converter = None if declared is None else declared.converter()
    partitioner = KeyGroupPartitioner(lambda v: v[0], converter)
    records = [(key, i) for i, key in enumerate(keys)]
    stamps = [i for _, i in records] if timed else None
    received = send(partitioner, records, stamps)
    with patch.object(keyed_output, "_compiled", None):
        assert send(partitioner, records, stamps) == received


@pytest.mark.parametrize("timed", [False, True])
def test_other_keys_and_those_that_need_freezing_arrive_without_compiled_code(timed):
    keys = [5, "five", 2**70, -(2**61), (5, "five"), [5], 5, {"a": 1}, 5.0]
    records = [(key, i) for i, key in enumerate(keys)]
    stamps = [i for _, i in records] if timed else None
    with patch.object(keyed_output, "_compiled", None):
        received = send(KeyGroupPartitioner(lambda v: v[0]), records, stamps)
    assert received == send(KeyGroupPartitioner(lambda v: v[0]), records, stamps)
    assert sum(map(len, received.values())) == len(keys)


@pytest.mark.parametrize("timed", [False, True])
def test_a_key_that_does_not_fit_its_type_is_refused_without_compiled_code(timed):
    partitioner = KeyGroupPartitioner(lambda v: v, Types.INT().converter())
    with patch.object(keyed_output, "_compiled", None), pytest.raises(OperatorFailure) as failure:
        send(partitioner, [1, 2**31, 3], [1, 2, 3] if timed else None)
    assert failure.value.record == str(2**31)
    assert isinstance(failure.value.error, OverflowError)


def test_a_selector_that_raises_names_the_record():
    with pytest.raises(OperatorFailure) as failure:
        send(KeyGroupPartitioner(lambda v: v["k"]), [{"k": 1}, {"x": 2}])
    assert failure.value.record == "{'x': 2}"
    assert isinstance(failure.value.error, KeyError)


def test_a_record_that_cannot_be_pickled_is_named():
    with pytest.raises(OperatorFailure) as failure:
        send(GlobalPartitioner(), [1, (i for i in range(3))])
    assert failure.value.record is not None
    assert "generator" in failure.value.record


def test_marks_keep_their_place_between_the_records():
    outbox: list[Item] = []
    output = exchange_output(edge(GlobalPartitioner(), targets=1), 0, outbox, "sender", batch=False)
    output.emit(["a"], [1])
    output.emit_watermark(1)
    output.emit_watermark(2)
    output.emit(["b"], None)
    output.emit_idle(True)
    output.emit_idle(False)
    output.flush()
    block = unpack(outbox[0].payload)
    assert block.values == ["a", "b"]
    assert block.timestamps == [1, -(2**63)]
    assert block.marks == [(1, 2), (2, IDLE), (2, ACTIVE)]


def item(channel, sequence, payload=b"x", edge_id=0, bucket=0):
    return Item(1, 0, edge_id, channel, sequence, bucket, payload)


def test_the_gate_hands_items_out_in_the_same_order_however_they_arrive():
    items = [item(channel, sequence) for channel in range(3) for sequence in range(5)]
    orders = set()
    for seed in range(20):
        random.Random(seed).shuffle(items)
        gate = InputGate()
        for element in items:
            gate.add(element)
        orders.add(tuple((i.channel, i.sequence) for i in gate.streaming({})))
    assert len(orders) == 1


def test_the_gate_lets_the_channel_with_the_lowest_watermark_go_first():
    gate = InputGate()
    for element in [item(0, 0), item(0, 1), item(1, 0), item(1, 1)]:
        gate.add(element)
    watermarks = {(0, 0): 10, (0, 1): 5}
    order = []
    for element in gate.streaming(watermarks):
        order.append((element.channel, element.sequence))
        watermarks[0, element.channel] += 100
    assert order == [(1, 0), (0, 0), (1, 1), (0, 1)]


def test_the_gate_spills_what_does_not_fit_and_brings_it_back(monkeypatch):
    monkeypatch.setattr(exchange, "SPILL_BYTES", 10)
    gate = InputGate()
    payloads = [pickle.dumps(n) for n in range(50)]
    for sequence, payload in enumerate(payloads):
        gate.add(item(0, sequence, payload))
    assert gate.spill is not None
    assert [i.payload for i in gate.streaming({})] == payloads
    gate.close()


def test_in_batch_mode_inputs_of_lower_priority_number_come_first_then_buckets():
    gate = InputGate()
    for element in [item(0, 0, edge_id=1, bucket=1), item(0, 1, edge_id=1, bucket=0), item(0, 0, edge_id=2)]:
        gate.add(element)
    assert [(i.edge, i.bucket) for i in gate.batch({1: 2, 2: 0})] == [(2, 0), (1, 0), (1, 1)]
