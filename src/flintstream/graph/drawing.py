"""A picture of the steps up to a stream, as SVG for pages and notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from flintstream.errors import shorten
from flintstream.graph.stream_graph import edges_from, in_order
from flintstream.graph.transformation import SinkTransformation, SourceTransformation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.graph.stream_graph import StreamEdge
    from flintstream.graph.transformation import Transformation

WIDTH, HEIGHT = 164, 40
"""The size of a box in pixels."""
APART, BELOW = 84, 18
"""The space between boxes, in which the lines and their labels are."""
LONGEST = 21
"""How many characters of a name fit into a box; a tooltip has all."""
END = -1
"""The id of the open end of a stream that only routes records, such as a keyed one."""


def drawing(ends: Iterable[Transformation]) -> str:
    """Return a picture of the steps up to ``ends``, with a label where records change subtasks.

    It shows the program as it is written: nothing is planned, checked or started.
    """
    ends = tuple(ends)
    boxes = {item.id: item for item in in_order(ends) if not item.virtual}
    edges = [
        edge
        for box in boxes.values()
        for number, given in enumerate(box.inputs)
        for edge in edges_from(given, box.id, number)
    ]
    for number, item in enumerate(end for end in ends if end.virtual):
        edges += edges_from(item, END - number, 0)
    columns, lines = _layout(list(boxes), edges)
    height = max(map(len, columns)) * (HEIGHT + BELOW) - BELOW
    places = {
        point: (x * (WIDTH + APART), y * (HEIGHT + BELOW) + (height - len(column) * (HEIGHT + BELOW) + BELOW) // 2)
        for x, column in enumerate(columns)
        for y, point in enumerate(column)
    }
    parts = [_line(edge, [places[point] for point in points]) for edge, points in zip(edges, lines, strict=True)]
    parts += [_box(boxes[point], *place) for point, place in places.items() if point in boxes]
    width = len(columns) * (WIDTH + APART) - APART
    names = escape(", ".join(str(item.name) for item in boxes.values()), quote=True)
    return (
        f'<div style="overflow-x:auto"><svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="steps: {names}" '
        f'width="{width + 4}" height="{height + 4}" viewBox="-2 -2 {width + 4} {height + 4}" '
        f'font-family="sans-serif" font-size="12" fill="currentColor">{"".join(parts)}</svg></div>'
    )


Point = int | tuple[int, int]
"""The id of a box, or of a place that a line passes: the number of its edge, and the column."""


def _layout(ids: list[int], edges: list[StreamEdge]) -> tuple[list[list[Point]], list[list[Point]]]:
    """Return what is in each column from top to bottom, and the points that each edge connects."""
    column: dict[int, int] = {}
    inputs: dict[int, list[int]] = {}
    for edge in edges:
        inputs.setdefault(edge.target, []).append(edge.source)
    for number in [*ids, *sorted({edge.target for edge in edges if edge.target <= END}, reverse=True)]:
        column[number] = max((column[source] + 1 for source in inputs.get(number, ())), default=0)
    columns: list[list[Point]] = [[] for _ in range(max(column.values()) + 1)]
    for number, x in column.items():
        columns[x].append(number)
    lines: list[list[Point]] = []
    for n, edge in enumerate(edges):
        passed = range(column[edge.source] + 1, column[edge.target])
        for x in passed:
            columns[x].append((n, x))
        lines.append([edge.source, *((n, x) for x in passed), edge.target])
    return columns, lines


def _box(step: Transformation, x: int, y: int) -> str:
    source, sink = isinstance(step, SourceTransformation), isinstance(step, SinkTransformation)
    role = "source" if source else "sink" if sink else "operator"
    if step.parallelism is not None:
        role += f" \u00d7 {step.parallelism}"
    name = str(step.name)
    cut = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return (
        f'<g><title>{escape(name)}</title><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
        f'fill="none" stroke="currentColor" stroke-opacity="0.6"/>'
        f'<text x="{x + 9}" y="{y + 15}" font-size="10" opacity="0.7">{role}</text>'
        f'<text x="{x + 9}" y="{y + 31}">{escape(cut)}</text></g>'
    )


def _line(edge: StreamEdge, places: list[tuple[int, int]]) -> str:
    middle = HEIGHT // 2
    (x, y), *rest = places
    path = [f"M{x + WIDTH} {y + middle}"]
    before_x, before_y = x + WIDTH, y
    for n, (to_x, to_y) in enumerate(rest, 1):
        half = (before_x + to_x) // 2
        path.append(f"C{half} {before_y + middle} {half} {to_y + middle} {to_x} {to_y + middle}")
        if n < len(rest):
            path.append(f"H{to_x + WIDTH}")
        before_x, before_y = to_x + WIDTH, to_y
    end_x, end_y = rest[-1][0], rest[-1][1] + middle
    arrow = f'<path d="M{end_x} {end_y}l-7 -4v8z" fill-opacity="0.6"/>'
    if edge.target <= END:
        arrow = f'<circle cx="{end_x + 3}" cy="{end_y}" r="3" fill="none" stroke="currentColor"/>'
    label = "" if edge.partitioner is None else edge.partitioner.name.lower()
    if edge.side_tag is not None:
        label = f"{label} {shorten(edge.side_tag, 16)}".strip()
    at = f'x="{x + WIDTH + APART // 2}" y="{(y + rest[0][1]) // 2 + middle - 5}"'
    text = f'<text {at} text-anchor="middle" font-size="10" opacity="0.8">{escape(label)}</text>' if label else ""
    return f'<path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-opacity="0.6"/>{arrow}{text}'
