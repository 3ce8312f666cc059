from __future__ import annotations

import pickle

from flintstream.common.typeinfo import Types
from flintstream.common.types import Row
from flintstream.connectors.sink import WriterContext
from flintstream.testing import CollectSink


def run(sink, values_by_subtask, input_type=None):
    committables = []
    for subtask, values in values_by_subtask.items():
        writer = pickle.loads(pickle.dumps(sink)).create_writer(WriterContext(subtask, 2, "1", input_type=input_type))
        writer.write(values, None)
        committables += pickle.loads(pickle.dumps(list(writer.prepare_commit(end_of_input=True))))
    pickle.loads(pickle.dumps(sink)).create_committer().commit(committables)


def test_results_come_as_text_of_their_type_in_the_order_of_the_subtasks():
    sink = CollectSink()
    run(sink, {1: [Row("be", 2)], 0: [Row("to", 1)]}, Types.ROW([Types.STRING(), Types.INT()]))
    assert sink.get_results() == ["+I[to, 1]", "+I[be, 2]"]


def test_results_are_handed_out_once():
    sink = CollectSink()
    run(sink, {0: [1]})
    run(sink, {0: [2]})
    assert sink.get_results(is_python_object=True, stringify=False) == [1, 2]
    assert sink.get_results() == []


def test_results_may_be_python_text_or_the_objects():
    class Local:
        def __str__(self):
            return "local"

    for arguments, expected in [((True, True), ["local"]), ((False, True), ["local"])]:
        sink = CollectSink()
        run(sink, {0: [Local()]})
        assert sink.get_results(*arguments) == expected
    sink = CollectSink()
    run(sink, {0: [Local()]})
    (value,) = sink.get_results(True, False)
    assert isinstance(value, Local)


def test_sinks_do_not_see_each_others_records_and_forget_on_demand():
    one, two = CollectSink(), CollectSink()
    run(one, {0: ["a"]})
    run(two, {0: ["b"]})
    one.clear()
    assert one.get_results() == []
    assert two.get_results() == ["b"]
