"""Draw the diagrams of ``docs/explanation`` again: ``python -m tests.documentation.diagrams``.

Times, keys and key groups in them are those of the code: another window, watermark or hash is another picture.
"""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from flintstream.common import Duration, Time, WatermarkStrategy
from flintstream.common.watermark_strategy import TimestampAssigner
from flintstream.datastream import OutputTag
from flintstream.datastream.window import TumblingEventTimeWindows
from flintstream.runtime.keys import key_group, subtask_of_key_group
from flintstream.testing.harness import KeyedHarness, StreamRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

DIRECTORY = Path(__file__).parents[2] / "docs" / "explanation"
BLUE, AMBER, RED, GREY = "#2f7fc1", "#c8963d", "#c8553d", "#888"
STYLE = (
    "text{font:13px sans-serif;fill:#333}.small{font-size:12px;fill:#666}.bold{font-weight:bold}.page{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}.page{fill:#131416}}"
)


class Picture:
    """An SVG without a background: its text is dark on a light page, and light on a dark one."""

    def __init__(self, width: int, height: int, title: str) -> None:
        heads = "".join(
            f'<marker id="to{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8Z" fill="{colour}"/></marker>'
            for colour in (BLUE, AMBER, RED, GREY)
        )
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>{escape(title)}</title><style>{STYLE}</style><defs>{heads}</defs>",
        ]

    def text(self, x: float, y: float, text: str, *, of: str = "", anchor: str = "start") -> None:
        self._parts.append(f'<text class="{of}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, lines: str, colour: str = BLUE) -> None:
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"'
        self._parts.append(f'<rect class="page" {place}/>')  # over the line of its lane
        self._parts.append(f'<rect {place} fill="{colour}" fill-opacity=".18" stroke="{colour}"/>')
        rows = lines.split("\n") if lines else []
        for number, line in enumerate(rows):
            middle = y + height / 2 + 4.5 + 16 * (number - (len(rows) - 1) / 2)
            self.text(x + width / 2, middle, line, anchor="middle")

    def line(
        self, points: Sequence[tuple[float, float]], colour: str = GREY, *, arrow: bool = False, dash: bool = False
    ) -> None:
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        more = f' marker-end="url(#to{colour[1:]})"' * arrow + ' stroke-dasharray="4 4"' * dash
        self._parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{more}/>')

    def dot(self, x: float, y: float, colour: str) -> None:
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{colour}"/>')

    def __str__(self) -> str:
        return "\n".join([*self._parts, "</svg>", ""])


LATE = OutputTag("late")
SECONDS = (2, 5, 11, 7, 14, 16, 9, 22, 8, 26)
"""Event times of records in the order in which they arrive."""


class _Millis(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value * 1000


def _run():
    """Run the records through windows; return, after each, the watermark, what fired, and whether it is late."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    strategy = strategy.with_timestamp_assigner(_Millis())

    def sums(numbers):
        marked = numbers.map(lambda second: second).assign_timestamps_and_watermarks(strategy).map(lambda n: [n])
        windows = marked.key_by(lambda n: 0).window(TumblingEventTimeWindows.of(Time.seconds(10)))
        return windows.side_output_late_data(LATE).reduce(lambda a, b: a + b)

    after = []
    with KeyedHarness(sums, side_outputs=[LATE]) as harness:
        seen = late = 0
        for number, second in enumerate(SECONDS):
            harness.process_element(second)
            harness.set_processing_time(200 * (number + 1))
            events = harness.get_output()
            fired = [(event.timestamp, event.value) for event in events[seen:] if isinstance(event, StreamRecord)]
            seen = len(events)
            is_late = len(harness.get_side_output(LATE)) > late
            late += is_late
            after.append((harness.extract_watermarks()[-1], fired, is_late))
    return after


def event_time() -> Picture:
    picture = Picture(
        760, 416, "Event time over the order of arrival: records, the watermark, and windows that it ends"
    )
    left, bottom, step, scale = 70, 360, 62, 11.0

    def at(number: float, second: float) -> tuple[float, float]:
        return left + 40 + number * step, bottom - second * scale

    for start in (0, 10, 20):
        x, y = at(-0.65, start + 10)
        picture.box(x, y, 690, 10 * scale, "", GREY)
        picture.text(x + 8, y + 18, f"window {start} s to {start + 10} s", of="small")
    for second in (0, 10, 20, 30):
        picture.text(left - 12, at(0, second)[1] + 4, f"{second} s", of="small", anchor="end")
    picture.text(4, 14, "event time", of="small")
    picture.text(left + 670, bottom + 20, "order of arrival", anchor="end", of="small")
    after = _run()
    steps = [at(-0.5, max(after[0][0] / 1000, 0))]
    for number, (mark, _, _) in enumerate(after):
        height = max((mark + 1) / 1000, 0)
        steps += [at(number, (max(after[number - 1][0] + 1, 0) / 1000) if number else 0), at(number, height)]
    steps.append(at(len(after) - 0.4, height))
    picture.line(steps, AMBER)
    for number, (second, (_, fired, late)) in enumerate(zip(SECONDS, after, strict=True)):
        x, y = at(number, second)
        picture.dot(x, y, RED if late else BLUE)
        picture.text(x + 8, y - 6, f"{second} s")
        for timestamp, values in fired:
            top = at(number, (timestamp + 1) / 1000)[1]
            picture.line([(x, top - 26), (x, top)], RED, arrow=True)
            picture.text(x, top - 31, f"fires: {', '.join(map(str, values))}", of="bold", anchor="middle")
        if late:
            picture.text(x + 8, y + 12, "late", of="bold")
    for x, colour, label in (
        (90, BLUE, "record"),
        (190, RED, "late record"),
        (320, AMBER, "watermark: 5 s behind the latest record"),
    ):
        picture.dot(x, bottom + 42, colour)
        picture.text(x + 12, bottom + 46, label)
    return picture


KEYS = ("ann", "bob", "cat", "dan", "eve", "fay")
GROUPS = 8


def key_groups() -> Picture:
    picture = Picture(760, 330, "Keys belong to key groups, and key groups to subtasks")
    picture.text(14, 34, "key", of="bold")
    picture.text(14, 132, "key group", of="bold")
    left, width = 130, 76

    def middle(group: int) -> float:
        return left + group * width + width / 2 - 4

    for number, key in enumerate(KEYS):
        x = left + 10 + number * 102
        picture.box(x, 16, 64, 28, key, AMBER)
        picture.line([(x + 32, 44), (middle(key_group(key, GROUPS)), 109)], AMBER, arrow=True)
    for group in range(GROUPS):
        picture.box(left + group * width, 112, width - 8, 30, str(group), GREY)
    for row, parallelism in enumerate((2, 3)):
        y = 190 + 76 * row
        picture.text(14, y + 10, f"parallelism {parallelism}", of="bold")
        owners = groupby(range(GROUPS), lambda group: subtask_of_key_group(group, parallelism, GROUPS))  # noqa: B023
        for owner, groups in owners:
            mine = list(groups)
            x, wide = left + mine[0] * width, len(mine) * width - 8
            picture.box(x, y - 14, wide, 38, f"subtask {owner}: {mine[0]} to {mine[-1]}")
    picture.text(
        left, 320, "A savepoint keeps state by group: each subtask reads the groups that it now has.", of="small"
    )
    return picture


def _lanes(picture: Picture, names: Sequence[str], *, left: int, right: int, top: int, apart: int) -> list[int]:
    heights = [top + apart * number for number in range(len(names))]
    for name, y in zip(names, heights, strict=True):
        picture.text(12, y + 4, name, of="bold")
        picture.line([(left, y), (right, y)], GREY, dash=True)
    return heights


def epochs() -> Picture:
    picture = Picture(
        760, 300, "One epoch: the driver sends instructions, two supersteps run, reports return, sinks commit"
    )
    driver, first, second = _lanes(
        picture, ("driver", "partition 0", "partition 1"), left=100, right=745, top=40, apart=95
    )
    picture.box(104, driver - 19, 88, 38, "assigns\nsplits")
    for y in (first, second):
        picture.line([(192, driver), (216, y)], GREY, arrow=True)
        picture.box(218, y - 24, 108, 48, "source, map")
        picture.box(414, y - 24, 120, 48, "count by key,\nsink", AMBER)
        picture.line([(326, y), (412, y)], BLUE, arrow=True)
        picture.line([(534, y), (566, driver)], GREY, arrow=True)
    picture.line([(326, first + 8), (412, second - 8)], BLUE, arrow=True)
    picture.line([(326, second - 8), (412, first + 8)], BLUE, arrow=True)
    picture.box(566, driver - 19, 74, 38, "commits")
    picture.box(654, driver - 19, 90, 38, "next epoch", GREY)
    picture.text(272, 278, "superstep 0", anchor="middle", of="small")
    picture.text(369, 278, "exchange", anchor="middle", of="small")
    picture.text(474, 278, "superstep 1", anchor="middle", of="small")
    picture.text(190, driver + 56, "instructions", anchor="end", of="small")
    picture.text(562, driver + 56, "reports", of="small")
    picture.line([(208, 258), (208, 264), (544, 264), (544, 258)], GREY)
    picture.text(560, 278, "one Spark job", of="small")
    return picture


def checkpoint() -> Picture:
    picture = Picture(
        760, 330, "A checkpoint: subtasks write their state, the driver writes _metadata, then sinks commit"
    )
    driver, tasks, store, sinks = _lanes(
        picture, ("driver", "subtasks", "storage", "target of sinks"), left=130, right=745, top=40, apart=80
    )
    picture.box(124, driver - 22, 104, 44, "1 asks for\na snapshot")
    picture.line([(228, driver + 10), (248, tasks - 24)], GREY, arrow=True)
    picture.box(232, tasks - 22, 120, 44, "2 epoch ends,\nnothing in flight")
    picture.line([(300, tasks + 22), (300, store - 24)], GREY, arrow=True)
    picture.box(244, store - 22, 112, 44, "3 files of state", AMBER)
    picture.line([(352, tasks - 12), (386, driver + 24)], GREY, arrow=True)
    picture.box(362, driver - 22, 104, 44, "4 collects\nreports")
    picture.line([(440, driver + 22), (478, store - 24)], GREY, arrow=True)
    picture.box(440, store - 22, 96, 44, "5 _metadata", AMBER)
    picture.line([(536, store - 12), (570, driver + 24)], GREY, arrow=True)
    picture.box(548, driver - 22, 84, 44, "6 commits")
    picture.line([(610, driver + 22), (610, sinks - 24)], GREY, arrow=True)
    picture.box(556, sinks - 22, 108, 44, "7 visible output", AMBER)
    picture.line([(650, driver + 22), (694, store - 24)], GREY, arrow=True)
    picture.box(646, store - 22, 98, 44, "8 deletes the\noldest", GREY)
    picture.line([(542, 14), (542, 312)], RED, dash=True)
    picture.text(536, 324, "a failure here goes back to the checkpoint before", anchor="end", of="small")
    picture.text(548, 324, "from here on this one counts", of="small")
    return picture


def commit() -> Picture:
    picture = Picture(
        760, 300, "Exactly once: output is prepared in every epoch and committed with the checkpoint that holds it"
    )
    first, second, target = _lanes(
        picture, ("first attempt", "second attempt", "visible output"), left=134, right=745, top=50, apart=95
    )
    for number in (1, 2, 3):
        picture.box(34 + 96 * number, first - 22, 84, 44, f"epoch {number}\nprepares {number}")
    picture.line([(318, first - 40), (318, first + 34)], AMBER)
    picture.text(312, first - 30, "checkpoint has 1 and 2", anchor="end", of="small")
    picture.line([(318, first + 34), (318, target - 24)], AMBER, arrow=True)
    picture.box(272, target - 20, 92, 40, "1  2", AMBER)
    picture.text(428, first - 10, "✕", of="bold", anchor="middle")
    picture.line([(414, first - 22), (414, first + 22)], RED)
    picture.text(440, first - 10, "fails: this 3 is never committed", of="small")
    picture.line([(414, first + 22), (446, second - 26)], RED, arrow=True)
    picture.box(408, second - 22, 128, 44, "restores,\ncommits 1, 2 again")
    picture.line([(474, second + 22), (474, target - 24)], AMBER, arrow=True)
    picture.text(482, target - 34, "no effect", of="small")
    picture.box(544, second - 22, 84, 44, "epoch 3\nprepares 3")
    picture.line([(640, second - 40), (640, second + 34)], AMBER)
    picture.text(648, second - 30, "checkpoint has 3", of="small")
    picture.line([(640, second + 34), (640, target - 24)], AMBER, arrow=True)
    picture.box(594, target - 20, 92, 40, "1  2  3", AMBER)
    return picture


PICTURES = {
    "event-time.svg": event_time,
    "key-groups.svg": key_groups,
    "epochs.svg": epochs,
    "checkpoint.svg": checkpoint,
    "commit.svg": commit,
}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (DIRECTORY / name).write_text(str(draw()), encoding="utf-8")
