"""A script without functions: here mypy looks at each line, annotations or not."""

from flintstream.common import Row, Types
from flintstream.datastream import (
    CoMapFunction,
    FlatMapFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from flintstream.datastream.state import MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)

tag = OutputTag("late")
count = ValueStateDescriptor("count", None)
total = ReducingStateDescriptor("total", lambda one, other: one + other, Types.LONG())
rules = MapStateDescriptor("rules", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


class Named:
    def __init__(self, name):
        self.name = name


class Double(MapFunction, Named):
    def map(self, value):
        return value * 2


class Halves(Named, FlatMapFunction):
    def __init__(self):
        super().__init__("halves")

    def flat_map(self, value):
        return [value / 2, value / 2]


class Late(ProcessFunction):
    def process_element(self, value, ctx):
        yield tag, value
        yield value


class Both(CoMapFunction):
    def map1(self, value):
        return value

    def map2(self, value):
        return None


numbers = env.from_collection([1, 2, 3])
doubled = numbers.map(Double("double")).name("doubled").uid("doubled")
halves = doubled.flat_map(Halves())
late = halves.process(Late()).get_side_output(tag)
late.map(lambda value: value.anything).print()
numbers.map(lambda number: number % 2 == 0).filter(lambda even: even).print()
numbers.connect(late).map(Both()).print("both")
words = env.from_collection([("a", 1), ("b", 2)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
counts = words.key_by(lambda word: word[0]).sum(1)
counts.key_by(lambda word: word[1]).min_by(0).add_sink
rows = env.from_collection(
    collection=[Row(1, "a")], type_info=Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
)
names = rows.map(lambda row: row.name.upper() + row[1]).broadcast()
nested = words.map(lambda word: {"name": word[0], "many": [word[1]]}).map(lambda entry: entry["many"])
pairs = words.map(lambda word: (word[0], 1)).key_by(lambda word: word[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
for pair in pairs.execute_and_collect():
    print(pair[0], pair[1])
empty = env.from_collection([], Types.INT())
mixed = env.from_collection([1, "a", None]).map(lambda anything: str(anything))
