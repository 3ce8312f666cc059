"""The options of what becomes of a job that fails."""

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
    "`none`, `fixed-delay`, `failure-rate` or `exponential-delay`; the last one where it is not set and checkpoints "
    "are taken, else the first",
    (PREFIX,),
)
FIXED_ATTEMPTS = Option(f"{PREFIX}.fixed-delay.attempts", count(0), 1, "how often a job is started again")
FIXED_DELAY = Option(f"{PREFIX}.fixed-delay.delay", duration(0), SECOND, "time before each restart")
RATE_FAILURES = Option(f"{PREFIX}.failure-rate.max-failures-per-interval", count(1), 1, "how many failures are borne")
RATE_INTERVAL = Option(f"{PREFIX}.failure-rate.failure-rate-interval", duration(1), MINUTE, "within this time")
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
    "how much longer it gets each time",
)
RESET_THRESHOLD = Option(
    f"{PREFIX}.exponential-delay.reset-backoff-threshold",
    duration(1),
    60 * MINUTE,
    "after so long without a failure it is the initial time again",
)
JITTER = Option(
    f"{PREFIX}.exponential-delay.jitter-factor",
    number("from 0 to 1", lambda value: 0 <= value <= 1),
    0.1,
    "share by which it varies at random",
)
BACKOFF_ATTEMPTS = Option(
    f"{PREFIX}.exponential-delay.attempts-before-reset-backoff",
    count(1),
    MAX_INT,
    "how many restarts there are before the job must have lasted that long",
)

OPTIONS = options_in(globals())
