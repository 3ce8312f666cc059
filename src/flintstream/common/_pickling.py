"""How values travel between the processes of a job."""

from __future__ import annotations

import pickle

__all__ = ["dumps"]


def dumps(value: object) -> bytes:
    """Pickle a value; lambdas and classes of the user's script need cloudpickle, which is many times slower.

    >>> pickle.loads(dumps(lambda: 1))()
    1
    """
    try:
        return pickle.dumps(value, 5)
    except Exception:  # noqa: BLE001 - whatever it is, cloudpickle says what cannot be pickled, too
        import cloudpickle  # noqa: PLC0415 - costs 20 ms, and is rarely needed

        return cloudpickle.dumps(value, 5)  # type: ignore[no-any-return]
