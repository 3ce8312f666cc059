"""Connect two streams, orders and payments, by customer; the first of a pair waits for the second.

Half of the records are orders. There are 10,000 customers; the results of every 101st order are written.
"""

from __future__ import annotations

from benchmarks.workload import SPREAD

CUSTOMERS = 10_000


def order(n: int, half: int) -> tuple[int, int, int]:
    """Return customer, number and amount of an order; the halves of the numbers have separate customers."""
    return n * SPREAD % (CUSTOMERS // 2) * 2 + (n >= half), n, n % 1000


def payment(n: int, half: int) -> tuple[int, int, int]:
    """Return customer, number of the order and the amount paid."""
    return n * SPREAD % (CUSTOMERS // 2) * 2 + (n >= half), n, n % 990
