"""Stand-ins for PyFlink names that flintstream does not implement: importable, with advice when used."""

from __future__ import annotations

import re
from abc import ABCMeta
from typing import Any, NoReturn

from flintstream.errors import AbsentNameError

__all__ = ["advice", "refusal", "stand_in"]

_NO_JVM = "flintstream has no Flink JVM"
_INTERNAL = "it is internal to PyFlink"

_MODULES = {
    "pyflink.table": "flintstream has only part of the Table API (docs/reference/table.md); "
    "use Spark SQL, and read its output with a source",
    "pyflink.dataset": "PyFlink removed the DataSet API in 1.14; use pyflink.datastream in BATCH mode",
    "pyflink.testing": "use flintstream.testing, whose CollectSink collects the records of a stream",
    "pyflink.java_gateway": _NO_JVM,
    "pyflink.pyflink_gateway_server": _NO_JVM,
    "pyflink.pyflink_callback_server": _NO_JVM,
    "pyflink.fn_execution": _INTERNAL,
    "pyflink.util": _INTERNAL,
    "pyflink.shell": "start a Python shell and import flintstream.datastream",
    "pyflink.ml": "Flink ML is not part of flintstream",
    "pyflink.datastream.connectors.pulsar": "PyFlink removed it; pass a schema of pyflink.common to the builder, which "
    "reads every subscription as an exclusive one",
    "pyflink.datastream.connectors": "this connector is not available in this version of flintstream",
    "pyflink.datastream.formats": "this format is not available in this version of flintstream",
}

_OBJECTS = (
    (r"Pulsar|^SubscriptionType$", _MODULES["pyflink.datastream.connectors.pulsar"]),
    (r"_j_|java|_python_env$|_stream_operator$|hadoop|python_(obj|converter)$|kafka_consumer|gateway", _NO_JVM),
    (r"Java", f"{_NO_JVM}; write the function in Python"),
)


def advice(module: str) -> str:
    """Return advice for using flintstream without a PyFlink module."""
    found = [text for prefix, text in _MODULES.items() if module == prefix or module.startswith(prefix + ".")]
    return found[0] if found else "it is not part of flintstream"


def _advice_of(module: str, name: str) -> str:
    for pattern, text in _OBJECTS:
        if re.search(pattern, name):
            return text
    found = advice(module)
    return found if module.count(".") > 2 or module.startswith("pyflink.table") else _INTERNAL


class _Absent(ABCMeta):
    """Metaclass of all stand-ins. They are classes, so annotations, subclassing and isinstance() work."""

    _absent: str

    def _refuse(cls, use: str) -> NoReturn:
        name, text = cls._absent.split(" ", 1)
        raise AbsentNameError(f"{name}{use}: {text}")

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        cls._refuse("()")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        cls._refuse(f".{name}")

    def __getitem__(cls, _: object) -> _Absent:
        return cls


def stand_in(module: str, name: str) -> type:
    """Return a class that can be named, subclassed and used in isinstance(), but rejects any other use.

    >>> SubscriptionType = stand_in("pyflink.datastream.connectors.pulsar", "SubscriptionType")
    >>> isinstance(1, SubscriptionType)
    False
    >>> SubscriptionType.Shared
    Traceback (most recent call last):
    flintstream.errors.AbsentNameError: pyflink.datastream.connectors.pulsar.SubscriptionType.Shared: PyFlink removed
    it; pass a schema of pyflink.common to the builder, which reads every subscription as an exclusive one
    """
    return _Absent(name, (), {"__module__": module, "_absent": f"{module}.{name} {_advice_of(module, name)}"})


def refusal(value: object) -> str | None:
    """Return what any use of a stand-in says; None for all other values."""
    if not isinstance(value, _Absent):
        return None
    name, text = value._absent.split(" ", 1)
    return f"{name}: {text}"
