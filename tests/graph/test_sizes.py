"""Programs with thousands of steps: no recursion, and time in proportion to their size."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import pytest

from flintstream.common import Types
from flintstream.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from flintstream.graph.planner import LONGEST_CHAIN, chains_of

STEPS = 1000


class AddOne(ProcessFunction):
    def process_element(self, value, ctx):
        yield value + 1


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)


def mapped(env, steps=STEPS):
    stream = env.from_collection([1, 2], Types.INT())
    for _ in range(steps):
        stream = stream.map(lambda x: x + 1, Types.INT())
    return stream


def test_a_stream_passes_a_thousand_functions(env):
    assert list(mapped(env).execute_and_collect()) == [1 + STEPS, 2 + STEPS]


def test_a_stream_passes_a_thousand_operators(env):
    stream = env.from_collection([1, 2], Types.INT())
    for _ in range(STEPS):
        stream = stream.process(AddOne(), Types.INT())
    assert list(stream.execute_and_collect()) == [1 + STEPS, 2 + STEPS]


def test_a_chain_has_no_more_steps_in_a_row_than_python_can_call(env):
    mapped(env, 2 * LONGEST_CHAIN).print()
    assert [len(chain) for chain in chains_of(env._graph())] == [LONGEST_CHAIN, LONGEST_CHAIN, 2]


def test_a_program_of_ordinary_length_stays_one_chain(env):
    mapped(env, LONGEST_CHAIN - 2).print()
    assert len(chains_of(env._graph())) == 1


def test_a_thousand_streams_are_united_at_once(env):
    first, *others = (env.from_collection([i], Types.INT()) for i in range(STEPS))
    assert sorted(first.union(*others).execute_and_collect()) == list(range(STEPS))


def test_streams_are_united_one_after_the_other(env):
    one = env.from_collection([1], Types.INT())
    stream = env.from_collection([0], Types.INT())
    for _ in range(STEPS):
        stream = stream.union(one)
    assert sum(stream.execute_and_collect()) == STEPS


def test_a_function_has_a_thousand_side_outputs(env):
    tags = [OutputTag(str(i), Types.INT()) for i in range(STEPS)]

    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            for tag in tags:
                yield tag, value

    split = env.from_collection([1], Types.INT()).process(Split(), Types.INT())
    first, *others = map(split.get_side_output, tags)
    assert sum(first.union(*others).execute_and_collect()) == STEPS


def test_a_stream_has_hundreds_of_sinks(env):
    stream = env.from_collection([1], Types.INT())
    for _ in range(300):
        stream.map(lambda x: x, Types.INT()).print()
    with redirect_stdout(io.StringIO()) as printed:
        env.execute()
    assert printed.getvalue().split() == ["1"] * 300


def test_long_programs_have_a_plan_and_a_picture(env):
    stream = mapped(env)
    assert stream._repr_html_().count("<rect") == STEPS + 1
    stream.print()
    assert env.get_execution_plan().count('"id"') >= STEPS


def test_the_steps_of_a_graph_are_found_without_a_search(env, monkeypatch):
    """The planner asks for the edges of each step, which must not read all edges each time."""
    mapped(env, 100).print()
    graph = env._graph()
    reads = 0

    class Counted(tuple):
        __slots__ = ()

        def __iter__(self):
            nonlocal reads
            reads += 1
            return super().__iter__()

    counted = graph.with_edges(graph.edges)
    object.__setattr__(counted, "edges", Counted(graph.edges))
    for node in graph.nodes:
        counted.inputs(node.id)
        counted.outputs(node.id)
    assert reads <= 4
