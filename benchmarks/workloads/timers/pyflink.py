"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Types
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from benchmarks.sources import in_event_time, numbers
from benchmarks.workloads.windows import GAP, in_bursts

THREE = Types.TUPLE([Types.LONG()] * 3)


class Sessions(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.end = runtime_context.get_state(ValueStateDescriptor("end", Types.LONG()))

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        end = self.end.value()
        count = self.count.value() or 0
        if end is not None:
            timers.delete_event_time_timer(end)
            if ctx.timestamp() >= end:  # watermarks are periodic: the one for this end has not arrived yet
                yield ctx.get_current_key(), end, count
                count = 0
        end = ctx.timestamp() + GAP
        timers.register_event_time_timer(end)
        self.end.update(end)
        self.count.update(count + 1)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.count.value()
        self.count.clear()
        self.end.clear()


def build(env, run):
    half = run.half
    events = numbers(env, run.records).map(lambda n: in_bursts(n, half), output_type=THREE)
    return (
        in_event_time(events)
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .process(Sessions(), output_type=THREE)
    )
