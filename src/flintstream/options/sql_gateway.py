"""The options of the SQL gateway and of the SQL client."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import count, duration, names

IDLE_TIMEOUT = Option(
    "sql-gateway.session.idle-timeout",
    duration(0),
    600_000,
    "a session of the SQL gateway that no client uses for this time ends, with the jobs of its queries; `0`: never",
)
MOST_SESSIONS = Option(
    "sql-gateway.session.max-num", count(1), 1_000_000, "maximum number of sessions of the SQL gateway"
)
RESULT_MODE = Option(
    "sql-client.execution.result-mode",
    names("TABLE", "CHANGELOG", "TABLEAU"),
    "TABLEAU",
    "how `flintstream sql` shows the rows of a streaming query: `TABLE`: those that are left when it has ended; "
    "otherwise each change as it comes. Flink's default is `TABLE`",
)
OPTIONS = options_in(globals())
