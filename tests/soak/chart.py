"""The curves of a soak as a picture: one SVG of several panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.soak.slopes import CURVES, EXAMINED

if TYPE_CHECKING:
    from collections.abc import Sequence

PANELS = (
    ("Memory (RSS), MiB", ("memory: driver", "memory: JVM", "memory: workers")),
    ("In use after a full collection, MiB", ("JVM heap in use", "JVM outside of heap")),
    ("Open files, threads, processes", ("open files", "threads", "processes")),
    ("Number of files", ("files: state log", "files: checkpoints", "files: temporary")),
    ("Size of files, MiB", ("MiB: state log", "MiB: checkpoints", "MiB: temporary")),
    ("Lag of the source, s", ("lag",)),
)
COLOURS = ("#1b6ca8", "#c8553d", "#4c956c")
WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 130, 56, 30, 36
STYLE = "text{font:11px sans-serif;fill:#777}.title{font-weight:bold}.leg{stroke:#999;stroke-dasharray:4 3}"

Points = list[tuple[float, float]]


def picture(results: dict[str, Any]) -> str:
    """Return the SVG."""
    minutes = max(results["minutes"], results["samples"][-1]["seconds"] / 60)
    legs = [entry["time"] / 60 for entry in results["journal"] if entry["event"] == "leg"][1:]
    kills = [seconds / 60 for seconds in results["kills"]]
    drawn = [_panel(results, number, minutes, legs, kills) for number in range(len(PANELS))]
    height = TOP + len(PANELS) * (HEIGHT + GAP) + 10
    caption = "minutes; dashed: savepoint and restart at another parallelism; triangle: a worker is killed"
    foot = f'<text x="{LEFT}" y="{height - 4}">{caption}</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT + 20} {height}">'
    return "\n".join([head, f"<style>{STYLE}</style>", *drawn, foot, "</svg>"]) + "\n"


def _panel(results: dict[str, Any], number: int, minutes: float, legs: Sequence[float], kills: Sequence[float]) -> str:
    title, names = PANELS[number]
    curves = {name: points for name in names if (points := _points(results, name))}
    top = TOP + number * (HEIGHT + GAP)
    highest = _round_up(max((value for points in curves.values() for _, value in points), default=1.0))

    def x(minute: float) -> float:
        return round(LEFT + WIDTH * minute / minutes, 1)

    def y(value: float) -> float:
        return round(top + HEIGHT - HEIGHT * value / highest, 1)

    parts = [f'<text class="title" x="{LEFT}" y="{top - 6}">{title}</text>']
    for share in (0, 0.5, 1):
        level = y(highest * share)
        parts.append(f'<path stroke="#8884" d="M{LEFT} {level}H{LEFT + WIDTH}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{level + 4}" text-anchor="end">{highest * share:g}</text>')
    parts += [f'<path class="leg" d="M{x(leg)} {top}V{top + HEIGHT}"/>' for leg in legs]
    parts += [f'<path fill="#999" d="M{x(at) - 3} {top + HEIGHT}h6l-3-6z"/>' for at in kills]
    for position, (name, points) in enumerate(curves.items()):
        colour = COLOURS[position]
        line = " ".join(f"{x(minute)},{y(value)}" for minute, value in points)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.3" points="{line}"/>')
        at = LEFT + WIDTH - 150 * (len(curves) - position)
        parts.append(f'<path stroke="{colour}" stroke-width="3" d="M{at} {top - 10}h14"/>')
        parts.append(f'<text x="{at + 18}" y="{top - 6}">{name.removeprefix("memory: ")}</text>')
    tick = 10 if minutes > 20 else 1
    parts += [
        f'<text x="{x(minute)}" y="{top + HEIGHT + 14}" text-anchor="middle">{minute}</text>'
        for minute in range(0, int(minutes) + 1, tick)
    ]
    return "\n".join(parts)


def _points(results: dict[str, Any], name: str) -> Points:
    for curve in CURVES:
        if curve.name == name:
            return [(sample["seconds"] / 60, curve.of(sample)) for sample in results["samples"]]
    of = next(curve.of for curve in EXAMINED if curve.name == name)
    return [(entry["time"] / 60, of(entry)) for entry in results["journal"] if entry["event"] == "examined"]


def _round_up(value: float) -> float:
    """Return a round number that is not smaller."""
    unit = 1.0
    while unit * 10 <= value:
        unit *= 10
    while unit > max(value, 1e-3):
        unit /= 10
    return next((factor * unit for factor in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if factor * unit >= value), value)
