# mypy: disable-error-code="import-not-found,import-untyped"
"""Build the streams of a description, both on real PyFlink and on flintstream."""

from importlib import import_module

from pyflink.common import Types
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from tests.differential import functions as f
from tests.differential import keyed_functions as k
from tests.differential.facts import TIMED


def build(env, program):
    """Return the streams of the results, in the order of ``program.results()``."""
    streams: list = []
    for step in program.steps:
        if step.op == "stamp":
            # Several operators in PyFlink, where set_parallelism would affect only the last one.
            env.set_parallelism(program.parallelism_of(step))
        streams.append(BUILDERS[step.op](env, [streams[i] for i in step.inputs], step.options))
        env.set_parallelism(program.parallelism)
        # Sources of collections always have one subtask; a union and a side output are not separate operators.
        if step.op not in {"collection", "union", "side"}:
            streams[-1].set_parallelism(program.parallelism_of(step))
    return [streams[position] for position in program.results()]


# Modules of PyFlink 2.3 from which a name can be imported; the defining one is the first.
PLACES = {
    "Duration": ("common", "common.time", "common.watermark_strategy", "datastream.checkpoint_config"),
    "OutputTag": ("datastream", "datastream.data_stream", "datastream.output_tag", "datastream.window"),
    "Time": ("common", "common.time", "datastream.async_data_stream", "datastream.state", "datastream.window"),
    "WatermarkStrategy": (
        "common",
        "common.watermark_strategy",
        "datastream.data_stream",
        "datastream.stream_execution_environment",
    ),
}


def imported(name, options):
    """Return a name as a program imports it from one of the modules that have it."""
    places = PLACES[name]
    return getattr(import_module(f"pyflink.{places[options.get('imports', 0) % len(places)]}"), name)


def collection(env, inputs, options):
    form = options["form"]
    loose = options.get("loose")
    records = [f.make(form, key, number, time, loose) for key, number, time in options["records"]]
    return env.from_collection(records, f.type_of(form))


def sequence(env, inputs, options):
    source = NumberSequenceSource(0, options["count"] - 1)
    strategy = imported("WatermarkStrategy", options).no_watermarks()
    if options.get("assigner"):
        strategy = strategy.with_timestamp_assigner(f.UNUSABLE_ASSIGNERS[options["assigner"]]())
    numbers = env.from_source(source, strategy, "numbers", Types.LONG())
    if options["single"]:
        numbers = numbers.set_parallelism(1)
    return numbers.map(f.FromIndex(options["form"], options["step"]), f.type_of(options["form"]))


def stamp(env, inputs, options):
    kind, strategies, durations = (
        options["strategy"],
        *(imported(n, options) for n in ("WatermarkStrategy", "Duration")),
    )
    if kind == "monotonous":
        strategy = strategies.for_monotonous_timestamps()
    elif kind == "bounded":
        strategy = strategies.for_bounded_out_of_orderness(durations.of_millis(20))
    else:
        strategy = strategies.no_watermarks()
    if options["idle"]:
        # PyFlink forgets the assigner when idleness is set after it.
        strategy = strategy.with_idleness(durations.of_minutes(10))
    return inputs[0].assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(f.TimeField()))


def map_(env, inputs, options):
    function = f.Map(options["how"], options["form"], options.get("loose"))
    return inputs[0].map(written(function, "map", options), f.type_of(options["form"]))


def written(function, method, options):
    """Return an object of a PyFlink class, or the replacement given in the options."""
    how = options.get("written")
    return f.written(how, getattr(function, method)) if how else function


def flat_map(env, inputs, options):
    function = f.FlatMap(options["how"], options["form"])
    return inputs[0].flat_map(written(function, "flat_map", options), f.type_of(options["form"]))


def filter_(env, inputs, options):
    return inputs[0].filter(f.written(options.get("written"), f.keep))


def holes(env, inputs, options):
    return inputs[0].map(f.hole)


def without_holes(env, inputs, options):
    return inputs[0].filter(f.is_there)


def process(env, inputs, options):
    form, tag = options["form"], new_tag(options)
    stream = inputs[0].process(f.Process(form, tag, timestamps=options.get("timestamps", True)), f.type_of(form))
    return with_side_output(stream, options)


def new_tag(options):
    return imported("OutputTag", options)("side", f.type_of(options["form"])) if options["side"] else None


def with_side_output(stream, options):
    # Without this, tagged records would stay in the main stream.
    if options["side"]:
        stream.get_side_output(new_tag(options))
    return stream


def side(env, inputs, options):
    return inputs[0].get_side_output(imported("OutputTag", options)("side", f.type_of(options["form"])))


def partition(env, inputs, options):
    stream, how = inputs[0], options["how"]
    if how == "custom":
        moved = stream.partition_custom(f.written(options.get("written"), f.by_number), lambda record: record[1])
    else:
        moved = getattr(stream, how)()
    return moved.map(f.same, f.type_of(options["form"]))


def union(env, inputs, options):
    return inputs[0].union(inputs[1])


