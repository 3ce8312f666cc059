"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Types
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

from benchmarks.sources import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.broadcast import RULES, to_payment

THREE = Types.TUPLE([Types.LONG()] * 3)
LIMITS = MapStateDescriptor("limits", Types.LONG(), Types.LONG())


class Check(BroadcastProcessFunction):
    def open(self, runtime_context):
        self.known = 0
        self.waiting = []

    def process_element(self, value, ctx):
        if self.known < len(RULES):
            self.waiting.append(value)
            return
        number, category, amount = value
        if amount >= ctx.get_broadcast_state(LIMITS).get(category) and number % SAMPLE == 0:
            yield value

    def process_broadcast_element(self, rule, ctx):
        limits = ctx.get_broadcast_state(LIMITS)
        limits.put(rule[0], rule[1])
        self.known += 1
        if self.known == len(RULES):
            for value in self.waiting:
                number, category, amount = value
                if amount >= limits.get(category) and number % SAMPLE == 0:
                    yield value
            self.waiting.clear()


def build(env, run):
    payments = numbers(env, run.records).map(to_payment, output_type=THREE)
    rules = env.from_collection(RULES, type_info=Types.TUPLE([Types.LONG(), Types.LONG()]))
    return payments.connect(rules.broadcast(LIMITS)).process(Check(), output_type=THREE)
