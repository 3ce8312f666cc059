"""In PyFlink's API: runs on PyFlink and, unchanged, on flintstream."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat

from benchmarks.workloads.word_count import is_written, split

COUNTED = Types.TUPLE([Types.STRING(), Types.LONG()])


def build(env, run):
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), run.input).build()
    return (
        env.from_source(files, WatermarkStrategy.no_watermarks(), "words")
        .flat_map(split, output_type=Types.STRING())
        .map(lambda word: (word, 1), output_type=COUNTED)
        .key_by(lambda counted: counted[0], key_type=Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .filter(is_written)
    )
