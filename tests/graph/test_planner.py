"""The planner: program in, list of supersteps out."""

from __future__ import annotations

import json

import pytest

from flintstream.common import Time, Types, WatermarkStrategy
from flintstream.datastream import OutputTag, ProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream._streams.steps import leave_in_place
from flintstream.datastream.connectors import NumberSequenceSource
from flintstream.datastream.functions import MapFunction
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.errors import PlanError
from flintstream.graph.planner import chains_of, default_max_parallelism


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(2)


def numbers(env: StreamExecutionEnvironment):
    return env.from_source(NumberSequenceSource(1, 9), WatermarkStrategy.no_watermarks(), "numbers")


def supersteps(env: StreamExecutionEnvironment) -> list[list[list[str]]]:
    """Return the names of the operators: supersteps of chains of operators."""
    graph = env._graph()
    steps: list[list[list[str]]] = [[] for _ in range(max(node.level for node in graph.nodes) + 1)]
    for chain in chains_of(graph):
        steps[chain[0].level].append([node.name for node in chain])
    return steps


def test_operators_without_an_exchange_between_them_run_in_one_chain(env):
    numbers(env).map(lambda x: x).filter(lambda x: x > 1).print()
    assert supersteps(env) == [[["numbers", "Map", "Filter", "Print to Std. Out"]]]


def test_key_by_cuts_a_program_into_two_supersteps(env):
    numbers(env).key_by(lambda x: x % 2).reduce(lambda a, b: a + b).print()
    assert supersteps(env) == [[["numbers"]], [["Reduce", "Print to Std. Out"]]]


@pytest.mark.parametrize(
    ("change", "chained"),
    [
        (lambda stream: stream, True),
        (lambda stream: stream.map(lambda x: x), True),
        (lambda stream: stream.map(lambda x: x).set_parallelism(1), False),
        (lambda stream: stream.map(lambda x: x).set_max_parallelism(7), False),
        (lambda stream: stream.rebalance(), True),
        (lambda stream: stream.rebalance().map(lambda x: x), False),
        (lambda stream: stream.union(stream.map(lambda x: x)), True),
    ],
)
def test_records_that_are_in_the_subtasks_of_their_keys_stay_there(env, change, chained):
    reduced = numbers(env).key_by(lambda x: x % 2).reduce(lambda a, b: a + b)
    keyed = change(reduced).key_by(lambda x: x % 2)
    leave_in_place(keyed)
    keyed.reduce(lambda a, b: a + b).name("second").print()
    chains = [chain for step in supersteps(env) for chain in step if "second" in chain]
    assert [("Reduce" in chain) for chain in chains] == [chained]


def test_records_of_a_source_are_in_no_subtask_of_their_keys(env):
    keyed = numbers(env).key_by(lambda x: x % 2)
    leave_in_place(keyed)
    keyed.reduce(lambda a, b: a + b).print()
    assert supersteps(env) == [[["numbers"]], [["Reduce", "Print to Std. Out"]]]


def test_a_change_of_parallelism_is_an_exchange(env):
    env.from_collection([1, 2]).map(lambda x: x).print().set_parallelism(1)
    assert supersteps(env) == [[["Collection Source"]], [["Map"]], [["Print to Std. Out"]]]


def test_two_consumers_of_a_stream_share_its_chain(env):
    stream = numbers(env)
    stream.map(lambda x: x).name("a").print()
    stream.map(lambda x: x).name("b").print()
    assert supersteps(env) == [[["numbers", "a", "Print to Std. Out", "b", "Print to Std. Out"]]]


def test_both_branches_of_a_diamond_meet_in_one_superstep(env):
    stream = numbers(env)
    stream.map(lambda x: x).union(stream.map(lambda x: -x)).key_by(abs).reduce(lambda a, b: a + b).print()
    assert supersteps(env) == [[["numbers", "Map", "Map"]], [["Reduce", "Print to Std. Out"]]]


def test_a_union_of_streams_of_different_depth_waits_for_the_deeper_one(env):
    deep = numbers(env).key_by(lambda x: x).reduce(lambda a, b: a + b).name("deep")
    flat = numbers(env)
    deep.union(flat).map(lambda x: x).name("both").print()
    graph = env._graph()
    both = next(node for node in graph.nodes if node.name == "both")
    into = {graph.node(edge.source).name: (edge.partitioner.name, edge.exchange) for edge in graph.inputs(both.id)}
    assert both.level == 1
    assert into == {"deep": ("FORWARD", False), "numbers": ("FORWARD", True)}


