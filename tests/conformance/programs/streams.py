# mypy: disable-error-code="import-not-found,import-untyped"
"""Streams and sinks as objects: their names, their checks, their printed form; and the environment."""

import json

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.typeinfo import BasicTypeInfo, RowTypeInfo, SqlTimeTypeInfo
from pyflink.datastream import (
    BroadcastStream,
    MapFunction,
    RuntimeExecutionMode,
    SlotSharingGroup,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.state import MapStateDescriptor
from pyflink.datastream.utils import ResultTypeQueryable
from tests.conformance.registry import collected, program


def answer(call):
    """Return the result of a call, or that it is refused."""
    try:
        return call()
    except Exception:  # noqa: BLE001 - the words are not what is compared
        return "refused"


def pairs(env):
    return env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))


@program()
def a_stream_knows_its_name_type_and_environment(env):
    stream = pairs(env).map(lambda t: t[1], Types.INT()).name("second field")
    return [
        stream,
        collected(
            [
                stream.get_name(),
                stream.get_type() == Types.INT(),
                pairs(env).get_type() == Types.TUPLE([Types.STRING(), Types.INT()]),
                type(stream.get_execution_environment()).__name__,
                stream.get_execution_config().get_parallelism(),
                stream.get_execution_environment().get_parallelism(),
            ]
        ),
    ]


@program(parallelism=(1, 2), ordering="multiset")
def identifiers_do_not_change_results(env):
    stream = pairs(env).map(lambda t: t[1], Types.INT()).uid("first").set_max_parallelism(8)
    hashed = stream.map(lambda i: i + 1, Types.INT()).set_uid_hash("0123456789abcdef0123456789abcdef")
    return hashed.set_parallelism(1).set_description("plus one")


@program()
def a_keyed_stream_refuses_what_belongs_to_operators(env):
    keyed = pairs(env).key_by(lambda t: t[0])
    calls = {
        "shuffle": keyed.shuffle,
        "rescale": keyed.rescale,
        "rebalance": keyed.rebalance,
        "forward": keyed.forward,
        "broadcast": keyed.broadcast,
        "partition_custom": lambda: keyed.partition_custom(lambda key, count: 0, lambda t: t[0]),
        "set_parallelism": lambda: keyed.set_parallelism(1),
        "name": lambda: keyed.name("x"),
        "get_name": keyed.get_name,
        "uid": lambda: keyed.uid("x"),
        "set_uid_hash": lambda: keyed.set_uid_hash("0123456789abcdef0123456789abcdef"),
        "set_max_parallelism": lambda: keyed.set_max_parallelism(1),
        "force_non_parallel": keyed.force_non_parallel,
        "set_buffer_timeout": lambda: keyed.set_buffer_timeout(1),
        "start_new_chain": keyed.start_new_chain,
        "disable_chaining": keyed.disable_chaining,
        "slot_sharing_group": lambda: keyed.slot_sharing_group("x"),
        "cache": keyed.cache,
    }
    return collected((name, answer(call)) for name, call in calls.items())


@program()
def a_cached_stream_refuses_what_belongs_to_operators(env):
    cached = pairs(env).map(lambda t: t[1], Types.INT()).cache()
    calls = {
        "set_parallelism": lambda: cached.set_parallelism(1),
        "name": lambda: cached.name("x"),
        "get_name": cached.get_name,
        "uid": lambda: cached.uid("x"),
        "set_uid_hash": lambda: cached.set_uid_hash("0123456789abcdef0123456789abcdef"),
        "set_max_parallelism": lambda: cached.set_max_parallelism(1),
        "force_non_parallel": cached.force_non_parallel,
        "set_buffer_timeout": lambda: cached.set_buffer_timeout(1),
        "start_new_chain": cached.start_new_chain,
        "disable_chaining": cached.disable_chaining,
        "slot_sharing_group": lambda: cached.slot_sharing_group("x"),
    }
    return collected((name, answer(call)) for name, call in calls.items())


@program(ordering="multiset")
def fields_of_a_keyed_stream_are_projected(env):
    return pairs(env).key_by(lambda t: t[0]).project(1)


@program()
def printed_streams_end_in_sinks_with_settings(env):
    stream = pairs(env)
    sink = stream.print("mine").name("printer").uid("printer").set_parallelism(1)
    sink.set_description("prints").disable_chaining().slot_sharing_group("default")
    stream.key_by(lambda t: t[0]).print().set_uid_hash("0123456789abcdef0123456789abcdef")
    group = SlotSharingGroup.builder("default").build()
    stream.map(lambda t: t[0], Types.STRING()).slot_sharing_group(group).print().slot_sharing_group(group)
    return stream


@program()
def broadcast_streams_are_no_streams(env):
    descriptor = MapStateDescriptor("rules", Types.STRING(), Types.INT())
    broadcast = pairs(env).broadcast(descriptor)
    return collected([isinstance(broadcast, BroadcastStream), hasattr(broadcast, "map")])


@program()
def results_are_taken_one_by_one(env):
    results = env.from_collection([1, 2, 3], Types.INT()).execute_and_collect()
    taken = [results.next(), next(results)]
    results.close()
    return collected(taken)


# The environment


