"""What the bodies of requests hold."""

from __future__ import annotations

from typing import Any

from flintstream.rest.records import RefusedError, checked_id
from flintstream.rest.targets import checked_target


def upper_bounds(body: dict[str, object]) -> dict[str, int]:
    """Return the parallelism of each vertex: what it asks for at most, as a chain gets as much as it asks for."""
    found = {}
    for vertex, wanted in body.items():
        bounds = wanted.get("parallelism") if isinstance(wanted, dict) else None
        if not isinstance(bounds, dict) or set(bounds) - {"lowerBound", "upperBound"}:
            raise RefusedError(400, f"'{vertex}' must have a 'parallelism' with 'lowerBound' and 'upperBound'")
        upper: Any = bounds.get("upperBound")
        lower: object = bounds.get("lowerBound", 1)
        if not all(isinstance(item, int) and not isinstance(item, bool) and item > 0 for item in (lower, upper)):
            raise RefusedError(400, f"the bounds of '{vertex}' must be positive numbers, but got {lower} and {upper}")
        if lower > upper:
            raise RefusedError(400, f"the lower bound of '{vertex}', {lower}, is above the upper one, {upper}")
        found[vertex] = upper
    return found


def trigger_of(body: dict[str, object]) -> str | None:
    """Return the id that the caller gives to its request, or None."""
    given = body.get("triggerId")
    if given is not None:
        if not isinstance(given, str):
            raise RefusedError(400, "'triggerId' must be a string")
        checked_id(given, "triggerId")
    return given


def directory_of(job: str, body: dict[str, object], name: str) -> str | None:
    """Return a directory of the body in its normal form, or None if it has none."""
    given = body.get(name)
    if given is None:
        return None
    if not isinstance(given, str):
        raise RefusedError(400, f"'{name}' must be a string")
    return checked_target(job, given)
