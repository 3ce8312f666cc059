"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Types
from pyflink.datastream.functions import KeyedCoProcessFunction
from pyflink.datastream.state import MapStateDescriptor

from benchmarks.sources import numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.connect import order, payment

THREE = Types.TUPLE([Types.LONG()] * 3)


class Match(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.orders = runtime_context.get_map_state(MapStateDescriptor("orders", Types.LONG(), Types.LONG()))
        self.payments = runtime_context.get_map_state(MapStateDescriptor("payments", Types.LONG(), Types.LONG()))

    def process_element1(self, value, ctx):
        customer, number, amount = value
        paid = self.payments.get(number)
        if paid is None:
            self.orders.put(number, amount)
            return
        self.payments.remove(number)
        if number % SAMPLE == 0:
            yield customer, number, amount - paid

    def process_element2(self, value, ctx):
        customer, number, paid = value
        amount = self.orders.get(number)
        if amount is None:
            self.payments.put(number, paid)
            return
        self.orders.remove(number)
        if number % SAMPLE == 0:
            yield customer, number, amount - paid


def build(env, run):
    total, half = run.half, run.half // 2
    orders = numbers(env, total, "orders").map(lambda n: order(n, half), output_type=THREE)
    payments = numbers(env, total, "payments").map(lambda n: payment(n, half), output_type=THREE)
    return (
        orders.connect(payments)
        .key_by(lambda value: value[0], lambda value: value[0], key_type=Types.LONG())
        .process(Match(), output_type=THREE)
    )
