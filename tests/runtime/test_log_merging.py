"""The pieces of a state log are merged, in order and complete, so that many epochs leave few pieces."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.runtime.protocol import StateHandle
from flintstream.runtime.state_log.log import MemoryStateLog
from flintstream.runtime.state_log.pieces import (
    INLINE_BYTES,
    INLINE_TOTAL,
    MERGED,
    MERGED_BYTES,
    epochs_of,
    inline_bytes,
    store,
    to_merge,
    without_known,
)


def handle(version, size=100, *, full=False, epochs=1):
    return StateHandle(f"{version}", f"{version}", full, size, epochs=epochs)


def grown(log, sizes, folding=0):
    """Return the pieces after epochs with these numbers of changed bytes."""
    for number, size in enumerate(sizes, 1):
        merged = to_merge(log[folding:])
        assert sum(old.size for old in merged) <= MERGED_BYTES
        whole, epochs = size + sum(old.size for old in merged), epochs_of(merged)
        log = [*log[: len(log) - len(merged)], handle(number, whole, epochs=epochs)]
    return log


@settings(deadline=None)
@given(st.integers(0, 20_000))
def test_a_log_of_many_epochs_has_few_pieces(epochs):
    log = grown([handle(0, full=True)], [1] * epochs)
    digits = []
    while epochs:
        epochs, digit = divmod(epochs, MERGED)
        digits.append(digit)
    assert [old.epochs for old in log[1:]] == [
        MERGED**place for place in reversed(range(len(digits))) for _ in range(digits[place])
    ]
    assert len(log) <= 1 + len(digits) * (MERGED - 1)


@settings(deadline=None)
@given(st.lists(st.sampled_from([10, 1000, MERGED_BYTES // 20, MERGED_BYTES, 5 * MERGED_BYTES]), max_size=600))
def test_no_epoch_writes_much_more_than_its_own_changes(sizes):
    log = grown([handle(0, full=True)], sizes)
    assert sum(old.size for old in log[1:]) == sum(sizes)
    assert sum(old.epochs for old in log[1:]) == int(log[-1].version) == len(sizes)


def test_a_base_and_what_is_being_folded_stay_as_they_are():
    log = grown([handle(0, full=True)], [1] * 10)
    assert grown(log, [1] * 100, folding=len(log))[: len(log)] == log
    assert grown([handle(0, full=True)] * (MERGED + 1), [1])[:-1] == [handle(0, full=True)] * (MERGED + 1)


def stored(sizes):
    """Return the pieces after epochs that change so many bytes, and how many blobs were written for them."""
    blobs, written = MemoryStateLog(), 0
    log: tuple[StateHandle, ...] = (store(blobs, handle(0, full=True), b"base", ()),)
    for number, size in enumerate(sizes, 1):
        merged = to_merge(log)
        others = log[: len(log) - len(merged)]
        whole = size + sum(old.size for old in merged)
        new = store(blobs, handle(number, whole, epochs=epochs_of(merged)), bytes(whole), others)
        written += new.inline is None
        log = (*others, new)
        assert inline_bytes(log) <= INLINE_TOTAL
    return log, written


@settings(deadline=None)
@given(st.lists(st.sampled_from([10, 300, 2000, INLINE_BYTES, INLINE_BYTES + 1, 100_000]), max_size=600))
def test_few_bytes_of_a_log_are_inline_and_few_pieces_are_in_it(sizes):
    log, _ = stored(sizes)
    assert sum(old.size for old in log[1:]) == sum(sizes)
    assert len(log) <= 1 + 4 * MERGED


def test_small_changes_are_rarely_written_to_the_store():
    assert stored([100] * 15)[1] == 0
    assert stored([1000] * 160)[1] <= 11
    assert stored([INLINE_BYTES] * 160)[1] <= 160 / 4
    assert stored([INLINE_BYTES + 1] * 160)[1] == 160


def test_a_report_contains_only_the_data_that_the_driver_does_not_have():
    known, new = store(MemoryStateLog(), handle(1), b"1", ()), store(MemoryStateLog(), handle(2), b"2", ())
    assert [item.inline for item in without_known((known, new), (known,))] == [b"", b"2"]


def test_native_files_are_never_inline():
    native = StateHandle("native", "1", True, 1, native=True)
    assert store(MemoryStateLog(), native, b"1", ()).inline is None
