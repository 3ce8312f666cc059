"""Programs that inspect every object that user code receives, and record its public attributes.

They import only PyFlink's names, and run on both: real PyFlink, to record (``python -m tests.parity.record``), or
flintstream, to compare. Run as a script, the module writes the attributes on PyFlink in one mode:
``python tests/parity/handed_out.py thread seen.json``.
"""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflink.datastream.functions import AggregateFunction, AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from pyflink.datastream.window import (
    CountWindow,
    EventTimeSessionWindows,
    GlobalWindow,
    MergingWindowAssigner,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMES = MapStateDescriptor("names", Types.STRING(), Types.INT())
RECORDS = [("a", 1, 1000), ("b", 2, 2000), ("a", 3, 3000)]
RECORD = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])

Seen = tuple[str, str]
"""The name of an object here, and its attributes as JSON: name to ``method`` or ``value``."""


def look(name: str, thing: Any) -> Seen:
    """Return the public attributes of an object."""
    found = {}
    for attribute in dir(thing):
        if attribute.startswith("_"):
            continue
        try:
            found[attribute] = "method" if callable(getattr(thing, attribute)) else "value"
        except Exception:  # noqa: BLE001 - a property without a value yet
            found[attribute] = "value"
    return name, json.dumps(found)


def marked(env: Any) -> Any:
    """Return a stream with event time."""

    class Third(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[2])

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Third())
    return env.from_collection(RECORDS, RECORD).assign_timestamps_and_watermarks(strategy)


def first(value: Any) -> Any:
    """Select the key."""
    return value[0]


class Average(AggregateFunction):
    """Sum up."""

    def create_accumulator(self) -> int:
        """Start."""
        return 0

    def add(self, value: int, accumulator: int) -> int:
        """Add."""
        return accumulator + value

    def get_result(self, accumulator: int) -> int:
        """Return the sum."""
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        """Add two."""
        return acc_a + acc_b


def states_of(store: Any) -> dict[str, Any]:
    """Get one state of each kind."""
    return {
        "ValueState": store.get_state(ValueStateDescriptor("value", Types.INT())),
        "ListState": store.get_list_state(ListStateDescriptor("list", Types.INT())),
        "MapState": store.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT())),
        "ReducingState": store.get_reducing_state(
            ReducingStateDescriptor("reducing", lambda one, other: one + other, Types.INT())
        ),
        "AggregatingState": store.get_aggregating_state(
            AggregatingStateDescriptor("aggregating", Average(), Types.INT())
        ),
    }


def filled(states: dict[str, Any]) -> Iterator[Seen]:
    """Use the states, and inspect them and the objects they return."""
    states["ValueState"].update(1)
    states["ListState"].add(1)
    states["MapState"].put("a", 1)
    states["ReducingState"].add(1)
    states["AggregatingState"].add(1)
    for name, state in states.items():
        yield look(name, state)
    yield look("ListState.get()", states["ListState"].get())
    yield look("MapState.keys()", states["MapState"].keys())
    yield look("MapState.values()", states["MapState"].values())
    yield look("MapState.items()", states["MapState"].items())


def keyed_process(env: Any) -> Any:
    """Inspect the arguments of a keyed process function."""

    class Look(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.states = states_of(runtime_context)
            self.seen = [look("RuntimeContext of a KeyedProcessFunction", runtime_context)]

        def process_element(self, value: Any, ctx: Any) -> Iterator[Seen]:
            ctx.timer_service().register_event_time_timer(5000)
            yield from self.seen
            yield look("KeyedProcessFunction.Context", ctx)
            yield look("KeyedProcessFunction.Context.timer_service()", ctx.timer_service())
            yield from filled(self.states)

        def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Seen]:
            yield look("KeyedProcessFunction.OnTimerContext", ctx)
            yield look("KeyedProcessFunction.OnTimerContext.timer_service()", ctx.timer_service())
            yield look("KeyedProcessFunction.OnTimerContext.time_domain()", ctx.time_domain())

    return marked(env).key_by(first, Types.STRING()).process(Look())


def process(env: Any) -> Any:
    """Inspect the arguments of a process function."""

    class Look(ProcessFunction):
        def open(self, runtime_context: Any) -> None:
            group = runtime_context.get_metrics_group()
            self.seen = [
                look("RuntimeContext of a ProcessFunction", runtime_context),
                look("MetricGroup", group),
                look("MetricGroup.add_group()", group.add_group("more")),
                look("Counter", group.counter("counter")),
                look("Distribution", group.distribution("distribution")),
                look("Meter", group.meter("meter")),
            ]

        def process_element(self, value: Any, ctx: Any) -> Iterator[Seen]:
            yield from self.seen
            yield look("ProcessFunction.Context", ctx)
            yield look("ProcessFunction.Context.timer_service()", ctx.timer_service())
            yield look("a record declared TUPLE", value)

    return marked(env).process(Look())


