"""The table of all options: what is known of a key, and what is wrong with a configuration."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from flintstream.options import checkpointing, execution, ignored, restarts, rocksdb, state
from flintstream.options.flink_keys import is_of_flink, keys_of_flink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flintstream.options.option import Option

__all__ = ["DOCUMENTATION", "OPTIONS", "OURS", "THEMES", "check_values", "option_of", "unknown_keys"]

THEMES: dict[str, tuple[Option[Any], ...]] = {
    "execution": execution.OPTIONS,
    "checkpointing": checkpointing.OPTIONS,
    "state": state.OPTIONS,
    "rocksdb": rocksdb.OPTIONS,
    "restarts": restarts.OPTIONS,
    "ignored": ignored.OPTIONS,
}
"""All options by the module that defines them, in the order in which the documentation shows them."""

OPTIONS = tuple(option for options in THEMES.values() for option in options)

DOCUMENTATION = "docs/configuration.md"

OURS = ("flintstream.", "state.", "execution.", "restart-strategy.", "pipeline.", "parallelism.", "python.")
"""Below these, every key is known. Others belong to Spark, to other parts of Flink or to the program."""

_NAMED_BY_USERS = f"{execution.JOB_PARAMETERS.key}."
"""The name of a job parameter comes behind."""

_LIKENESS = 0.8
"""How much alike (0 to 1) two keys must be for one to be a guess at the other. The prefix they share counts, too."""

_BY_KEY = {key: option for option in OPTIONS for key in option.keys}


def option_of(key: str) -> Option[Any] | None:
    """Return the option that has this key, or had it once.

    >>> option_of("state.backend").key
    'state.backend.type'
    """
    return _BY_KEY.get(key)


def check_values(entries: Mapping[str, Any]) -> None:
    """Check the values of all options that are set, also of those that the job will not read.

    Raises:
        ValueError: An option cannot have its value; the message names the key, the value and what is accepted.

    >>> check_values({"flintstream.control": "yes"})
    Traceback (most recent call last):
    ValueError: 'flintstream.control' must be 'true' or 'false', got 'yes'
    """
    for option in OPTIONS:
        option.read(entries)


def unknown_keys(keys: Iterable[str]) -> dict[str, str | None]:
    """Return the keys that are neither ours nor Flink's, each with the known key that it is most like, if any.

    >>> unknown_keys(["execution.checkpointing.intervall", "state.backend.type", "my.own"])
    {'execution.checkpointing.intervall': 'execution.checkpointing.interval'}
    """
    unknown = sorted(
        key
        for key in keys
        if key.startswith(OURS) and not key.startswith(_NAMED_BY_USERS) and key not in _BY_KEY and not is_of_flink(key)
    )
    candidates = sorted(_BY_KEY.keys() | keys_of_flink()) if unknown else []
    return {key: next(iter(get_close_matches(key, candidates, 1, _LIKENESS)), None) for key in unknown}
