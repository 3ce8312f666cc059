"""The program, in PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

# ruff: noqa: ANN001, ANN201, ANN204, ARG002, D101, D102, D103 - as a user of that engine would write it

import sys

from options import SPREAD, read
from pyflink.common import Configuration, Encoder, Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import BucketAssigner, FileSink
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import KeyedProcessFunction
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def __init__(self, every):
        self.every = every

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        if count % self.every == 0:
            yield value[0], count


def main():
    options = read(mode="process", parallelism="2")
    configuration = Configuration()
    if options.mode != "flintstream":
        configuration.set_string("python.execution-mode", options.mode)
        configuration.set_string("python.executable", sys.executable)
        configuration.set_string("python.client.executable", sys.executable)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(int(options.parallelism))
    keys = options.keys
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    files = FileSink.for_row_format(options.output, Encoder.simple_string_encoder())
    (
        env.from_source(
            NumberSequenceSource(0, options.records - 1), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
        )
        .map(lambda n: (n * SPREAD % keys, n), output_type=pair)
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .process(Count(options.every), output_type=pair)
        .sink_to(files.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build())
    )
    env.execute("keyed count")


if __name__ == "__main__":
    main()