def keyed(stream, options):
    """Key a stream, with a key type if the records are typed and the options request it."""
    select = options["select"]
    key_type = None
    if options["typed_key"]:
        key_type = {"key": Types.STRING, "parity": Types.LONG}[select]()
    return stream.key_by(f.written(options.get("written"), f.Select(select)), key_type)


def keyed_map(env, inputs, options):
    return keyed(inputs[0], options).map(k.KeyedMap(options["memory"], options["form"]), f.type_of(options["form"]))


def keyed_flat_map(env, inputs, options):
    function = k.KeyedFlatMap(options["memory"], options["form"])
    return keyed(inputs[0], options).flat_map(function, f.type_of(options["form"]))


def reduce(env, inputs, options):
    function = k.Reduce(options["how"], options["form"])
    return keyed(inputs[0], options).reduce(written(function, "reduce", options))


def rolling(env, inputs, options):
    return getattr(keyed(inputs[0], options), options["how"])(1)


def keyed_process(env, inputs, options):
    function = k.KeyedProcess(options, new_tag(options))
    return with_side_output(keyed(inputs[0], options).process(function, f.type_of(options["form"])), options)


def window(env, inputs, options):
    kind, size, slide = options["assigner"], options["size"], options["slide"]
    every = options["select"] == "all"
    stream = inputs[0] if every else keyed(inputs[0], options)
    timed = kind in TIMED
    if kind == "count":
        sizes = (size,) if slide is None else (size, slide)
        windows = stream.count_window(*sizes)
    else:
        windows = (stream.window_all if every else stream.window)(
            assigner(kind, size, slide, imported("Time", options))
        )
    if kind == "global":
        trigger = CountTrigger.of(size)
        windows = windows.trigger(PurgingTrigger.of(trigger) if options["purge"] else trigger)
    if options["lateness"]:
        windows = windows.allowed_lateness(options["lateness"])
    if options["late"]:
        windows = windows.side_output_late_data(imported("OutputTag", options)("side", f.type_of(options["input"])))
    return result_of(windows, options, timed=timed, every=every)


def assigner(kind, size, slide, time):
    if kind == "global":
        return GlobalWindows.create()
    if kind == "tumbling":
        sizes = [size] if slide is None else [size, slide]
        return TumblingEventTimeWindows.of(*map(time.milliseconds, sizes))
    if kind == "sliding":
        return SlidingEventTimeWindows.of(time.milliseconds(size), time.milliseconds(slide))
    return EventTimeSessionWindows.with_gap(time.milliseconds(size))


def result_of(windows, options, *, timed, every):
    form, how, ordered = options["form"], options["how"], options["ordered"]
    function: object
    if every:
        function = k.OfAllWindow(form, ordered=ordered, timed=timed)
    else:
        function = k.OfWindow(form, ordered=ordered, timed=timed, counting=options["counting"])
    if options["function"] == "process":
        return windows.process(function, f.type_of(form))
    if not options["function"].endswith("+process"):
        function = None
    if options["function"].startswith("reduce"):
        reducer = k.Reduce(how, options["input"])
        return windows.reduce(reducer, function, f.type_of(form)) if function else windows.reduce(reducer)
    # The aggregate is a record of the result, or one for the window function.
    aggregate = k.Aggregate(how, form)
    if function is None:
        return windows.aggregate(aggregate, output_type=f.type_of(form))
    return windows.aggregate(aggregate, function, output_type=f.type_of(form))


def co_map(env, inputs, options):
    form = options["form"]
    return inputs[0].connect(inputs[1]).map(f.CoMap(form), f.type_of(form))


def co_flat_map(env, inputs, options):
    form = options["form"]
    return inputs[0].connect(inputs[1]).flat_map(f.CoFlatMap(form), f.type_of(form))


def co_process(env, inputs, options):
    left, right = (keyed(stream, options) for stream in inputs)
    return left.connect(right).process(k.CoProcess(options), f.type_of(options["form"]))


def broadcast(env, inputs, options):
    rules = inputs[1].broadcast(k.rules_descriptor())
    return inputs[0].connect(rules).process(k.Broadcast(options["form"]), f.type_of(options["form"]))


def keyed_broadcast(env, inputs, options):
    rules = inputs[1].broadcast(k.rules_descriptor())
    stream = keyed(inputs[0], options)
    return stream.connect(rules).process(k.KeyedBroadcast(options), f.type_of(options["form"]))


BUILDERS = {
    "collection": collection,
    "sequence": sequence,
    "stamp": stamp,
    "map": map_,
    "flat_map": flat_map,
    "filter": filter_,
    "holes": holes,
    "without_holes": without_holes,
    "process": process,
    "side": side,
    "partition": partition,
    "union": union,
    "keyed_map": keyed_map,
    "keyed_flat_map": keyed_flat_map,
    "reduce": reduce,
    "rolling": rolling,
    "keyed_process": keyed_process,
    "window": window,
    "co_map": co_map,
    "co_flat_map": co_flat_map,
    "co_process": co_process,
    "broadcast": broadcast,
    "keyed_broadcast": keyed_broadcast,
}
