# mypy: disable-error-code="import-not-found,import-untyped"
"""Functions on streams without keys."""

from pyflink.common import Row, Types
from pyflink.datastream import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    OutputTag,
    Partitioner,
    ProcessFunction,
)
from tests.conformance.registry import collected, program


@program(("STREAMING", "BATCH"))
def map_without_type(env):
    return env.from_collection([1, 2, 3]).map(lambda i: (i, i * i))


@program(("STREAMING", "BATCH"), parallelism=(1, 2), ordering="multiset")
def map_with_type(env):
    numbers = env.from_collection([1, 2, 3, 4, 5], type_info=Types.INT())
    return numbers.map(lambda i: (str(i), i / 2), output_type=Types.TUPLE([Types.STRING(), Types.DOUBLE()]))


class Scaled(MapFunction):
    def open(self, runtime_context):
        self.factor = 10
        self.seen = 0

    def map(self, value):
        self.seen += 1
        return value * self.factor, self.seen


@program()
def map_class_with_open(env):
    """`open` runs before the first record, and the function keeps its attributes from record to record."""
    return env.from_collection([3, 1, 2]).map(Scaled())


class Closing(MapFunction):
    def __init__(self, suffix):
        self.suffix = suffix

    def map(self, value):
        return value + self.suffix

    def close(self):
        self.suffix = None


@program()
def map_class_with_argument(env):
    return env.from_collection(["a", "b"], Types.STRING()).map(Closing("!"), Types.STRING())


@program()
def map_to_none_is_a_record(env):
    """A second function follows, because a None that leaves the chain for a sink is a NullPointerException."""
    return env.from_collection([1, 2, 3]).map(lambda i: None if i == 2 else i).map(lambda i: (i, i is None))


@program()
def keyed_process_function_on_a_plain_stream(env):
    """It is accepted."""

    class Pass(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield value, ctx.timestamp()

    return env.from_collection([1, 2]).process(Pass())


@program(("STREAMING", "BATCH"))
def flat_map_generator(env):
    def words(line):
        yield from line.split()

    return env.from_collection(["to be", "", "or not"], Types.STRING()).flat_map(words, output_type=Types.STRING())


@program()
def flat_map_list(env):
    return env.from_collection([0, 1, 2]).flat_map(lambda n: [n] * n)


class Countdown(FlatMapFunction):
    def open(self, runtime_context):
        self.calls = 0

    def flat_map(self, value):
        self.calls += 1
        while value > 0:
            yield self.calls, value
            value -= 1


@program()
def flat_map_class(env):
    return env.from_collection([2, 0, 3]).flat_map(Countdown(), Types.TUPLE([Types.INT(), Types.INT()]))


@program(("STREAMING", "BATCH"), parallelism=(1, 2), ordering="multiset")
def filter_function(env):
    return env.from_collection(list(range(10)), Types.INT()).filter(lambda i: i % 3 == 0)


class Above(FilterFunction):
    def __init__(self, limit):
        self.limit = limit

    def open(self, runtime_context):
        self.limit += 1

    def filter(self, value):
        return value[0] > self.limit


@program()
def filter_class_with_open(env):
    rows = env.from_collection([(1, "a"), (2, "b"), (3, "c")], Types.ROW([Types.INT(), Types.STRING()]))
    return rows.filter(Above(1))


@program()
def filter_by_truth(env):
    """The result of the function need not be a bool."""
    return env.from_collection(["", "x", "yy"]).filter(len).map(str.upper)


@program()
def chain_of_functions(env):
    return (
        env.from_collection(["3", "x", "1", "2"])
        .filter(lambda s: s.isdigit())
        .map(int)
        .flat_map(range)
        .map(lambda n: f"<{n}>", Types.STRING())
    )


@program()
def raw_objects_inside_a_chain(env):
    """A declared type converts nothing between functions of one chain: the tuple stays a tuple, 70000 stays 70000."""
    return (
        env.from_collection([70000])
        .map(lambda i: (i, "x"), output_type=Types.ROW([Types.SHORT(), Types.STRING()]))
        .map(lambda record: (type(record).__name__, record[0]))
    )


@program()
def rows_instead_of_tuples_after_an_exchange(env):
    """The key exchange does convert: the next function gets a Row."""
    return (
        env.from_collection([7])
        .map(lambda i: Row(i, "x"), output_type=Types.ROW([Types.INT(), Types.STRING()]))
        .key_by(lambda row: row[0])
        .map(lambda record: (type(record).__name__, record[0]))
    )


@program(("STREAMING", "BATCH"), parallelism=(1, 2), ordering="multiset")
def union_of_three(env):
    one, two, three = (env.from_collection(part, Types.INT()) for part in ([1, 2], [3], [4, 5, 6]))
    return one.union(two, three).map(lambda i: -i, Types.INT())


@program(ordering="multiset")
def union_with_itself(env):
    numbers = env.from_collection([1, 2], Types.INT()).map(lambda i: i + 1, Types.INT())
    return numbers.union(numbers)


@program(ordering="multiset")
def union_of_keyed_streams(env):
    """The union is of the values and is not keyed."""
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    left = env.from_collection([("a", 1), ("b", 2)], pair).key_by(lambda t: t[0])
    right = env.from_collection([("a", 3)], pair).key_by(lambda t: t[0])
    return left.union(right).map(lambda t: t[1], Types.INT())


@program()
def project_fields(env):
    triples = env.from_collection(
        [(1, "a", 2.5), (2, "b", 3.5)], Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE()])
    )
    return [triples.project(2, 0), triples.project(1)]