def test_side_outputs_need_no_superstep_of_their_own(env):
    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            yield OutputTag("odd"), value

    main = numbers(env).process(Split())
    main.get_side_output(OutputTag("odd")).map(lambda x: x).name("odd").print()
    assert supersteps(env) == [[["numbers", "PROCESS", "odd", "Print to Std. Out"]]]


def test_repartitioning_twice_keeps_the_last_partitioning(env):
    numbers(env).shuffle().rebalance().map(lambda x: x)
    graph = env._graph()
    assert [edge.partitioner.name for edge in graph.edges] == ["REBALANCE"]


def test_results_are_converted_only_where_pyflink_would_encode_them(env):
    typed = numbers(env).map(lambda x: x, Types.LONG()).name("first")
    typed.map(lambda x: x, Types.LONG()).name("second").key_by(lambda x: x).process_nothing = None
    typed2 = numbers(env).map(lambda x: x, Types.LONG()).name("third")
    typed2.print()
    converts = {node.name: node.converts for node in env._graph().nodes}
    assert converts["first"] is False  # its only consumer is chained to it
    assert converts["third"] is True  # a sink is not a Python operator


def test_a_second_consumer_breaks_the_chain_and_so_forces_conversion(env):
    typed = numbers(env).map(lambda x: x, Types.FLOAT()).name("typed")
    typed.map(lambda x: x)
    typed.map(lambda x: x)
    assert {n.name: n.converts for n in env._graph().nodes}["typed"] is True


PAIR = Types.TUPLE([Types.LONG(), Types.STRING()])
LISTS = Types.TUPLE([Types.LIST(Types.LONG())])


@pytest.mark.parametrize(("declared", "again"), [(PAIR, False), (Types.LONG(), False), (LISTS, True), (None, True)])
def test_records_that_only_get_watermarks_are_not_converted_again_if_they_cannot_change(env, declared, again):
    typed = numbers(env).map(lambda x: x, declared).name("typed")
    typed.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()).name("marked").print()
    converts = {node.name: node.converts for node in env._graph().nodes}
    assert (converts["typed"], converts["marked"]) == (True, again)


def test_records_are_converted_where_they_get_watermarks_if_some_input_does_not_declare_their_type(env):
    both = numbers(env).map(lambda x: x, Types.LONG()).union(numbers(env).map(lambda x: x).name("untyped"))
    both = both.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()).name("marked")
    both.print()
    nodes = {node.name: node for node in env._graph().nodes}
    assert (nodes["marked"].output_type, nodes["marked"].converts) == (Types.LONG(), True)


def test_generated_uids_do_not_depend_on_names_or_on_what_was_built_before(env):
    def build(environment):
        numbers(environment).map(lambda x: x).name(f"at {id(environment)}").print()
        return [node.uid for node in environment._graph().nodes]

    other = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    numbers(other).map(lambda x: x)
    other.close()
    assert build(env) == build(other)


def test_generated_uids_do_not_change_when_something_is_added_to_the_program():
    def uids(more):
        env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
        stream = numbers(env).map(lambda x: x)
        if more:
            stream.filter(bool).print()
        stream.key_by(lambda x: x).map(lambda x: x).print()
        if more:
            env.from_collection(["something", "else"]).print()
        return {node.uid for node in env._graph().nodes}

    assert uids(more=False) <= uids(more=True)


@pytest.mark.parametrize("setting", ["uid", "name"])
def test_a_uid_or_name_with_half_a_surrogate_pair_is_refused(env, setting):
    getattr(numbers(env).map(lambda x: x).name("doubled"), setting)("\ud800").print()
    with pytest.raises(PlanError, match=r"'\\ud800', contains an unpaired surrogate"):
        env.execute("job")


def test_a_job_name_with_half_a_surrogate_pair_is_refused(env):
    numbers(env).print()
    with pytest.raises(PlanError, match=r"the name of the job, 'job \\udfff', contains an unpaired surrogate"):
        env.execute("job \udfff")


def test_a_uid_that_is_not_text_is_refused(env):
    numbers(env).map(lambda x: x).name("doubled").uid(7).print()
    with pytest.raises(PlanError, match="the uid of operator 'doubled' must be a str, but got 7 of type int"):
        env.execute("job")


def test_uids_must_be_unique(env):
    numbers(env).map(lambda x: x).uid("twice").map(lambda x: x).uid("twice")
    with pytest.raises(PlanError, match="same uid 'twice'"):
        env._graph()


