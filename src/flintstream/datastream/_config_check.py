"""Says what is wrong with a configuration when a job is built: bad values, misspelt keys, what does nothing."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import TYPE_CHECKING

from flintstream.datastream._flink_keys import is_of_flink, keys_of_flink
from flintstream.datastream._job_settings import CHANGELOG
from flintstream.datastream._options import ALL, find, spelling_of
from flintstream.datastream.checkpoint_config import INTERVAL
from flintstream.datastream.checkpoint_storage import DIRECTORY, STORAGE, JobManagerCheckpointStorage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.common.configuration import Configuration
    from flintstream.datastream.checkpoint_config import CheckpointConfig

__all__ = ["check_values", "warn_of_idle_changelog", "warn_of_unknown_keys"]

DOCUMENTATION = "docs/configuration.md"
LIKENESS = 0.8
"""How much alike (0 to 1) two keys must be for one to be a guess at the other: the prefix they share counts, too."""

OURS = ("flintstream.", "state.", "execution.", "restart-strategy.", "pipeline.", "parallelism.", "python.")
"""Below these, every key is known. Others belong to Spark, to other parts of Flink or to the program."""

NAMED_BY_USERS = "pipeline.global-job-parameters."
"""What comes behind is the name of a job parameter."""

_KNOWN = frozenset(spelling for option in ALL for spelling in (option.key, *option.older))


def check_values(configuration: Configuration) -> None:
    """Check the values of all known keys, also of those that this job will not read.

    Raises:
        ValueError: A value is not one that its key may have; the message names the key, the value and what it may be.

    >>> from flintstream.common.configuration import Configuration
    >>> check_values(Configuration.from_dict({"flintstream.control": "yes"}))
    Traceback (most recent call last):
    ValueError: 'flintstream.control' must be 'true' or 'false', got 'yes'; see docs/configuration.md
    """
    for option in ALL:
        found = find(configuration, option.key)
        if found is not None and found[1] not in option.values:
            key, text = found
            raise ValueError(f"'{key}' must be {option.values.words}, got '{text}'; see {DOCUMENTATION}")


def unknown_keys(keys: Iterable[str]) -> dict[str, str | None]:
    """Return the keys that nobody knows, each with the known key that it is most like, None if it is like none.

    >>> unknown_keys(["execution.checkpointing.intervall", "state.backend.type", "my.own"])
    {'execution.checkpointing.intervall': 'execution.checkpointing.interval'}
    """
    unknown = sorted(
        key
        for key in keys
        if key.startswith(OURS) and not key.startswith(NAMED_BY_USERS) and key not in _KNOWN and not is_of_flink(key)
    )
    candidates = sorted(_KNOWN | keys_of_flink()) if unknown else []
    return {key: next(iter(get_close_matches(key, candidates, 1, LIKENESS)), None) for key in unknown}


def warn_of_unknown_keys(configuration: Configuration, *, stacklevel: int) -> None:
    """Warn of each key that looks like one of Flink's or ours but is none; ``stacklevel`` counts from the caller."""
    for key, nearest in unknown_keys(configuration.key_set()).items():
        hint = "" if nearest is None else f" (did you mean '{nearest}'?)"
        warnings.warn(
            f"the key '{key}' of the configuration is not known and has no effect{hint}; {DOCUMENTATION} lists those "
            "that have one",
            stacklevel=stacklevel + 1,
        )


def warn_of_idle_changelog(configuration: Configuration, config: CheckpointConfig, *, stacklevel: int) -> None:
    """Warn if the changelog, which is switched on, is never written for want of checkpoints or of a directory.

    Args:
        configuration: keys and values.
        config: the environment's, which knows a storage that no key can express.
        stacklevel: counts from the caller.
    """
    missing = []
    if not config.is_checkpointing_enabled():
        missing.append(f"'{INTERVAL}', such as '10 s'")
    storage = config.storage()
    if storage is None:
        missing.append(f"'{DIRECTORY}', a directory that all workers reach")
    elif isinstance(storage, JobManagerCheckpointStorage):
        missing.append(f"'{STORAGE}' to 'filesystem' and '{DIRECTORY}' to a directory that all workers reach")
    if missing:
        key = spelling_of(configuration, CHANGELOG)
        warnings.warn(f"'{key}' has no effect as it is; set {', and '.join(missing)}", stacklevel=stacklevel + 1)
