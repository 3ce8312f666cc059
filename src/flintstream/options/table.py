"""The table of all options, and checks of a configuration against it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from flintstream.options import (
    autoscaler,
    checkpointing,
    execution,
    ignored,
    metrics,
    restarts,
    rocksdb,
    sql_gateway,
    state,
    tables,
)
from flintstream.options.flink_keys import is_of_flink, keys_of_flink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flintstream.options.option import Option

__all__ = ["DOCUMENTATION", "OPTIONS", "OURS", "THEMES", "check_values", "option_of", "unknown_keys"]

THEMES: dict[str, tuple[Option[Any], ...]] = {
    "execution": execution.OPTIONS,
    "tables": tables.OPTIONS,
    "sql_gateway": sql_gateway.OPTIONS,
    "checkpointing": checkpointing.OPTIONS,
    "state": state.OPTIONS,
    "rocksdb": rocksdb.OPTIONS,
    "restarts": restarts.OPTIONS,
    "metrics": metrics.OPTIONS,
    "autoscaler": autoscaler.OPTIONS,
    "ignored": ignored.OPTIONS,
}
"""All options by module, in the order of the documentation."""

OPTIONS = tuple(option for options in THEMES.values() for option in options)

DOCUMENTATION = "docs/reference/configuration.md"

OURS = ("flintstream.", "state.", "execution.", "restart-strategy.", "pipeline.", "parallelism.", "python.", "table.")
"""Prefixes for which all keys are known. Other keys belong to Spark, to other parts of Flink or to the program."""

_NAMED_BY_USERS = f"{execution.JOB_PARAMETERS.key}."
"""Prefix of the names of job parameters."""

_LIKENESS = 0.8
"""Similarity (0 to 1) of two keys from which one is suggested for the other. A common prefix counts as similar."""

_BY_KEY = {key: option for option in OPTIONS for key in option.keys}


def option_of(key: str) -> Option[Any] | None:
    """Return the option with this key or older spelling of a key.

    >>> option_of("state.backend").key
    'state.backend.type'
    """
    return _BY_KEY.get(key)


def check_values(entries: Mapping[str, Any]) -> None:
    """Check the values of all options that are set, including those that the job will not read.

    Raises:
        ValueError: A value is invalid. The message has the key, the value and a description of valid values.

    >>> check_values({"flintstream.control": "yes"})
    Traceback (most recent call last):
    ValueError: 'flintstream.control' must be 'true' or 'false', got 'yes'
    """
    for option in OPTIONS:
        option.read(entries)


def unknown_keys(keys: Iterable[str]) -> dict[str, str | None]:
    """Return the keys that neither flintstream nor Flink has, each with the most similar known key, if any.

    >>> unknown_keys(["execution.checkpointing.intervall", "state.backend.type", "my.own"])
    {'execution.checkpointing.intervall': 'execution.checkpointing.interval'}

    A key of another prefix may be the program's own, so it counts only if it is like a known one:

    >>> unknown_keys(["execute.runtime-mode", "execution.of.mine", "reports.max-age"])
    {'execution.of.mine': None, 'execute.runtime-mode': 'execution.runtime-mode'}
    """
    keys = list(keys)
    unknown = sorted(
        key
        for key in keys
        if key.startswith(OURS) and not key.startswith(_NAMED_BY_USERS) and key not in _BY_KEY and not is_of_flink(key)
    )
    others = sorted(key for key in keys if "." in key and not key.startswith((*OURS, _NAMED_BY_USERS, "spark.")))
    candidates = sorted(_BY_KEY.keys() | keys_of_flink()) if unknown or others else []
    found = {key: next(iter(get_close_matches(key, candidates, 1, _LIKENESS)), None) for key in unknown}
    for key in others:
        if key not in _BY_KEY and not is_of_flink(key) and (near := get_close_matches(key, candidates, 1, _LIKENESS)):
            found[key] = near[0]
    return found
