"""Unusual timestamp assigners: the warnings about them, and jobs that continue without them."""

from __future__ import annotations

import logging
import threading
from decimal import Decimal
from fractions import Fraction

import pytest
from tests.datastream.inline import MODES, SHORT_EPOCHS, collect, make_env, move_every_epoch

from flintstream.common import Types, WatermarkStrategy
from flintstream.common.constants import MIN_LONG_VALUE
from flintstream.connectors.source import Source, SourceReader, SourceSplit, StaticEnumerator, Timestamped
from flintstream.datastream.functions import ProcessFunction
from flintstream.errors import UserCodeError


class Seconds(Source):
    """Emit the numbers 0 to 9 from each split, with the number in seconds as the source's timestamp."""

    def __init__(self, *, watermarks_per_split=False, pause=0.0):
        self.watermarks_per_split = watermarks_per_split
        self.pause = pause

    def create_enumerator(self, parallelism):
        return StaticEnumerator([SourceSplit("a"), SourceSplit("b")])

    def create_reader(self):
        return SecondsReader(self.pause)


class SecondsReader(SourceReader):
    def __init__(self, pause):
        self.pause = threading.Event(), pause

    def read(self, split, fetch):
        event, pause = self.pause
        split.position = getattr(split, "position", 0)
        while split.position < 10:
            event.wait(pause)
            split.position += 1
            yield Timestamped([split.position - 1], [1000 * (split.position - 1)])
        return True


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp()


class Assigner:
    """Has only the method that an assigner needs, which is enough for PyFlink."""

    def __init__(self, assign):
        self.assign = assign

    def extract_timestamp(self, value, record_timestamp):
        return self.assign(value, record_timestamp)


def strategy_with(assigner):
    return WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assigner)


def times_of(env, assigner, **options):
    stream = env.from_source(Seconds(**options), strategy_with(assigner), "seconds")
    return sorted(collect(stream.process(Times())))


def own_times():
    return sorted((i, 1000 * i) for i in range(10) for _ in range(2))


def fail(value, record_timestamp):
    raise ValueError("no time")


def warnings_of(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("per_split", [False, True])
@pytest.mark.parametrize(
    "assign",
    [fail, lambda value, _: None, lambda value, _: "5", lambda value, _: (digit for digit in "5"), lambda value: 5],
    ids=["raises", "None", "text", "generator", "takes too little"],
)
@pytest.mark.parametrize("kind", [Assigner, lambda assign: assign], ids=["assigner", "function"])
def test_a_source_goes_on_without_an_assigner_that_fails(caplog, mode, per_split, assign, kind):
    assert times_of(make_env(mode, 2), kind(assign), watermarks_per_split=per_split) == own_times()
    (warning,) = warnings_of(caplog)
    assert warning.startswith("the TimestampAssigner of source 'seconds' is ignored, as in PyFlink, because it fails: ")


@pytest.mark.parametrize("assigner", [Assigner(lambda v, t: t + v), lambda v, t: t + v], ids=["assigner", "function"])
def test_a_source_takes_any_object_with_the_method_or_a_function(caplog, assigner):
    assert times_of(make_env(), assigner) == [(i, 1001 * i) for i, _ in own_times()]
    assert warnings_of(caplog) == []


@pytest.mark.parametrize("nonsense", [5, "time", Assigner(threading.Lock().__exit__)])
def test_what_cannot_be_an_assigner_is_ignored_with_a_warning_when_the_program_is_built(nonsense):
    with pytest.warns(UserWarning, match="the TimestampAssigner of source 'seconds' is ignored, as in PyFlink: "):
        assert times_of(make_env(), nonsense) == own_times()


def test_an_assigner_that_fails_once_stays_ignored_wherever_the_subtask_goes(monkeypatch, caplog):
    move_every_epoch(monkeypatch)
    env = make_env(settings=SHORT_EPOCHS | {"flintstream.epoch.max-duration": "20"})
    times = times_of(env, lambda value, time: 1 // (3 - value) + 7, pause=0.01)
    assert {(0, 7), (1, 7), (2, 8)} < set(times)  # the records before the failure
    assert times[-14:] == own_times()[-14:]
    assert len(warnings_of(caplog)) == 1


def test_a_strategy_that_is_changed_later_is_another_one():
    env = make_env()
    strategy = strategy_with(lambda value, _: 1)
    first = env.from_source(Seconds(), strategy, "first")
    strategy.with_timestamp_assigner(lambda value, _: 2)
    assert {time for _, time in collect(first.process(Times()))} == {1}


def assigned(env, assigner):
    stream = env.from_collection(["a", "b"], Types.STRING())
    return stream.assign_timestamps_and_watermarks(strategy_with(assigner)).process(Times())


@pytest.mark.parametrize("assigner", [lambda value, _: 5, 5, "time"], ids=["function", "number", "text"])
def test_an_explicit_assignment_needs_the_method(assigner):
    with pytest.raises(TypeError, match=r"assign_timestamps_and_watermarks\(\) needs a TimestampAssigner, an object"):
        assigned(make_env(), assigner)


def test_an_explicit_assignment_without_an_assigner_keeps_timestamps():
    assert collect(assigned(make_env(), None)) == [("a", MIN_LONG_VALUE), ("b", MIN_LONG_VALUE)]


@pytest.mark.parametrize("given", [5, 5.9, True, Decimal("7.9"), Fraction(15, 2)])
def test_an_explicit_assignment_takes_numbers_and_cuts_them(given):
    times = [time for _, time in collect(assigned(make_env(), Assigner(lambda v, t: given)))]
    assert times == [int(given)] * 2
    assert [type(time) for time in times] == [int, int]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (None, TypeError),
        ("5", TypeError),
        ([5], TypeError),
        (2**63, OverflowError),
        (-(2**63) - 1, OverflowError),
        (float("nan"), OverflowError),
        (float("inf"), OverflowError),
    ],
)
def test_an_explicit_assignment_stays_strict(mode, bad, kind):
    with pytest.raises(kind, match="the result of a TimestampAssigner must be a") as failure:
        collect(assigned(make_env(mode), Assigner(lambda value, _: bad if value == "b" else 100)))
    assert isinstance(failure.value.__cause__, UserCodeError)
    assert "operator 'Timestamps/Watermarks', subtask 1 while processing 'b'" in str(failure.value.__cause__)
