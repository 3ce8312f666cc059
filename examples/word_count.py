"""Count words, of a built-in text or of files.

    flintstream run examples/word_count.py [--input PATH] [--output DIRECTORY]

The imports "from pyflink..." work as well, under "flintstream run" or after flintstream.compat.pyflink.install().
"""

from __future__ import annotations

import argparse

from flintstream.common import Encoder, Types, WatermarkStrategy
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamFormat,
)

TEXT = [
    "the stream goes on and on",
    "and the batch is a stream that ends",
    "so a batch of words is a stream of words",
]


def words(line):
    yield from line.lower().split()


def main(source, target):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)  # emits only the final count of each word

    if source is None:
        lines = env.from_collection(TEXT, Types.STRING())
    else:
        files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
        lines = env.from_source(files, WatermarkStrategy.no_watermarks(), "files")

    counts = (
        lines.flat_map(words, output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .reduce(lambda one, other: (one[0], one[1] + other[1]))
    )

    if target is None:
        counts.print()
    else:
        counts.sink_to(
            FileSink.for_row_format(target, Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .with_output_file_config(
                OutputFileConfig.builder().with_part_prefix("words").with_part_suffix(".txt").build()
            )
            .build()
        )
    env.execute("word count")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Count words.")
    parser.add_argument("--input", help="a text file or a directory of text files")
    parser.add_argument("--output", help="a directory to write to instead of printing")
    options = parser.parse_args()
    main(options.input, options.output)