class Repeat(ProcessFunction):
    def process_element(self, value, ctx):
        if value == 2:
            return None
        if value == 3:
            return []
        return [(value, ctx.timestamp()), (value, ctx.timer_service().current_watermark())]


@program()
def process_function(env):
    """The result may be nothing, a list or a generator. Without timestamps `timestamp()` is the smallest long."""
    return env.from_collection([1, 2, 3, 4]).process(Repeat())


class Sorting(ProcessFunction):
    def __init__(self, odd, big):
        self.odd = odd
        self.big = big

    def process_element(self, value, ctx):
        yield value
        if value % 2:
            yield self.odd, value
        if value > 3:
            yield self.big, f"big {value}"


@program(("STREAMING", "BATCH"))
def side_outputs(env):
    odd, big = OutputTag("odd", Types.INT()), OutputTag("big", Types.STRING())
    main = env.from_collection([1, 2, 3, 4, 5], Types.INT()).process(Sorting(odd, big), Types.INT())
    return [main, main.get_side_output(odd), main.get_side_output(big)]


@program()
def side_output_without_type(env):
    odd, big = OutputTag("odd"), OutputTag("big")
    main = env.from_collection([1, 4], Types.INT()).process(Sorting(odd, big), Types.INT())
    return [main.map(lambda i: i + 100, Types.INT()), main.get_side_output(big).map(lambda s: (s, len(s)))]


@program()
def side_output_that_nobody_asks_for(env):
    """Without any call of `get_side_output` the tuples with a tag stay in the main stream."""
    odd, big = OutputTag("odd", Types.INT()), OutputTag("big", Types.STRING())
    main = env.from_collection([1, 4], Types.INT()).process(Sorting(odd, big))
    return main.map(lambda r: (r[0].tag_id, r[1]) if isinstance(r, tuple) else r)


@program()
def side_output_with_one_tag_of_two_asked_for(env):
    """Records with another tag are then in no stream."""
    odd = OutputTag("odd", Types.INT())
    main = env.from_collection([1, 2, 5]).process(Sorting(odd, OutputTag("big", Types.STRING())))
    readable = main.map(lambda r: (r[0].tag_id, r[1]) if isinstance(r, tuple) else r)
    return [main.get_side_output(odd).map(lambda i: i * 11, Types.INT()), readable]


class Labels(CoMapFunction):
    def map1(self, value):
        return None if value == 2 else f"number {value}"

    def map2(self, value):
        return f"text {value}"


@program(parallelism=(1, 2), ordering="multiset")
def connected_map_drops_none(env):
    numbers = env.from_collection([1, 2, 3], Types.INT())
    texts = env.from_collection(["a", "b"], Types.STRING())
    return numbers.connect(texts).map(Labels(), Types.STRING())


class Both(CoFlatMapFunction):
    def flat_map1(self, value):
        for _ in range(value):
            yield value

    def flat_map2(self, value):
        return None if value == "skip" else [value, value]


@program(ordering="multiset")
def connected_flat_map(env):
    numbers = env.from_collection([1, 2, 0], Types.INT())
    texts = env.from_collection(["a", "skip"], Types.STRING())
    return numbers.connect(texts).flat_map(Both())


class Apart(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield "first", value

    def process_element2(self, value, ctx):
        yield "second", value


@program(ordering="multiset")
def connected_process(env):
    first = env.from_collection([1, 2], Types.INT())
    return first.connect(env.from_collection(["x"])).process(Apart())


@program()
def execute_and_collect_all(env):
    numbers = env.from_collection([1, 2, 3], Types.INT()).map(lambda i: (i, str(i)))
    with numbers.execute_and_collect() as results:
        return collected(results)


@program()
def execute_and_collect_typed(env):
    pairs = env.from_collection([(1, "a"), (2, None)], Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()]))
    with pairs.execute_and_collect("collect") as results:
        return collected((row.id, row.name, row) for row in results)


