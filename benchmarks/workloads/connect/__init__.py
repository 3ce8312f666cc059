"""Orders and payments, two streams, are connected by customer; what comes first waits for the other.

Half of the records are orders. There are 10,000 customers; the results of every 101st order are written.
"""

from __future__ import annotations

from benchmarks.workload import SPREAD

CUSTOMERS = 10_000


def order(n: int, half: int) -> tuple[int, int, int]:
    """Return customer, number and amount of an order; the halves of the numbers have customers of their own."""
    return n * SPREAD % (CUSTOMERS // 2) * 2 + (n >= half), n, n % 1000


def payment(n: int, half: int) -> tuple[int, int, int]:
    """Return customer, number of the order and what was paid."""
    return n * SPREAD % (CUSTOMERS // 2) * 2 + (n >= half), n, n % 990
