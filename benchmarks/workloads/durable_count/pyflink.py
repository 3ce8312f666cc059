"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Types
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from benchmarks.sources import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_count import to_pair

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
END = 2**62


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = self.count.value()
        if count is None:
            count = 0
            ctx.timer_service().register_event_time_timer(END)
        count += 1
        self.count.update(count)
        if value[1] % SAMPLE == 0:
            yield value[0], count

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), -self.count.value()


def build(env, run):
    keys, half = run.settings["keys"], run.half
    return (
        numbers(env, run.records)
        .map(lambda n: to_pair(n, keys, half), output_type=PAIR)
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .process(Count(), output_type=PAIR)
    )