@program()
def execute_and_collect_limited(env):
    return collected(env.from_collection(list(range(100)), Types.INT()).execute_and_collect(limit=3))


@program()
def execute_twice(env):
    """A second execution runs only the steps that were added after the first one."""
    numbers = env.from_collection([1, 2, 3], Types.INT()).map(lambda i: i * 2, Types.INT())
    with numbers.execute_and_collect() as results:
        first = list(results)
    return [collected(first), numbers.map(lambda i: i + 1, Types.INT())]


@program(parallelism=(1, 2), ordering="multiset")
def partitioning(env):
    """Wherever the records go, all of them arrive; a broadcast gives one copy to every subtask."""
    numbers = env.from_collection(list(range(6)), Types.INT())

    def after(stream):
        return stream.map(lambda i: i, Types.INT())

    return [
        after(numbers.rebalance()),
        after(numbers.shuffle()),
        after(numbers.rescale()),
        after(numbers.broadcast()),
        after(after(numbers.rebalance()).forward()),
    ]


class Subtask(MapFunction):
    def open(self, runtime_context):
        self.index = runtime_context.get_index_of_this_subtask()
        self.count = runtime_context.get_number_of_parallel_subtasks()

    def map(self, value):
        return value, self.index, self.count


@program(parallelism=(1, 2), ordering="multiset")
def partition_custom(env):
    """The partitioner gets the parallelism of the operator behind it."""
    words = env.from_collection(["a", "bb", "ccc", "dddd", "eeeee"], Types.STRING())
    return words.partition_custom(lambda key, count: key % count, len).map(Subtask())


class ByLength(KeySelector):
    def get_key(self, value):
        return len(value)


class FromTheEnd(Partitioner):
    def partition(self, key, num_partitions):
        return num_partitions - 1 - key % num_partitions


@program(parallelism=(1, 2), ordering="multiset")
def partition_custom_classes(env):
    words = env.from_collection(["a", "bb", "ccc", "dddd", "eeeee"], Types.STRING())
    return words.partition_custom(FromTheEnd(), ByLength()).map(Subtask())


@program(parallelism=(2,), ordering="multiset")
def parallelism_of_one_operator(env):
    numbers = env.from_collection([5, 6, 7], Types.INT())
    single = numbers.map(Subtask()).set_parallelism(1)
    return single.map(lambda record: record[1:]).set_parallelism(1).set_max_parallelism(4)


@program(parallelism=(2,), ordering="multiset")
def force_non_parallel(env):
    return env.from_collection([5, 6, 7], Types.INT()).map(Subtask()).force_non_parallel()


@program()
def names_and_chaining_do_not_change_results(env):
    return (
        env.from_collection([1, 2, 3], Types.INT())
        .map(lambda i: i + 1, Types.INT())
        .name("plus one")
        .uid("plus-one")
        .disable_chaining()
        .map(lambda i: i * 2, Types.INT())
        .start_new_chain()
        .slot_sharing_group("default")
        .filter(lambda i: i > 4)
        .set_description("above four")
        .set_buffer_timeout(10)
    )


@program()
def two_consumers_of_one_stream(env):
    base = env.from_collection([1, 2, 3], Types.INT()).map(lambda i: i * 10, Types.INT())
    return [base.map(lambda i: i + 1, Types.INT()), base.filter(lambda i: i > 10)]


@program()
def empty_result(env):
    return env.from_collection([1, 2], Types.INT()).filter(lambda i: False)


@program()
def closures_travel_with_functions(env):
    table = {1: "one", 2: "two"}
    offset = 1

    def lookup(i):
        return table.get(i + offset, "?")

    return env.from_collection([0, 1, 2], Types.INT()).map(lookup, Types.STRING())


class WithParameter(MapFunction):
    def open(self, runtime_context):
        self.found = runtime_context.get_job_parameter("number", "none")
        self.missing = runtime_context.get_job_parameter("other", "none")
        self.group = runtime_context.get_metrics_group()
        self.counter = self.group.counter("seen")

    def map(self, value):
        self.counter.inc()
        return value, self.found, self.missing, self.counter.get_count()


@program()
def job_parameters_and_counters(env):
    env.get_config().set_global_job_parameters({"number": "42"})
    return env.from_collection([1, 2], Types.INT()).map(WithParameter())
