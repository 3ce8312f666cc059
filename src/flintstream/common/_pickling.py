"""How values travel between the processes of a job."""

from __future__ import annotations

import pickle

__all__ = ["dumps"]


def dumps(value: object) -> bytes:
    """Pickle a value; lambdas and local classes need cloudpickle, which is many times slower.

    >>> pickle.loads(dumps(lambda: 1))()
    1
    """
    try:
        return pickle.dumps(value, 5)
    except Exception:  # noqa: BLE001 - whatever it is, the other way says what cannot be pickled, too
        from flintstream.common import _by_value  # noqa: PLC0415 - costs 20 ms, and is rarely needed

        return _by_value.dumps(value)
