"""The options of state backends and of the changelog. Those only for RocksDB are in ``rocksdb``."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, TEXT, count, duration, names
from flintstream.options.units import MINUTE

BACKEND = Option(
    "state.backend.type",
    TEXT,
    "hashmap",
    "`hashmap`, `rocksdb`, or `module:function` for a custom one; BATCH jobs always use a hash map",
    ("state.backend",),
)
CHANGELOG = Option(
    "state.changelog.enabled",
    FLAG,
    False,
    "whether checkpoints refer to a log of changes instead of writing all state each time",
    ("state.backend.changelog.enabled",),
)
MATERIALIZE = Option(
    "state.changelog.periodic-materialize.enabled",
    FLAG,
    True,
    "whether to materialize that log as a new base periodically",
    ("state.backend.changelog.periodic-materialize.enabled",),
)
MATERIALIZE_INTERVAL = Option(
    "state.changelog.periodic-materialize.interval",
    duration(1),
    10 * MINUTE,
    "how often the log is materialized",
    ("state.backend.changelog.periodic-materialize.interval",),
)
MATERIALIZE_FAILURES = Option(
    "state.changelog.max-failures-allowed",
    count(0),
    3,
    "number of times in a row that materialization may fail before the job fails",
    ("state.backend.changelog.max-failures-allowed",),
)
PICKLE = Option(
    "flintstream.security.pickle",
    names("allow", "refuse"),
    "allow",
    "`refuse`: the job neither pickles nor unpickles state, so that no savepoint or checkpoint can run code; "
    "state that needs pickle is an error",
)

OPTIONS = options_in(globals())
