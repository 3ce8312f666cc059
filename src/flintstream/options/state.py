"""The options of state backends and of the changelog; those of RocksDB alone are in ``rocksdb``."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, TEXT, count, duration
from flintstream.options.units import MINUTE

BACKEND = Option(
    "state.backend.type",
    TEXT,
    "hashmap",
    "`hashmap`, `rocksdb`, or `module:function` for one of your own; BATCH jobs use a hash map in any case",
    ("state.backend",),
)
CHANGELOG = Option(
    "state.changelog.enabled",
    FLAG,
    False,
    "whether checkpoints refer to a log of changes, instead of writing all state each time",
    ("state.backend.changelog.enabled",),
)
MATERIALIZE = Option(
    "state.changelog.periodic-materialize.enabled",
    FLAG,
    True,
    "whether that log is folded into a new base from time to time",
    ("state.backend.changelog.periodic-materialize.enabled",),
)
MATERIALIZE_INTERVAL = Option(
    "state.changelog.periodic-materialize.interval",
    duration(1),
    10 * MINUTE,
    "how often",
    ("state.backend.changelog.periodic-materialize.interval",),
)
MATERIALIZE_FAILURES = Option(
    "state.changelog.max-failures-allowed",
    count(0),
    3,
    "how many times in a row that may fail before the job does",
    ("state.backend.changelog.max-failures-allowed",),
)

OPTIONS = options_in(globals())
