"""The pieces of a state log are merged, in order and complete, so that many epochs leave few pieces."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from flintstream.runtime.protocol import StateHandle
from flintstream.runtime.state_log.subtask_state import MERGED, MERGED_BYTES, _to_merge


def handle(version, size=100, *, full=False, epochs=1):
    return StateHandle(f"{version}", f"{version}", full, size, epochs=epochs)


def grown(log, sizes, folding=0):
    """Return the pieces after epochs with these numbers of changed bytes."""
    for number, size in enumerate(sizes, 1):
        merged = _to_merge(log[folding:])
        assert sum(old.size for old in merged) <= MERGED_BYTES
        whole, epochs = size + sum(old.size for old in merged), 1 + sum(old.epochs for old in merged)
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
