"""Serialization of values between the processes of a job."""

from __future__ import annotations

import pickle

__all__ = ["dumps"]


def dumps(value: object) -> bytes:
    """Pickle a value, with cloudpickle only if needed: for lambdas and local classes. It is many times slower.

    >>> pickle.loads(dumps(lambda: 1))()
    1
    """
    try:
        return pickle.dumps(value, 5)
    except Exception:  # noqa: BLE001 - cloudpickle reports the error if it fails as well
        from flintstream.common._user_code import by_value

        return by_value.dumps(value)
