"""The options of tables."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import FLAG, TEXT, count, duration, names, several

LOCAL_TIME_ZONE = Option(
    "table.local-time-zone",
    TEXT,
    "default",
    "time zone of the session, such as `Europe/Paris` or `+08:00`; `default` is UTC",
)
STRICT = Option(
    "flintstream.table.strict",
    FLAG,
    False,
    "refuses what works here but not in Flink: reserved words as names without backquotes, `NULL` without a type, "
    "comparisons of numbers with texts, and `SET` and `RESET` in `execute_sql`",
)
CATALOG_NAME = Option("table.builtin-catalog-name", TEXT, "default_catalog", "name of the catalog")
DATABASE_NAME = Option("table.builtin-database-name", TEXT, "default_database", "name of its first database")
STATE_TTL = Option(
    "table.exec.state.ttl", duration(0), 0, "state that has not changed for this time is dropped; `0`: never"
)
IDLE_TIMEOUT = Option(
    "table.exec.source.idle-timeout",
    duration(0),
    0,
    "after this time without a row, a subtask of a source no longer holds back the watermark; `0`: it always does",
)
DUPLICATE_CHANGES = Option(
    "table.exec.source.cdc-events-duplicate",
    FLAG,
    False,
    "whether sources repeat changes. If so, the last row of each primary key is kept, and repeated ones are dropped",
)
REUSE_SUB_PLANS = Option(
    "table.optimizer.reuse-sub-plan-enabled", FLAG, True, "common parts of the queries of a job run once"
)
REUSE_SOURCES = Option(
    "table.optimizer.reuse-source-enabled",
    FLAG,
    True,
    "a table that a job reads several times is read once, if sub-plans are reused",
)
MINI_BATCH = Option(
    "table.exec.mini-batch.enabled",
    FLAG,
    False,
    "groups emit one result for a block of records instead of one for each row",
)
AGG_PHASE = Option(
    "table.optimizer.agg-phase-strategy",
    names("AUTO", "TWO_PHASE", "ONE_PHASE"),
    "AUTO",
    "unless `ONE_PHASE`, groups in BATCH mode or with mini-batches combine rows of a block before they are exchanged",
)
EARLY_FIRE = Option(
    "table.exec.emit.early-fire.enabled",
    FLAG,
    False,
    "windows of `GROUP BY TUMBLE(...)` and `HOP` emit results before their end, which later results replace",
)
EARLY_FIRE_DELAY = Option(
    "table.exec.emit.early-fire.delay",
    duration(0),
    None,
    "processing time between these results; `0`: one for each row",
)
LATE_FIRE = Option(
    "table.exec.emit.late-fire.enabled", FLAG, False, "these windows also accept rows after their end, and emit changes"
)
LATE_FIRE_DELAY = Option(
    "table.exec.emit.late-fire.delay", duration(0), None, "time between such changes; `0`: one for each row"
)
ALLOW_LATENESS = Option(
    "table.exec.emit.allow-lateness",
    duration(0),
    0,
    "how long after its end a window accepts rows with `late-fire`; by default as long as `table.exec.state.ttl`",
)
PARALLELISM = Option(
    "table.exec.resource.default-parallelism",
    count(1, also=-1),
    -1,
    "parallelism of the steps of a query; `-1`: `parallelism.default`",
)
SORT_LIMIT = Option(
    "table.exec.sort.default-limit",
    count(0, also=-1),
    -1,
    "in BATCH mode, number of rows of an `ORDER BY` without a `LIMIT`; `-1`: all",
)
MATERIALIZE = Option(
    "table.exec.sink.upsert-materialize",
    names("AUTO", "NONE", "FORCE"),
    "AUTO",
    "whether a [step](table.md#connectors) before a sink keeps the rows of each primary key",
)
REQUIRE_CONFLICT = Option(
    "table.exec.sink.require-on-conflict",
    FLAG,
    True,
    "whether an INSERT needs `ON CONFLICT` if several rows of its query may have the primary key of the sink",
)
UPDATE_STRATEGY = Option(
    "table.optimizer.non-deterministic-update.strategy",
    names("IGNORE", "TRY_RESOLVE"),
    "IGNORE",
    "`TRY_RESOLVE`: a query is refused if its changes are found by results of functions such as `UUID` and `NOW`",
)
KEYED_SHUFFLE = Option(
    "table.exec.sink.keyed-shuffle",
    names("AUTO", "NONE", "FORCE"),
    "AUTO",
    "whether the rows of a primary key go to one subtask of the sink. `AUTO`: if the sink has a parallelism of its own",
)
NOT_NULL = Option(
    "table.exec.sink.not-null-enforcer",
    names("ERROR", "DROP"),
    "ERROR",
    "what happens to a row with NULL in a column that is NOT NULL",
)
LENGTHS = Option(
    "table.exec.sink.type-length-enforcer",
    names("IGNORE", "TRIM_PAD", "ERROR"),
    "IGNORE",
    "what happens to a value that is longer than its CHAR, VARCHAR, BINARY or VARBINARY, or shorter than its CHAR or "
    "BINARY",
)
SYNC = Option("table.dml-sync", FLAG, False, "whether `execute_sql` of an INSERT waits for the end of its job")
COLUMN_WIDTH = Option(
    "table.display.max-column-width", count(1), 30, "maximum width of a string in `print()`, in STREAMING mode"
)
COMPILED_OBJECTS = Option(
    "table.plan.compile.catalog-objects",
    names("ALL", "SCHEMA", "IDENTIFIER"),
    "ALL",
    "what a compiled plan holds of the tables in a catalog: schema and options, passwords among them; no options; or "
    "only names. Of temporary tables, it always has only the names",
)
RESTORED_OBJECTS = Option(
    "table.plan.restore.catalog-objects",
    names("ALL", "ALL_ENFORCED", "IDENTIFIER"),
    "ALL",
    "where a compiled plan gets its tables from: the plan, or the catalog if the plan does not have them; the plan "
    "alone; or the catalog alone",
)
RECOMPILES = Option(
    "table.plan.force-recompile", FLAG, False, "whether `COMPILE PLAN` replaces a file; by default, that is an error"
)
HINTS = Option("table.dynamic-table-options.enabled", FLAG, True, "`false`: the hint `OPTIONS` is an error")
EXPANSION = Option(
    "table.column-expansion-strategy",
    several(("EXCLUDE_ALIASED_VIRTUAL_METADATA_COLUMNS", "EXCLUDE_DEFAULT_VIRTUAL_METADATA_COLUMNS")),
    None,
    "which `VIRTUAL` metadata columns `*` omits: those with a `FROM`, or those without",
)
DIALECT = Option(
    "table.sql-dialect",
    names("default", "hive"),
    "default",
    "only Flink's SQL dialect is supported; Hive's is an error",
)
LEGACY_CAST = Option(
    "table.exec.legacy-cast-behaviour",
    names("DISABLED"),
    "DISABLED",
    "only the casts of Flink since 1.15; `TRY_CAST` returns NULL instead of an error",
)
NESTED_NOT_NULL = Option(
    "table.exec.sink.nested-constraint-enforcer",
    names("IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"),
    "IGNORE",
    "whether NOT NULL also counts within rows, or within rows, arrays and maps",
)
ROWTIME_INSERTER = Option(
    "table.exec.sink.rowtime-inserter", names("ENABLED"), "ENABLED", "records that are written keep their time"
)
CATALOG_STORE = Option(
    "table.catalog-store.kind", names("generic_in_memory"), "generic_in_memory", "catalogs end with the program"
)
BATCH_SIZE = Option(
    "python.fn-execution.arrow.batch.size", count(1), 1000, "maximum number of rows in a batch for a pandas function"
)
BUNDLE_SIZE = Option(
    "python.fn-execution.bundle.size",
    count(1),
    1000,
    "maximum number of rows in a bundle, at whose end a batch for a pandas function also ends",
)
BUNDLE_TIME = Option(
    "python.fn-execution.bundle.time", count(1), 1000, "how long rows wait at most for a bundle to fill (ms)"
)
ARROW_BATCHES = Option(
    "flintstream.table.arrow-batches",
    FLAG,
    True,
    "whether batches of Arrow pass as they are from readers through pandas and Arrow functions to results and writers, "
    "where a query allows it; otherwise, rows do",
)
ASYNC_SCALAR_CAPACITY = Option(
    "table.exec.async-scalar.max-concurrent-operations",
    count(1),
    10,
    "for how many rows of a block `async` scalar functions are awaited at a time, in `SELECT` and `WHERE`; elsewhere, "
    "such as in the condition of a join, it is one",
    ("table.exec.async-scalar.buffer-capacity",),
)
ASYNC_SCALAR_TIMEOUT = Option(
    "table.exec.async-scalar.timeout",
    duration(1),
    180_000,
    "how long a call of an `async` scalar function may take, with all of its retries",
)
ASYNC_SCALAR_STRATEGY = Option(
    "table.exec.async-scalar.retry-strategy",
    names("FIXED_DELAY", "NO_RETRY"),
    "FIXED_DELAY",
    "whether a call that fails is made again",
)
ASYNC_SCALAR_DELAY = Option(
    "table.exec.async-scalar.retry-delay", duration(1), 100, "time between a call that fails and the next one"
)
ASYNC_SCALAR_ATTEMPTS = Option(
    "table.exec.async-scalar.max-attempts",
    count(1),
    3,
    "how often a call that fails is made again; as in PyFlink, the first call does not count",
)
ASYNC_SCALAR = (
    ASYNC_SCALAR_CAPACITY,
    ASYNC_SCALAR_TIMEOUT,
    ASYNC_SCALAR_STRATEGY,
    ASYNC_SCALAR_DELAY,
    ASYNC_SCALAR_ATTEMPTS,
)
"""How `async` scalar functions are awaited. Tasks get them with the parameters of the job."""

OPTIONS = options_in(globals())
