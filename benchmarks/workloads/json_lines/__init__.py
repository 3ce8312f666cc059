"""Parse JSON texts of about 250 characters, filter them by a field, and take three of their fields.

There are 1,000 different texts; one of five orders is written.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.workload import SPREAD

KINDS = ("view", "click", "order", "return")
LINES = [
    json.dumps(
        {
            "id": number,
            "kind": KINDS[number % 4],
            "user": {"name": f"user-{number * SPREAD % 1000}", "country": "NL", "tags": ["a", "b", "c"]},
            "items": [{"sku": f"sku-{item}", "price": item * 1.25, "quantity": item % 3 + 1} for item in range(3)],
            "note": "x" * 40,
        }
    )
    for number in range(1000)
]


def text_of(n: int) -> str:
    """Return the text of a number."""
    return LINES[n % len(LINES)]


def is_order(event: dict[str, Any]) -> bool:
    """Choose a quarter of the events."""
    return bool(event["kind"] == "order")


def to_order(event: dict[str, Any]) -> tuple[int, str, int]:
    """Return id, user and the number of ordered items."""
    return event["id"], event["user"]["name"], sum(item["quantity"] for item in event["items"])


def is_sample(order: tuple[int, str, int]) -> bool:
    """Choose the records to write."""
    return order[0] % 20 == 2
