# mypy: disable-error-code="import-not-found,import-untyped"
"""Programs with undefined output: the outputs of real PyFlink in several runs, and how often each occurred.

    python -m tests.conformance.races          # with a Python that has PyFlink; writes races.json

Where PyFlink prints the same in nearly all runs, so does flintstream (``test_races.py``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink.common import Types
from pyflink.datastream import (
    BroadcastProcessFunction,
    CoMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
)
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor
from tests.conformance.harness import Run
from tests.conformance.registry import BOTH

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDED = Path(__file__).with_suffix(".json")
RUNS = 3
MARK = "-----"

EVENTS = [("k", "1"), ("l", "2"), ("m", "3"), ("k", "4")]
NAMES = [("k", "K"), ("l", "L"), ("m", "M")]

RACES: dict[str, Callable[[Any], None]] = {}


def race(function: Callable[[Any], None]) -> Callable[[Any], None]:
    """Register a function that builds a printing program."""
    RACES[function.__name__] = function
    return function


def texts() -> Any:
    return Types.TUPLE([Types.STRING(), Types.STRING()])


def letters(env: Any, name: str, count: int = 6) -> Any:
    return env.from_collection([f"{name}{i}" for i in range(count)], Types.STRING())


@race
def two_sources(env):
    letters(env, "a").print()
    letters(env, "b").print()


@race
def two_prints(env):
    stream = letters(env, "a")
    stream.print("x")
    stream.map(lambda text: text + "!", Types.STRING()).print("y")


@race
def union(env):
    letters(env, "a").union(letters(env, "b")).print()


class Sides(CoMapFunction):
    def map1(self, value):
        return "1" + value

    def map2(self, value):
        return "2" + value


@race
def connected(env):
    letters(env, "a").connect(letters(env, "b")).map(Sides(), Types.STRING()).print()


@race
def connected_second_first(env):
    second = letters(env, "b")
    letters(env, "a").connect(second).map(Sides(), Types.STRING()).print()


class State(KeyedCoProcessFunction):
    """One input sets the state, the other one shows it."""

    def __init__(self, setting):
        self.setting = setting

    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("s", Types.STRING()))

    def process_element1(self, value, ctx):
        return self.process(value, setting=self.setting == 1)

    def process_element2(self, value, ctx):
        return self.process(value, setting=self.setting == 2)

    def process(self, value, *, setting):
        if setting:
            self.state.update(value[1])
            return []
        return [f"{value[0]}{value[1]}:{self.state.value()}"]


@race
def state_by_first(env):
    names, events = env.from_collection(NAMES, texts()), env.from_collection(EVENTS, texts())
    keyed = names.connect(events).key_by(lambda name: name[0], lambda event: event[0])
    keyed.process(State(1), Types.STRING()).print()


@race
def state_by_second(env):
    events, names = env.from_collection(EVENTS, texts()), env.from_collection(NAMES, texts())
    keyed = events.connect(names).key_by(lambda event: event[0], lambda name: name[0])
    keyed.process(State(2), Types.STRING()).print()


def rules_state():
    return MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class Rule(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value[0]}{value[1]}:{ctx.get_broadcast_state(rules_state()).get(value[0])}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(rules_state()).put(value[0], value[1])


class KeyedRule(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value[0]}{value[1]}:{ctx.get_broadcast_state(rules_state()).get(value[0])}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(rules_state()).put(value[0], value[1])


@race
def rules_for_events(env):
    rules = env.from_collection(NAMES, texts()).broadcast(rules_state())
    env.from_collection(EVENTS, texts()).connect(rules).process(Rule(), Types.STRING()).print()


@race
def rules_for_mapped_events(env):
    events = env.from_collection(EVENTS, texts()).map(lambda event: event, texts())
    rules = env.from_collection(NAMES, texts()).broadcast(rules_state())
    events.connect(rules).process(Rule(), Types.STRING()).print()


@race
def mapped_rules_for_events(env):
    events = env.from_collection(EVENTS, texts())
    rules = env.from_collection(NAMES, texts()).map(lambda rule: rule, texts()).broadcast(rules_state())
    events.connect(rules).process(Rule(), Types.STRING()).print()


@race
def rules_for_keyed_events(env):
    events = env.from_collection(EVENTS, texts())
    rules = env.from_collection(NAMES, texts()).broadcast(rules_state())
    events.key_by(lambda event: event[0]).connect(rules).process(KeyedRule(), Types.STRING()).print()


class Odd(ProcessFunction):
    def process_element(self, value, ctx):
        if int(value[1:]) % 2:
            yield OutputTag("side", Types.STRING()), value
        else:
            yield value


@race
def side_outputs(env):
    stream = letters(env, "a", 8).process(Odd(), Types.STRING())
    stream.get_side_output(OutputTag("side", Types.STRING())).print("side")
    stream.print("main")


class Timers(KeyedProcessFunction):
    """Register a timer that is due after the end of a short job."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 5000)
        yield f"el {value}"

    def on_timer(self, timestamp, ctx):
        yield f"timer {ctx.get_current_key()}"


@race
def pending_timers(env):
    stream = env.from_collection(["a", "b", "c"], Types.STRING())
    stream.key_by(lambda text: text).process(Timers(), Types.STRING()).print()


def runs() -> list[tuple[str, Run]]:
    """Return the runs: each program in both modes, at parallelism 1."""
    return [(name, Run(mode, 1)) for name in RACES for mode in BOTH]


def record() -> None:
    """Run everything several times and write the frequency of each output."""
    command = [sys.executable, "-m", "tests.conformance.races", "--run"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603
    found: dict[str, Counter[str]] = {}
    for part in printed.split(f"{MARK} ")[1:]:
        title, _, lines = part.partition("\n")
        found.setdefault(title, Counter())[lines] += 1
    content = {
        title: [{"runs": count, "lines": lines.splitlines()} for lines, count in outcomes.most_common()]
        for title, outcomes in found.items()
    }
    RECORDED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def run_all() -> None:
    """Run everything; all output goes through Java, like PyFlink's own."""
    from pyflink.java_gateway import get_gateway
    from tests.conformance.record import make_environment

    # The workers of PyFlink are started as `python`.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    for name, run in runs():
        for _ in range(RUNS):
            env = make_environment(run)
            get_gateway().jvm.System.out.println(f"{MARK} {name} {run}")
            RACES[name](env)
            env.execute(name)


if __name__ == "__main__":
    run_all() if "--run" in sys.argv else record()
