"""The options of restarts after failures."""

from __future__ import annotations

from flintstream.options.option import Option, options_in
from flintstream.options.types import MAX_INT, count, duration, names, number
from flintstream.options.units import MINUTE, SECOND

PREFIX = "restart-strategy"

_OTHER_NAMES = {
    "off": "none",
    "disable": "none",
    "fixeddelay": "fixed-delay",
    "failurerate": "failure-rate",
    "exponentialdelay": "exponential-delay",
}

STRATEGY = Option(
    f"{PREFIX}.type",
    names("none", "fixed-delay", "failure-rate", "exponential-delay", also=_OTHER_NAMES),
    None,
    "`none`, `fixed-delay`, `failure-rate` or `exponential-delay`; by default `exponential-delay` if checkpoints are "
    "on, else `none`",
    (PREFIX,),
)
FIXED_ATTEMPTS = Option(f"{PREFIX}.fixed-delay.attempts", count(0), 1, "number of restarts")
FIXED_DELAY = Option(f"{PREFIX}.fixed-delay.delay", duration(0), SECOND, "time before each restart")
RATE_FAILURES = Option(
    f"{PREFIX}.failure-rate.max-failures-per-interval", count(1), 1, "number of failures to tolerate in an interval"
)
RATE_INTERVAL = Option(
    f"{PREFIX}.failure-rate.failure-rate-interval", duration(1), MINUTE, "the interval in which failures are counted"
)
RATE_DELAY = Option(f"{PREFIX}.failure-rate.delay", duration(0), SECOND, "time before each restart")
INITIAL_BACKOFF = Option(
    f"{PREFIX}.exponential-delay.initial-backoff", duration(1), SECOND, "time before the first restart"
)
MAX_BACKOFF = Option(
    f"{PREFIX}.exponential-delay.max-backoff", duration(1), MINUTE, "the longest time before a restart"
)
MULTIPLIER = Option(
    f"{PREFIX}.exponential-delay.backoff-multiplier",
    number("greater than 1", lambda value: value > 1),
    1.5,
    "factor by which the time before a restart grows with each restart",
)
RESET_THRESHOLD = Option(
    f"{PREFIX}.exponential-delay.reset-backoff-threshold",
    duration(1),
    60 * MINUTE,
    "time without a failure after which the next restart waits for the initial time again",
)
JITTER = Option(
    f"{PREFIX}.exponential-delay.jitter-factor",
    number("from 0 to 1", lambda value: 0 <= value <= 1),
    0.1,
    "fraction by which the time before a restart varies at random",
)
BACKOFF_ATTEMPTS = Option(
    f"{PREFIX}.exponential-delay.attempts-before-reset-backoff",
    count(1),
    MAX_INT,
    "number of restarts after which the job fails, counted from the last return to the initial time",
)

OPTIONS = options_in(globals())
