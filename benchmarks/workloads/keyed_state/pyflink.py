"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Time, Types
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig

from benchmarks.sources import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_state import item_of, to_visit


def expiring(descriptor):
    ttl = StateTtlConfig.new_builder(Time.hours(1)).set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)
    descriptor.enable_time_to_live(ttl.build())
    return descriptor


class CountItems(KeyedProcessFunction):
    def open(self, runtime_context):
        self.counts = runtime_context.get_map_state(expiring(MapStateDescriptor("counts", Types.LONG(), Types.LONG())))

    def process_element(self, value, ctx):
        key, n = value
        item = item_of(n)
        count = (self.counts.get(item) or 0) + 1
        self.counts.put(item, count)
        if n % SAMPLE == 0:
            yield key, item, count


class Gather(KeyedProcessFunction):
    def open(self, runtime_context):
        self.numbers = runtime_context.get_list_state(expiring(ListStateDescriptor("numbers", Types.LONG())))

    def process_element(self, value, ctx):
        key, n = value
        self.numbers.add(n)
        if n % SAMPLE == 0:
            numbers = list(self.numbers.get())
            self.numbers.clear()
            yield key, len(numbers), sum(numbers)


def build(env, run):
    half = run.half
    function = CountItems() if run.settings["kind"] == "map" else Gather()
    return (
        numbers(env, run.records)
        .map(lambda n: to_visit(n, half), output_type=Types.TUPLE([Types.LONG(), Types.LONG()]))
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .process(function, output_type=Types.TUPLE([Types.LONG()] * 3))
    )