def test_forward_between_unequal_parallelisms_is_refused(env):
    numbers(env).forward().map(lambda x: x).set_parallelism(3)
    with pytest.raises(PlanError, match=r"forward\(\) from 'numbers' \(parallelism 2\) to 'Map' \(parallelism 3\)"):
        env._graph()


def test_parallelism_above_max_parallelism_is_refused(env):
    numbers(env).map(lambda x: x).set_max_parallelism(2).set_parallelism(3)
    with pytest.raises(PlanError, match="'Map' has parallelism 3, which exceeds its max parallelism 2"):
        env._graph()


def test_a_program_without_operators_is_refused(env):
    numbers(env)
    with pytest.raises(PlanError, match="No operators defined in streaming topology"):
        env.execute()


def test_a_function_that_cannot_be_pickled_is_named(env):
    class Holder(MapFunction):
        def __init__(self):
            import threading

            self.lock = threading.Lock()

        def map(self, value):
            return value

    with pytest.raises(PlanError, match=r"operator 'Map' cannot be pickled \(its attribute 'lock' of type lock\)"):
        numbers(env).map(Holder())


def test_a_variable_of_a_function_that_cannot_be_pickled_is_named(env):
    import threading

    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"operator 'Filter' cannot be pickled \(its variable 'lock' of type lock\)"):
        numbers(env).filter(lambda _: lock.locked())


def test_functions_stay_as_they_were_when_their_step_was_added(env):
    results = []
    factor = 1
    for number in range(3):
        keyed = numbers(env).filter(lambda i: i == number + 1).key_by(lambda i: i * number)  # noqa: B023 - what is tested
        results.append(keyed.map(lambda i: (number, i * factor)))  # noqa: B023
    factor = 100
    united = results[0].union(*results[1:])
    assert sorted(united.execute_and_collect(limit=10)) == [(0, 1), (1, 2), (2, 3)]


def test_automatic_mode_is_batch_when_every_source_is_bounded(env):
    env.set_runtime_mode(RuntimeExecutionMode.AUTOMATIC)
    numbers(env).print()
    assert env._graph().batch is True


def test_the_default_number_of_key_groups_is_flinks():
    assert [default_max_parallelism(p) for p in (1, 85, 86, 200, 30000)] == [128, 128, 256, 512, 32768]


def test_the_execution_plan_is_flinks_json_and_names_the_superstep(env):
    numbers(env).key_by(lambda x: x).reduce(lambda a, b: a + b).print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [node["pact"] for node in nodes] == ["Data Source", "Operator", "Data Sink"]
    assert nodes[1]["predecessors"] == [{"id": nodes[0]["id"], "ship_strategy": "HASH", "side": "first"}]
    assert [node["superstep"] for node in nodes] == [0, 1, 1]


def test_the_execution_plan_shows_what_the_program_sets_of_a_step(env):
    stream = env.from_collection([1]).map(lambda x: x).slot_sharing_group("own").disable_chaining()
    stream = stream.set_buffer_timeout(5)
    stream.map(lambda x: x).start_new_chain().set_max_parallelism(16).map(lambda x: x).print().disable_chaining()
    keys = ("max_parallelism", "slot_sharing_group", "chaining", "buffer_timeout")
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [{key: node[key] for key in keys if key in node} for node in nodes] == [
        {},
        {"slot_sharing_group": "own", "chaining": "NEVER", "buffer_timeout": 5},
        {"max_parallelism": 16, "chaining": "HEAD"},
        {},
        {"chaining": "NEVER"},
    ]


def test_the_execution_plan_names_steps_as_flink_does(env):
    env.set_parallelism(2)
    pairs = env.from_collection([("a", 1)], Types.TUPLE([Types.STRING(), Types.INT()]))
    stamped = pairs.assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps())
    windows = stamped.key_by(lambda pair: pair[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    windows.reduce(lambda a, _: a).set_description("one per second").print()
    pairs.project(0).print()
    pairs.key_by(lambda pair: pair[0]).sum(1).print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert {(node["type"], node["contents"], node["parallelism"]) for node in nodes} == {
        ("Source: Collection Source", "Source: Collection Source", 1),
        ("Timestamps/Watermarks", "Timestamps/Watermarks", 1),
        ("TumblingEventTimeWindows", "one per second", 2),
        ("Projection", "Projection", 2),
        ("Reduce", "Reduce", 2),
        ("Sink: Print to Std. Out", "Sink: Print to Std. Out", 2),
    }