@program()
def environments_are_independent(env):
    other = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"parallelism.default": "3", "pipeline.max-parallelism": "9"})
    )
    other.set_runtime_mode(RuntimeExecutionMode.BATCH)
    told = (other.get_parallelism(), other.get_max_parallelism(), env.get_parallelism())
    other.close()
    return collected([told])


@program(parallelism=(1, 2))
def the_execution_plan_shows_nodes_and_their_parallelism(env):
    stream = pairs(env).map(lambda t: t[1], Types.INT()).name("second").set_parallelism(1)
    stream.key_by(lambda i: i % 2).reduce(lambda x, y: x + y).set_description("adds up").print().name("out")
    nodes = json.loads(env.get_execution_plan())["nodes"]
    return collected(
        [
            all({"id", "type", "pact", "contents", "parallelism"} <= set(node) for node in nodes),
            [
                (node["pact"], node["parallelism"])
                for node in nodes
                if "Source" in node["pact"] or "Sink" in node["pact"]
            ],
            [node["parallelism"] for node in nodes if "second" in node["type"]],
            any("adds up" in node["contents"] for node in nodes),
            sorted({p["ship_strategy"] for node in nodes for p in node.get("predecessors", [])}),
        ]
    )


class FromAFile(MapFunction):
    def __init__(self, module):
        self.module = module

    def map(self, value):
        return __import__(self.module).double(value)


@program(directory=True)
def python_files_come_along(env, directory):
    path = directory / "conformance_shipped_beside.py"
    path.write_text("def double(value):\n    return value * 2\n")
    env.add_python_file(str(path))
    return env.from_collection([1, 2]).map(FromAFile("conformance_shipped_beside"))


class Counted(NumberSequenceSource, ResultTypeQueryable):
    def get_produced_type(self):
        return Types.LONG()


@program()
def a_source_says_what_it_produces(env):
    return env.from_source(Counted(1, 3), WatermarkStrategy.no_watermarks(), "counted")


# Types


@program()
def basic_types_are_those_of_types(env):
    pairs = [
        (BasicTypeInfo.STRING_TYPE_INFO(), Types.STRING()),
        (BasicTypeInfo.BOOLEAN_TYPE_INFO(), Types.BOOLEAN()),
        (BasicTypeInfo.BYTE_TYPE_INFO(), Types.BYTE()),
        (BasicTypeInfo.SHORT_TYPE_INFO(), Types.SHORT()),
        (BasicTypeInfo.INT_TYPE_INFO(), Types.INT()),
        (BasicTypeInfo.LONG_TYPE_INFO(), Types.LONG()),
        (BasicTypeInfo.FLOAT_TYPE_INFO(), Types.FLOAT()),
        (BasicTypeInfo.DOUBLE_TYPE_INFO(), Types.DOUBLE()),
        (BasicTypeInfo.CHAR_TYPE_INFO(), Types.CHAR()),
        (BasicTypeInfo.BIG_INT_TYPE_INFO(), Types.BIG_INT()),
        (BasicTypeInfo.BIG_DEC_TYPE_INFO(), Types.BIG_DEC()),
        (BasicTypeInfo.INSTANT_TYPE_INFO(), Types.INSTANT()),
        (SqlTimeTypeInfo.DATE(), Types.SQL_DATE()),
        (SqlTimeTypeInfo.TIME(), Types.SQL_TIME()),
        (SqlTimeTypeInfo.TIMESTAMP(), Types.SQL_TIMESTAMP()),
    ]
    return collected((one == other, one.need_conversion()) for one, other in pairs)


@program()
def types_of_rows_and_tuples_know_their_fields(env):
    named = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
    return collected(
        [
            (named.get_field_names(), named.get_field_index("name"), named.get_field_index("id")),
            named.get_field_types() == [Types.INT(), Types.STRING()],
            Types.ROW([Types.INT(), Types.STRING()]).get_field_names(),
            Types.ROW([Types.INT()]).get_field_index("f0"),
            Types.TUPLE([Types.INT(), Types.FLOAT()]).get_field_types() == [Types.INT(), Types.FLOAT()],
            (named == RowTypeInfo([Types.INT(), Types.STRING()]), named == Types.ROW([Types.INT()])),
        ]
    )


@program()
def types_are_shown(env):
    kinds = [
        Types.STRING(),
        Types.INT(),
        Types.BIG_DEC(),
        Types.SQL_DATE(),
        Types.PICKLED_BYTE_ARRAY(),
        Types.ROW([Types.INT(), Types.STRING()]),
        Types.ROW_NAMED(["id"], [Types.LONG()]),
        Types.TUPLE([Types.INT(), Types.LIST(Types.STRING())]),
        Types.MAP(Types.STRING(), Types.INT()),
        Types.LIST(Types.INT()),
        Types.PRIMITIVE_ARRAY(Types.INT()),
        Types.BASIC_ARRAY(Types.STRING()),
        Types.OBJECT_ARRAY(Types.STRING()),
    ]
    return collected(kinds)


@program()
def types_tell_whether_values_are_converted(env):
    kinds = [
        Types.ROW([Types.INT()]),
        Types.ROW_NAMED(["day"], [Types.SQL_DATE()]),
        Types.TUPLE([Types.INT()]),
        Types.SQL_DATE(),
        Types.SQL_TIME(),
        Types.SQL_TIMESTAMP(),
        Types.INSTANT(),
        Types.STRING(),
    ]
    return collected([kind.need_conversion() for kind in kinds])
