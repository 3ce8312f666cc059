"""Values that survive a declared type on PyFlink also survive here, and no value is changed silently."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest
from tests.typing_matrix.cases import PLACES, TYPES, VALUES, declared, make, unmake
from tests.typing_matrix.judge import describe, survives
from tests.typing_matrix.record import RECORDED

from flintstream.common import Configuration, SimpleStringSchema, Types
from flintstream.common._types.collected import collection_type
from flintstream.connectors.formats.errors import FormatError
from flintstream.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from flintstream.datastream.formats.csv import CsvRowSerializationSchema
from flintstream.datastream.formats.json import JsonRowSerializationSchema
from flintstream.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from flintstream.errors import PlanError
from flintstream.testing import CollectSink

pytestmark = pytest.mark.slow

MATRIX = json.loads(RECORDED.read_text(encoding="utf-8"))

FAST = "output"
CONVERTED = [
    pytest.param(place, marks=() if place == FAST else pytest.mark.slow) for place in PLACES if "state" not in place
]

# Parts that a type cannot hold, and drops by definition; PyFlink does the same.
NARROWED = {
    **dict.fromkeys(("BYTE", "SHORT", "INT", "LONG"), "the fraction of a number"),
    **dict.fromkeys(("SQL_DATE", "LOCAL_DATE"), "the time of a day"),
    "SQL_TIME": "what is below a millisecond",
}
WITH_FRACTIONS = {"[0.5]", "{'a': 0.5}", "np.array(float)"}


UNPICKLABLE = {"memoryview", "mappingproxy", "generator", "dict.values"}

# Java wrote more digits than necessary to distinguish a float from its neighbours.
LONGER_BEFORE_JAVA_19 = {("FLOAT", "2**31"), ("FLOAT", "2**40"), ("FLOAT", "-2**40")}


def recorded(place: str, type_name: str, value_name: str) -> list[str | None]:
    """Return the results of PyFlink in process mode and in thread mode, None if it refused."""
    found = MATRIX["outcomes"].get(f"{place} / {type_name}", {}).get(value_name)
    return found if isinstance(found, list) else [found, found]


def ours(place: str, type_name: str, value_name: str) -> Any:
    """Return the result of a declared type for a value here."""
    type_info = declared(place, type_name)
    convert = (collection_type(type_info) if place == "from_collection" else type_info).converter()
    value = make(place, type_name, value_name)
    return unmake(place, type_name, value if convert is None else convert(value))


def cases(place: str) -> list[tuple[str, str]]:
    return [(type_name, value_name) for type_name in PLACES[place].types for value_name in PLACES[place].values]


def accepted(place: str, type_name: str) -> dict[str, str]:
    """Return the kinds of values that a type accepts here, and the results."""
    found = {}
    for value_name in PLACES[place].values:
        try:
            found[value_name] = describe(ours(place, type_name, value_name))
        except (TypeError, OverflowError):
            continue
    return found


@pytest.mark.parametrize("place", CONVERTED)
def test_what_survives_in_pyflink_survives_here(place):
    lost = []
    for type_name, value_name in cases(place):
        wanted = [outcome[1:] for outcome in recorded(place, type_name, value_name) if outcome and outcome[0] == "="]
        if not wanted:
            continue
        try:
            found = ours(place, type_name, value_name)
        except Exception as error:  # noqa: BLE001 - all cases are reported together
            lost.append(f"{type_name} of {value_name}: {error}; PyFlink gives {wanted}")
            continue
        if not survives(type_name, VALUES[value_name](), found) and describe(found) not in wanted:
            lost.append(f"{type_name} of {value_name}: {describe(found)}; PyFlink gives {wanted}")
    assert lost == []


@pytest.mark.parametrize("place", CONVERTED)
def test_a_value_is_taken_as_it_is_or_refused_with_the_reason(place):
    changed, unexplained = [], []
    for type_name, value_name in cases(place):
        if type_name == "PICKLED_BYTE_ARRAY":  # any object
            continue
        try:
            found = ours(place, type_name, value_name)
        except (TypeError, OverflowError) as error:
            if "declared type" not in str(error) and "unhashable" not in str(error):
                unexplained.append((type_name, value_name, error))
            continue
        pyflink = f"!{describe(found)}" in recorded(place, type_name, value_name)  # which changes it in the same way
        if not survives(type_name, VALUES[value_name](), found) and not pyflink:
            changed.append((type_name, value_name, describe(found)))
    assert unexplained == []
    assert [case for case in changed if case[0] not in NARROWED and case[1] not in WITH_FRACTIONS] == []


def test_texts_are_those_of_flink():
    different = []
    for type_name, texts in MATRIX["texts"].items():
        type_info = TYPES[type_name]()
        convert = type_info.converter()
        for value_name, text in texts.items():
            if convert is None or (type_name, value_name) in LONGER_BEFORE_JAVA_19:
                continue
            found = convert(make("output", type_name, value_name))
            wanted = {outcome[1:] for outcome in recorded("output", type_name, value_name) if outcome}
            if describe(unmake("output", type_name, found)) in wanted and type_info.stringify(found) != text:
                different.append(f"{type_name} of {value_name}: {type_info.stringify(found)}, not {text}")
    assert different == []


SCHEMAS = {
    "json": lambda type_info: JsonRowSerializationSchema.builder().with_type_info(type_info).build(),
    "csv": lambda type_info: CsvRowSerializationSchema.Builder(type_info).build(),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_writes_what_its_type_makes_of_a_value(name):
    place = "field of a named row"
    different = []
    for type_name in PLACES[place].types:
        type_info = declared(place, type_name)
        try:
            schema = SCHEMAS[name](type_info)
        except PlanError:  # no message has such a field
            assert type_name in {"PICKLED_BYTE_ARRAY", "CHAR"}
            continue
        convert = type_info.converter()
        for value_name in PLACES[place].values:
            row = make(place, type_name, value_name)
            try:
                wanted = schema.serialize(convert(row))
            except (TypeError, OverflowError, FormatError):
                with pytest.raises(FormatError):
                    schema.serialize(row)
                continue
            if schema.serialize(row) != wanted:
                different.append(f"{type_name} of {value_name}: {schema.serialize(row)!r}, not {wanted!r}")
    assert different == []


def test_a_text_of_a_class_of_its_own_is_a_message_of_text():
    found = [SimpleStringSchema().serialize(VALUES[name]()) for name in ("(str, Enum)", "StrEnum", "Text", "np.str_")]
    assert found == [b"red", b"fig", b"inner", b"a"]


# -- the same in jobs: what the next function gets is what the type makes of a value


def environment(engine: str) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("flintstream.engine", engine)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    return env


def described(place: str, type_name: str) -> Any:
    return lambda value: (type_name, describe(unmake(place, type_name, value)))


def run(env: StreamExecutionEnvironment, streams: list[Any]) -> dict[str, list[str]]:
    """Return the descriptions by type, in order."""
    sink = CollectSink()
    streams[0].union(*streams[1:]).add_sink(sink)
    env.execute()
    found = defaultdict(list)
    for type_name, description in sink.get_results(is_python_object=True, stringify=False):
        found[type_name].append(description)
    return found


def expected(place: str) -> dict[str, list[str]]:
    return {t: list(values.values()) for t in PLACES[place].types if (values := picklable(place, t))}


def picklable(place: str, type_name: str) -> dict[str, str]:
    """Leave out values that cannot be sent unchanged."""
    taken = accepted(place, type_name)
    return {name: text for name, text in taken.items() if name not in UNPICKLABLE}


def sent(env: StreamExecutionEnvironment, place: str, type_name: str) -> Any:
    names = list(picklable(place, type_name))
    if place == "from_collection":
        return env.from_collection([make(place, type_name, name) for name in names], declared(place, type_name))
    source = env.from_collection(names, Types.STRING())
    made = source.map(lambda name: make(place, type_name, name), declared(place, type_name))
    return made.rebalance()


@pytest.mark.parametrize(
    "place",
    [
        FAST,
        *(
            pytest.param(place, marks=pytest.mark.slow)
            for place in ("from_collection", "field of a named row", "value of a map")
        ),
    ],
)
def test_the_next_function_gets_what_the_type_makes_of_a_value(place):
    env = environment("inline")
    types = [t for t in PLACES[place].types if picklable(place, t)]
    assert run(env, [sent(env, place, t).map(described(place, t)) for t in types]) == expected(place)


KEPT = [name for name in VALUES if name not in UNPICKLABLE]


class Kept(KeyedProcessFunction):
    """Write every kind of value into states of every type with one element, and read them with the next one."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.values, self.lists, self.maps = {}, {}, {}
        for type_name, make_type in TYPES.items():
            for value_name in KEPT:
                name = f"{type_name} of {value_name}"
                self.values[name] = runtime_context.get_state(ValueStateDescriptor(f"v {name}", make_type()))
                self.lists[name] = runtime_context.get_list_state(ListStateDescriptor(f"l {name}", make_type()))
                descriptor = MapStateDescriptor(f"m {name}", Types.STRING(), make_type())
                self.maps[name] = runtime_context.get_map_state(descriptor)

    def process_element(self, value, ctx):
        for value_name in KEPT:
            for type_name in TYPES:
                name = f"{type_name} of {value_name}"
                if value == "write":
                    self.values[name].update(VALUES[value_name]())
                    self.lists[name].add(VALUES[value_name]())
                    self.maps[name].put("k", VALUES[value_name]())
                else:
                    kept = self.values[name].value(), next(iter(self.lists[name].get() or ())), self.maps[name].get("k")
                    yield value_name, [describe(part) for part in kept]


def test_state_keeps_values_as_they_are():
    env = environment("inline")
    sink = CollectSink()
    env.from_collection(["write", "read"]).key_by(lambda _: 0).process(Kept()).add_sink(sink)
    env.execute()
    found = sink.get_results(is_python_object=True, stringify=False)
    assert len(found) == len(TYPES) * len(KEPT)
    assert [name for name, kept in found if set(kept) != {describe(VALUES[name]())}] == []


@pytest.mark.spark
def test_the_next_function_gets_the_same_on_spark():
    env = environment("spark")
    types = [t for t in PLACES["output"].types if picklable("output", t)]
    assert run(env, [sent(env, "output", t).map(described("output", t)) for t in types]) == expected("output")
