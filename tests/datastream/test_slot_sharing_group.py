"""The expected values come from PyFlink 2.3.0."""

from __future__ import annotations

import pickle
import re

import pytest

from flintstream.datastream.slot_sharing_group import MemorySize, SlotSharingGroup

MIB = MemorySize.of_mebi_bytes


def resources(group):
    return (
        group.get_cpu_cores(),
        group.get_task_heap_memory(),
        group.get_task_off_heap_memory(),
        group.get_managed_memory(),
        group.get_external_resources(),
    )


def sufficient():
    return SlotSharingGroup.builder("g").set_cpu_cores(1.5).set_task_heap_memory_mb(5)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 kb"),
        (1536, "1536 bytes"),
        (10 * 2**20, "10 mb"),
        (5 * 2**30, "5 gb"),
        (3 * 2**40, "3 tb"),
        (3 * 2**40 + 1, "3298534883329 bytes"),
    ],
)
def test_a_size_is_shown_in_the_largest_unit_that_is_exact_and_read_back(size, text):
    assert str(MemorySize(bytes_size=size)) == text
    assert MemorySize.parse(text).get_bytes() == size


def test_larger_units_round_down():
    size = MemorySize(3 * 2**40 - 1)
    assert size.get_bytes() == 3298534883327
    assert size.get_kibi_bytes() == 3221225471
    assert size.get_mebi_bytes() == 3145727
    assert size.get_gibi_bytes() == 3071
    assert size.get_tebi_bytes() == 2


def test_sizes_compare_by_their_bytes():
    small, large = MemorySize(1024), MIB(1)
    assert small < large
    assert small <= large
    assert large > small
    assert small == MemorySize.parse("1k")
    assert hash(small) == hash(MemorySize.parse("1 kibibytes"))
    assert small != 1024
    assert sorted([large, small]) == [small, large]
    with pytest.raises(TypeError):
        assert small < 5


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: MemorySize(-1), ValueError, "a MemorySize in bytes must be at least 0, got -1"),
        (lambda: MIB(-1), ValueError, "a MemorySize in MiB must be at least 0, got -1"),
        (lambda: MIB(2**43), ValueError, "must be at most"),
        (lambda: MemorySize(1.5), TypeError, "must be a whole number (int), got 1.5"),  # type: ignore[arg-type]
        (lambda: MemorySize.parse("5 apples"), ValueError, "'5 apples' is not a memory size: write it like '4096'"),
        (lambda: MemorySize.parse("-5"), ValueError, "'-5' is not a memory size"),
    ],
)
def test_what_is_no_size_is_refused(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_a_group_may_have_a_name_alone():
    group = SlotSharingGroup.builder("g").build()
    assert group.get_name() == "g"
    assert resources(group) == (None, None, None, None, {})


def test_cpu_and_heap_suffice_and_the_rest_is_zero():
    assert resources(sufficient().build()) == (1.5, MIB(5), MemorySize(0), MemorySize(0), {})


def test_every_resource_is_kept_and_the_last_value_counts():
    group = (
        sufficient()
        .set_cpu_cores(2)
        .set_task_heap_memory(MIB(4))
        .set_task_off_heap_memory_mb(6)
        .set_managed_memory(MIB(7))
        .set_external_resource("gpu", 1.0)
        .set_external_resource("gpu", 2)
        .build()
    )
    assert resources(group) == (2.0, MIB(4), MIB(6), MIB(7), {"gpu": 2.0})
    assert isinstance(group.get_cpu_cores(), float)
    group.get_external_resources().clear()
    assert group.get_external_resources() == {"gpu": 2.0}
    assert pickle.loads(pickle.dumps(group)) == group


def test_a_built_group_does_not_follow_its_builder():
    builder = sufficient()
    group = builder.build()
    builder.set_external_resource("gpu", 1.0).set_managed_memory_mb(1)
    assert resources(group) == (1.5, MIB(5), MemorySize(0), MemorySize(0), {})


def test_groups_are_equal_by_name_and_resources():
    bare = SlotSharingGroup.builder("g").build()
    assert bare == SlotSharingGroup.builder("g").build()
    assert hash(bare) == hash(SlotSharingGroup.builder("g").build())
    assert bare != SlotSharingGroup.builder("h").build()
    assert bare != sufficient().build()


@pytest.mark.parametrize(
    ("incomplete", "missing"),
    [
        (lambda b: b.set_cpu_cores(1.0), "set_task_heap_memory()"),
        (lambda b: b.set_task_heap_memory_mb(5), "set_cpu_cores()"),
        (lambda b: b.set_task_off_heap_memory_mb(5), "set_cpu_cores()"),
        (lambda b: b.set_managed_memory_mb(5), "set_cpu_cores()"),
        (lambda b: b.set_external_resource("gpu", 1.0), "set_cpu_cores()"),
    ],
)
def test_resources_without_both_cpu_and_heap_are_refused(incomplete, missing):
    builder = incomplete(SlotSharingGroup.builder("heavy"))
    with pytest.raises(ValueError, match=rf"group 'heavy' names resources.*call {re.escape(missing)}"):
        builder.build()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.set_cpu_cores(0.0), ValueError, "the cpu cores of slot sharing group 'g' must be positive, got 0"),
        (lambda b: b.set_cpu_cores(-1.0), ValueError, "must be a positive number, got -1.0"),
        (lambda b: b.set_cpu_cores(float("nan")), ValueError, "must be a positive number, got nan"),
        (lambda b: b.set_cpu_cores("2"), TypeError, "must be a number, got '2' of type str"),
        (lambda b: b.set_task_heap_memory_mb(0), ValueError, "the task heap memory of slot sharing group 'g' must be"),
        (lambda b: b.set_task_heap_memory(5), TypeError, "must be a MemorySize, got 5; use MemorySize.of_mebi_bytes"),
        (lambda b: b.set_managed_memory_mb(-1), ValueError, "must be at least 0, got -1"),
        (lambda b: b.set_external_resource("gpu", -1.0), ValueError, "the external resource 'gpu' of slot sharing"),
        (lambda b: b.set_external_resource(1, 1.0), TypeError, "must be a str, got 1"),
    ],
)
def test_a_bad_resource_is_refused_and_leaves_the_builder_as_it_was(call, error, message):
    builder = sufficient()
    with pytest.raises(error, match=re.escape(message)):
        call(builder)
    assert builder.build() == sufficient().build()


def test_the_name_must_be_a_text():
    with pytest.raises(TypeError, match="must be a str, got None"):
        SlotSharingGroup.builder(None)  # type: ignore[arg-type]


def test_what_stands_for_the_java_object_is_the_object_itself():
    size, group = MIB(1), sufficient().build()
    assert size.get_java_memory_size() is size
    assert group.get_java_slot_sharing_group() is group