def rows(env: Any) -> Any:
    """Inspect records of a row type."""

    class Look(MapFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a MapFunction", runtime_context)

        def map(self, value: Any) -> str:
            return json.dumps([self.seen, look("a record declared ROW", value)])

    typed = Types.ROW_NAMED(["a", "b"], [Types.STRING(), Types.INT()])
    texts = env.from_collection([Row("a", 1)], typed).map(Look(), Types.STRING())
    return texts.flat_map(lambda text: map(tuple, json.loads(text)))


def co_process(env: Any) -> Any:
    """Inspect the arguments of a function of two streams."""

    class Look(CoProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a CoProcessFunction", runtime_context)

        def process_element1(self, value: Any, ctx: Any) -> Iterator[Seen]:
            yield self.seen
            yield look("CoProcessFunction.Context", ctx)
            yield look("CoProcessFunction.Context.timer_service()", ctx.timer_service())

        def process_element2(self, value: Any, ctx: Any) -> Iterator[Seen]:
            yield look("CoProcessFunction.Context", ctx)

    return marked(env).connect(marked(env)).process(Look())


def co_map(env: Any) -> Any:
    """Inspect the arguments of a CoMapFunction."""

    class Look(CoMapFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a CoMapFunction", runtime_context)

        def map1(self, value: Any) -> Seen:
            return self.seen

        def map2(self, value: Any) -> Seen:
            return self.seen

    return marked(env).connect(marked(env)).map(Look())


def keyed_co_process(env: Any) -> Any:
    """Inspect the arguments of a keyed function of two streams."""

    class Look(KeyedCoProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.states = states_of(runtime_context)
            self.seen = look("RuntimeContext of a KeyedCoProcessFunction", runtime_context)

        def process_element1(self, value: Any, ctx: Any) -> Iterator[Seen]:
            ctx.timer_service().register_event_time_timer(5000)
            yield self.seen
            yield look("KeyedCoProcessFunction.Context", ctx)
            yield look("KeyedCoProcessFunction.Context.timer_service()", ctx.timer_service())

        def process_element2(self, value: Any, ctx: Any) -> Iterator[Seen]:
            yield look("KeyedCoProcessFunction.Context", ctx)

        def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Seen]:
            yield look("KeyedCoProcessFunction.OnTimerContext", ctx)
            yield look("KeyedCoProcessFunction.OnTimerContext.timer_service()", ctx.timer_service())

    return marked(env).connect(marked(env)).key_by(first, first, Types.STRING()).process(Look())


def broadcast(env: Any) -> Any:
    """Inspect the arguments of a broadcast function."""

    class Look(BroadcastProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a BroadcastProcessFunction", runtime_context)

        def process_element(self, value: Any, ctx: Any) -> Iterator[Seen]:
            yield self.seen
            yield look("BroadcastProcessFunction.ReadOnlyContext", ctx)
            yield look("BroadcastProcessFunction.ReadOnlyContext.get_broadcast_state()", ctx.get_broadcast_state(NAMES))

        def process_broadcast_element(self, value: Any, ctx: Any) -> Iterator[Seen]:
            ctx.get_broadcast_state(NAMES).put(value[0], value[1])
            yield look("BroadcastProcessFunction.Context", ctx)
            yield look("BroadcastProcessFunction.Context.get_broadcast_state()", ctx.get_broadcast_state(NAMES))

    return marked(env).connect(marked(env).broadcast(NAMES)).process(Look())


def keyed_broadcast(env: Any) -> Any:
    """Inspect the arguments of a keyed broadcast function."""

    class Look(KeyedBroadcastProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a KeyedBroadcastProcessFunction", runtime_context)

        def process_element(self, value: Any, ctx: Any) -> Iterator[Seen]:
            ctx.timer_service().register_event_time_timer(5000)
            yield self.seen
            yield look("KeyedBroadcastProcessFunction.ReadOnlyContext", ctx)
            yield look("KeyedBroadcastProcessFunction.ReadOnlyContext.timer_service()", ctx.timer_service())
            yield look(
                "KeyedBroadcastProcessFunction.ReadOnlyContext.get_broadcast_state()", ctx.get_broadcast_state(NAMES)
            )

        def process_broadcast_element(self, value: Any, ctx: Any) -> Iterator[Seen]:
            ctx.get_broadcast_state(NAMES).put(value[0], value[1])
            yield look("KeyedBroadcastProcessFunction.Context", ctx)
            yield look("KeyedBroadcastProcessFunction.Context.get_broadcast_state()", ctx.get_broadcast_state(NAMES))

        def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Seen]:
            yield look("KeyedBroadcastProcessFunction.OnTimerContext", ctx)
            yield look("KeyedBroadcastProcessFunction.OnTimerContext.timer_service()", ctx.timer_service())

    return marked(env).key_by(first, Types.STRING()).connect(marked(env).broadcast(NAMES)).process(Look())


def window(env: Any) -> Any:
    """Inspect the arguments of a process window function."""

    class Look(ProcessWindowFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a ProcessWindowFunction", runtime_context)

        def process(self, key: Any, context: Any, elements: Any) -> list[Seen]:
            state = context.global_state()
            return [
                self.seen,
                look("ProcessWindowFunction.Context", context),
                look("ProcessWindowFunction.Context.window()", context.window()),
                look("ProcessWindowFunction.Context.window_state()", context.window_state()),
                look("ProcessWindowFunction.Context.global_state()", state),
                look(
                    "ProcessWindowFunction.Context.global_state().get_state()",
                    state.get_state(ValueStateDescriptor("value", Types.INT())),
                ),
                look("the elements of a window", elements),
            ]

        def clear(self, context: Any) -> None:
            pass

    windowed = marked(env).key_by(first, Types.STRING()).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    return windowed.process(Look()).flat_map(lambda seen: [seen])


def window_apply(env: Any) -> Any:
    """Inspect the arguments of a window function."""

    class Look(WindowFunction):
        def apply(self, key: Any, window: Any, inputs: Any) -> list[Seen]:
            return [look("the window of a WindowFunction", window), look("the inputs of a WindowFunction", inputs)]

    windowed = marked(env).key_by(first, Types.STRING()).window(EventTimeSessionWindows.with_gap(Time.seconds(1)))
    return windowed.apply(Look())


def count_window(env: Any) -> Any:
    """Inspect the arguments of a function of a count window."""

    class Look(WindowFunction):
        def apply(self, key: Any, window: Any, inputs: Any) -> list[Seen]:
            return [look("the window of a count window", window)]

    return marked(env).key_by(first, Types.STRING()).count_window(1).apply(Look())


def window_all(env: Any) -> Any:
    """Inspect the arguments of a function of windows without keys."""

    class Look(ProcessAllWindowFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of a ProcessAllWindowFunction", runtime_context)

        def process(self, context: Any, elements: Any) -> list[Seen]:
            return [
                self.seen,
                look("ProcessAllWindowFunction.Context", context),
                look("ProcessAllWindowFunction.Context.window_state()", context.window_state()),
                look("ProcessAllWindowFunction.Context.global_state()", context.global_state()),
                look("the elements of a window without keys", elements),
            ]

        def clear(self, context: Any) -> None:
            pass

    return marked(env).window_all(TumblingEventTimeWindows.of(Time.seconds(1))).process(Look())


def window_all_apply(env: Any) -> Any:
    """Inspect the arguments of an AllWindowFunction."""

    class Look(AllWindowFunction):
        def apply(self, window: Any, inputs: Any) -> list[Seen]:
            return [
                look("the window of an AllWindowFunction", window),
                look("the inputs of an AllWindowFunction", inputs),
            ]

    return marked(env).window_all(TumblingEventTimeWindows.of(Time.seconds(1))).apply(Look())


def trigger(env: Any) -> Any:
    """Inspect the arguments of a trigger."""
    valued = ValueStateDescriptor("valued", Types.INT())

    class Look(Trigger):
        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> Any:
            raise told(
                look("Trigger.TriggerContext", ctx),
                look("the window of a Trigger", window),
                look("Trigger.TriggerContext.get_partitioned_state()", ctx.get_partitioned_state(valued)),
                look("Trigger.TriggerContext.get_metric_group()", ctx.get_metric_group()),
            )

        def on_processing_time(self, time: int, window: Any, ctx: Any) -> Any:
            return TriggerResult.CONTINUE

        def on_event_time(self, time: int, window: Any, ctx: Any) -> Any:
            return TriggerResult.FIRE

        def on_merge(self, window: Any, ctx: Any) -> None:
            pass

        def clear(self, window: Any, ctx: Any) -> None:
            pass

    return _triggered(env, Look(), None)


def on_merge(env: Any) -> Any:
    """Inspect the arguments of a trigger when windows merge."""

    class Look(Trigger):
        def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> Any:
            return TriggerResult.CONTINUE

        def on_processing_time(self, time: int, window: Any, ctx: Any) -> Any:
            return TriggerResult.CONTINUE

        def on_event_time(self, time: int, window: Any, ctx: Any) -> Any:
            return TriggerResult.FIRE

        def can_merge(self) -> bool:
            return True

        def on_merge(self, window: Any, ctx: Any) -> None:
            raise told(look("Trigger.OnMergeContext", ctx))

        def clear(self, window: Any, ctx: Any) -> None:
            pass

    return _triggered(env, Look(), EventTimeSessionWindows.with_gap(Time.seconds(100)))


def assigner(env: Any) -> Any:
    """Inspect the arguments of a window assigner."""

    class Look(MergingWindowAssigner):
        def assign_windows(self, element: Any, timestamp: int, context: Any) -> Any:
            raise told(
                look("WindowAssigner.WindowAssignerContext", context),
                look("WindowAssigner.WindowAssignerContext.get_runtime_context()", context.get_runtime_context()),
            )

        def merge_windows(self, windows: Any, callback: Any) -> None:
            pass

        def get_default_trigger(self, env: Any) -> Any:
            from pyflink.datastream.window import EventTimeTrigger

            return EventTimeTrigger()

        def get_window_serializer(self) -> Any:
            return TimeWindowSerializer()

        def is_event_time(self) -> bool:
            return True

    return _triggered(env, None, Look())


def merging(env: Any) -> Any:
    """Inspect the arguments of a merging window assigner."""

    class Look(EventTimeSessionWindows):
        def merge_windows(self, windows: Any, callback: Any) -> None:
            raise told(
                look("the windows of merge_windows()", windows),
                look("MergingWindowAssigner.MergeCallback", callback),
            )

    return _triggered(env, None, Look(1000))


def _triggered(env: Any, trigger: Any, assigner: Any) -> Any:
    class Nothing(WindowFunction):
        def apply(self, key: Any, window: Any, inputs: Any) -> list[Any]:
            return []

    windowed = (
        marked(env).key_by(first, Types.STRING()).window(assigner or TumblingEventTimeWindows.of(Time.seconds(1)))
    )
    return (windowed.trigger(trigger) if trigger else windowed).apply(Nothing())


def told(*seen: Seen) -> Exception:
    """Return an error with the recorded attributes, for functions that cannot emit; it fails the job."""
    return RuntimeError(f"<told>{json.dumps(seen)}</told>")


def what_was_told(error: Exception) -> list[Seen]:
    """Find the attributes in the message of the job's failure."""
    for text in re.findall(r"<told>(\[.*?\])</told>", str(error), re.DOTALL):
        with suppress(ValueError):
            return list(json.loads(text))
    return []


def asynchronous(env: Any) -> Any:
    """Inspect the arguments of an asynchronous function."""

    class Look(AsyncFunction):
        def open(self, runtime_context: Any) -> None:
            self.seen = look("RuntimeContext of an AsyncFunction", runtime_context)

        async def async_invoke(self, value: Any) -> list[Seen]:
            return [self.seen]

    return AsyncDataStream.unordered_wait(marked(env), Look(), Time.seconds(5), 2)


JOBS: tuple[Callable[[Any], Any], ...] = (
    keyed_process,
    process,
    rows,
    co_process,
    co_map,
    keyed_co_process,
    broadcast,
    keyed_broadcast,
    window,
    window_apply,
    count_window,
    window_all,
    window_all_apply,
    trigger,
    on_merge,
    assigner,
    merging,
    asynchronous,
)


def types() -> Iterator[Seen]:
    """Inspect type information of each kind."""
    for name in (
        "STRING",
        "BYTE",
        "BOOLEAN",
        "SHORT",
        "INT",
        "LONG",
        "FLOAT",
        "DOUBLE",
        "CHAR",
        "BIG_INT",
        "BIG_DEC",
        "INSTANT",
        "SQL_DATE",
        "SQL_TIME",
        "SQL_TIMESTAMP",
        "PICKLED_BYTE_ARRAY",
    ):
        yield look(f"Types.{name}()", getattr(Types, name)())
    item = Types.INT()
    yield look("Types.ROW()", Types.ROW([item]))
    yield look("Types.ROW_NAMED()", Types.ROW_NAMED(["a"], [item]))
    yield look("Types.TUPLE()", Types.TUPLE([item]))
    yield look("Types.PRIMITIVE_ARRAY()", Types.PRIMITIVE_ARRAY(item))
    yield look("Types.BASIC_ARRAY()", Types.BASIC_ARRAY(item))
    yield look("Types.OBJECT_ARRAY()", Types.OBJECT_ARRAY(item))
    yield look("Types.MAP()", Types.MAP(item, item))
    yield look("Types.LIST()", Types.LIST(item))


def driver(env: Any) -> Iterator[Seen]:
    """Inspect the objects of the main program."""
    numbers = marked(env)
    keyed = numbers.key_by(first, Types.STRING())
    windowed = keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
    connected = numbers.connect(numbers)
    tag = OutputTag("tag", Types.INT())
    yield look("StreamExecutionEnvironment", env)
    yield look("ExecutionConfig", env.get_config())
    yield look("CheckpointConfig", env.get_checkpoint_config())
    yield look("DataStream", numbers)
    yield look("KeyedStream", keyed)
    yield look("WindowedStream", windowed)
    yield look("AllWindowedStream", numbers.window_all(TumblingEventTimeWindows.of(Time.seconds(1))))
    yield look("ConnectedStreams", connected)
    yield look("ConnectedStreams.key_by()", connected.key_by(first, first, Types.STRING()))
    yield look("BroadcastStream", numbers.broadcast(NAMES))
    yield look("BroadcastConnectedStream", numbers.connect(numbers.broadcast(NAMES)))
    yield look("DataStream.union()", numbers.union(numbers))
    yield look("DataStream.get_side_output()", numbers.process(ProcessFunctionOfNothing()).get_side_output(tag))
    yield look("DataStream.print()", numbers.print())
    yield look("DataStream.get_type()", numbers.get_type())
    yield look("OutputTag", tag)
    yield look("Configuration", Configuration())
    yield look("Row", Row(a=1))
    yield look("Duration", Duration.of_millis(1))
    yield look("Time", Time.seconds(1))
    yield look("TimeWindow", TimeWindow(0, 1))
    yield look("CountWindow", CountWindow(1))
    yield look("GlobalWindow", GlobalWindow())
    yield look("WatermarkStrategy", WatermarkStrategy.for_monotonous_timestamps())
    yield look("MapStateDescriptor", NAMES)
    yield look("ValueStateDescriptor", ValueStateDescriptor("a", Types.INT()))
    yield look("ListStateDescriptor", ListStateDescriptor("a", Types.INT()))
    yield from types()
    with numbers.execute_and_collect() as results:
        yield look("DataStream.execute_and_collect()", results)
    numbers.map(lambda value: value).print()
    client = env.execute_async("looked at")
    yield look("JobClient", client)
    yield look("JobClient.get_job_id()", client.get_job_id())
    with suppress(Exception):  # the job may have ended by now
        yield look("JobClient.get_job_status().result()", client.get_job_status().result())
    result = client.get_job_execution_result().result()
    yield look("JobExecutionResult", result)
    yield look("JobClient.get_job_execution_result()", client.get_job_execution_result())


class ProcessFunctionOfNothing(ProcessFunction):
    """Drop all records."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        """Do nothing."""
        yield from ()


def everything(environment: Callable[[], Any]) -> dict[str, dict[str, str]]:
    """Run all programs and return the attributes of each object; unavailable ones are missing, with a message."""
    found: dict[str, dict[str, str]] = {}
    for job in JOBS:
        try:
            for name, attributes in job(environment()).execute_and_collect():
                found.setdefault(name, {}).update(json.loads(attributes))
        except Exception as error:  # noqa: BLE001 - any error of PyFlink
            seen = what_was_told(error)
            if not seen:
                print(f"{job.__name__}: {type(error).__name__}: {str(error)[-1000:]}")
            for name, attributes in seen:
                found.setdefault(name, {}).update(json.loads(attributes))
    try:
        for name, attributes in driver(environment()):
            found.setdefault(name, {}).update(json.loads(attributes))
    except Exception as error:  # noqa: BLE001 - any error of PyFlink
        print(f"driver: {type(error).__name__}: {str(error)[-1000:]}")
    return found


def main(mode: str, path: str) -> None:
    """Write the attributes of PyFlink's objects in a mode."""
    from pyflink.datastream import StreamExecutionEnvironment

    def environment() -> Any:
        configuration = Configuration()
        configuration.set_string("python.execution-mode", mode)
        configuration.set_string("restart-strategy.type", "none")
        return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)

    Path(path).write_text(json.dumps(everything(environment)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
