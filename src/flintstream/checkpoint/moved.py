"""New modules of classes that state of earlier releases names by their former modules."""

from __future__ import annotations

import io
import pickle
from typing import Any

__all__ = ["MOVED", "loads"]

MOVED = {
    "flintstream.checkpoint.fsspec_store": "flintstream.storage.remote",
    "flintstream.checkpoint.own_store": "flintstream.storage.custom",
    "flintstream.common._basictypes": "flintstream.common._types.basic",
    "flintstream.common._by_value": "flintstream.common._user_code.by_value",
    "flintstream.common._collected": "flintstream.common._types.collected",
    "flintstream.common._columntypes": "flintstream.common._types.columns",
    "flintstream.common._compositetypes": "flintstream.common._types.composite",
    "flintstream.common._conversion": "flintstream.common._types.conversion",
    "flintstream.common._datatypes": "flintstream.common._types.data_types",
    "flintstream.common._typebase": "flintstream.common._types.base",
    "flintstream.connectors.arrow_files": "flintstream.connectors.files.arrow",
    "flintstream.connectors.bad_records": "flintstream.connectors.files.bad_records",
    "flintstream.connectors.compaction": "flintstream.connectors.files.compaction",
    "flintstream.connectors.file_reader": "flintstream.connectors.files.reader",
    "flintstream.connectors.files.places": "flintstream.connectors.files.recoverable",
    "flintstream.connectors.input_formats": "flintstream.connectors.files.input_formats",
    "flintstream.connectors.part_files": "flintstream.connectors.files.sink",
    "flintstream.connectors.places": "flintstream.connectors.files.recoverable",
    "flintstream.datastream._functions.basic": "flintstream.datastream.functions",
    "flintstream.datastream._state.descriptors": "flintstream.datastream.state",
    "flintstream.datastream._state.ttl_config": "flintstream.datastream.state",
    "flintstream.datastream._window.assigners": "flintstream.datastream.window",
    "flintstream.datastream._window.base": "flintstream.datastream.window",
    "flintstream.datastream._window.sessions": "flintstream.datastream.window",
    "flintstream.datastream._window.triggers": "flintstream.datastream.window",
    "flintstream.datastream._window.windows": "flintstream.datastream.window",
    "flintstream.datastream.connectors._kafka_offsets": "flintstream.datastream.connectors._kafka.offsets",
    "flintstream.datastream.connectors._kafka_older": "flintstream.datastream.connectors._kafka.older",
    "flintstream.datastream.connectors._kafka_sink": "flintstream.datastream.connectors._kafka.sink",
    "flintstream.datastream.connectors._kafka_source": "flintstream.datastream.connectors._kafka.source",
    "flintstream.table._classes": "flintstream.common._types.columns",
}
"""Former module -> current module of moved classes."""


class _Finder(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return super().find_class(MOVED.get(module, module), name)


def loads(data: bytes) -> Any:
    r"""Unpickle state of this or an earlier release.

    The slower unpickler runs only if a module is missing, as most state has no moved classes.

    >>> loads(b"cflintstream.datastream._window.windows\nTimeWindow\n.").__module__
    'flintstream.datastream.window'
    """
    try:
        return pickle.loads(data)
    except ModuleNotFoundError as error:
        if error.name is None or not any(module.startswith(error.name) for module in MOVED):
            raise
    return _Finder(io.BytesIO(data)).load()
