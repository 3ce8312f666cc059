"""How much the resources of a soak have grown after its first minutes, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


ANY = float("inf")


class Curve(NamedTuple):
    """One curve of a soak."""

    name: str
    unit: str
    of: Callable[[dict[str, Any]], float]
    """Its value in a sample."""
    flat: float
    """The share of its mean by which it may grow per hour; ``ANY`` if it is only shown."""
    least: float
    """Growth per hour that does not count."""


def _memory(part: str) -> Callable[[dict[str, Any]], float]:
    # Not the proportional size, which grows when other processes end that share libraries with this one.
    return lambda sample: sample[part]["rss"] / 1024


def _outside_of_heap(sample: dict[str, Any]) -> float:
    return float(sample["jvm"]["rss"] - sample["jvm"].get("heap", 0)) / 1024


def _count(name: str) -> Callable[[dict[str, Any]], float]:
    return lambda sample: sum(sample[part][name] for part in ("driver", "jvm", "workers", "other"))


def _entry(name: str, position: int, divisor: float = 1.0) -> Callable[[dict[str, Any]], float]:
    return lambda sample: sample[name][position] / divisor


MIB = float(1 << 20)

CURVES = (
    # Python's and the C library's free lists take their time to settle. EXAMINED has what is in use.
    Curve("memory: driver", "MiB", _memory("driver"), 0.1, 15),
    # Java takes a larger heap, up to its limit, when collections take long because others use the machine. EXAMINED has
    # what is in use there, too.
    Curve("memory: JVM", "MiB", _memory("jvm"), ANY, 0),
    Curve("memory: JVM outside of its heap", "MiB", _outside_of_heap, 0.1, 20),
    # Each kill takes away what a worker has grown by, and most of its caches.
    Curve("memory: workers", "MiB", _memory("workers"), 0.1, 60),
    Curve("memory: the spared worker", "MiB", lambda sample: sample.get("spared", 0) / 1024, 0.1, 20),
    Curve("open files", "", _count("files"), 0.1, 10),
    Curve("threads", "", _count("threads"), 0.1, 5),
    Curve("processes", "", _count("processes"), 0.1, 1),
    Curve("files: state log", "", _entry("state log", 0), 0.1, 50),
    Curve("files: checkpoints", "", _entry("checkpoints", 0), 0.1, 50),
    Curve("files: temporary", "", _entry("temporary", 0), 0.1, 500),  # Spark deletes them after garbage collections
    Curve("MiB: state log", "MiB", _entry("state log", 1, MIB), 0.1, 20),
    Curve("MiB: checkpoints", "MiB", _entry("checkpoints", 1, MIB), 0.1, 20),
    Curve("MiB: temporary", "MiB", _entry("temporary", 1, MIB), 0.1, 20),
    Curve("lag", "s", lambda sample: float(sample["lag"]), 0.1, 5),
)

EXAMINED = (
    Curve("JVM heap in use", "MiB", lambda entry: entry["heap"] / MIB, 0.1, 10),
    Curve("JVM outside of heap", "MiB", lambda entry: entry["metaspace"] / MIB, 0.1, 10),
    Curve("JVM classes", "", lambda entry: entry["classes"], 0.05, 100),
    Curve("JVM threads", "", lambda entry: entry["jvm_threads"], 0.1, 10),
    Curve("objects of the driver", "", lambda entry: entry["objects"], 0.05, 5000),
    Curve("large memory of the driver", "MiB", lambda entry: entry.get("large", 0) / MIB, 0.1, 2),
    Curve("threads of the driver", "", lambda entry: entry["threads"], 0.1, 2),
)
"""Curves of what the job recorded after full collections."""


def slopes(results: dict[str, Any], warm_up: float) -> dict[str, dict[str, Any]]:
    """Return the mean of each curve after ``warm_up`` seconds, and its growth per hour.

    Legs of different parallelism or backend use different amounts. So the growth is that within legs of one kind, taken
    together: a regression with a constant for each kind.
    """
    begins = [
        (entry["time"], entry["number"] % len(results["legs"]))
        for entry in results["journal"]
        if entry["event"] == "leg"
    ]
    kinds = [str(leg) for leg in results["legs"]]

    def kind_at(seconds: float) -> str | None:
        current = [kinds[number] for begin, number in begins if begin <= seconds]
        return current[-1] if current else None

    last = results["minutes"] * 60
    sampled = [(sample["seconds"], sample) for sample in results["samples"]]
    examined = [(entry["time"], entry) for entry in results["journal"] if entry["event"] == "examined"]
    found = {}
    for curves, rows in ((CURVES, sampled), (EXAMINED, examined)):
        counted = [(time, row, kind_at(time)) for time, row in rows if warm_up <= time <= last]
        for curve in curves:
            points = [(time, curve.of(row), kind) for time, row, kind in counted if kind is not None]
            if len(points) > 2:
                mean = sum(value for _, value, _ in points) / len(points)
                found[curve.name] = {
                    "unit": curve.unit,
                    "mean": round(mean, 2),
                    "per_hour": round(slope(points)[0] * 3600, 2),
                    "error": round(slope(points)[1] * 3600, 2),
                    "largest": round(max(value for _, value, _ in points), 2),
                }
    return found


def slope(points: Sequence[tuple[float, float, str]]) -> tuple[float, float]:
    """Return the common slope of points, with a constant for each group, and its standard error."""
    above = below = squares = 0.0
    for group in {kind for _, _, kind in points}:
        mine = [(time, value) for time, value, kind in points if kind == group]
        middle = sum(time for time, _ in mine) / len(mine)
        above += sum((time - middle) * value for time, value in mine)
        below += sum((time - middle) ** 2 for time, _ in mine)
        mean = sum(value for _, value in mine) / len(mine)
        squares += sum((value - mean) ** 2 for _, value in mine)
    if not below:
        return 0.0, 0.0
    rest = max(0.0, squares - above**2 / below)
    return above / below, (rest / below / max(1, len(points) - 2)) ** 0.5


def verdict(results: dict[str, Any]) -> list[str]:
    """Return the curves that have grown by more than chance explains."""
    grown = []
    for curve in (*CURVES, *EXAMINED):
        found = results["slopes"].get(curve.name)
        if found and found["per_hour"] - 2 * found["error"] > max(curve.least, curve.flat * found["mean"]):
            grown.append(f"{curve.name}: {found['per_hour']:+,.1f} {curve.unit} per hour at {found['mean']:,.1f}")
    return grown
