"""Flink's configuration file: ``config.yaml``, or ``flink-conf.yaml`` as releases before 2.0 have it."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flintstream.options.flink_keys import is_of_flink
from flintstream.options.table import OURS, option_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["CONF_DIR", "NAMES", "Setting", "config_file", "has_counterpart", "read_config"]

_log = logging.getLogger(__name__)

CONF_DIR = "FLINK_CONF_DIR"
"""The variable that names the directory of the file."""

NAMES = ("config.yaml", "flink-conf.yaml")
"""Names of the file, in order of precedence."""

_OTHERS = ("spark.", "table.", "sql.")
"""Prefixes of further keys that have an effect."""

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NEEDS_QUOTES = re.compile(r"^$|^[\s\-?:#&*!|>'\"%@`]|[,\[\]{}]|: |:$| #|\s$")
"""What cannot be an item of a list as it is."""


class Setting(NamedTuple):
    """A value from a file."""

    value: str
    place: str
    """The path of the file and the line of the key, such as ``conf/config.yaml:12``."""


def config_file(given: str | None, environment: Mapping[str, str]) -> Path | None:
    """Return the configuration file: the given one, or that of ``FLINK_CONF_DIR``; None if there is none.

    Args:
        given: a file, or a directory that has one.
        environment: the environment variables.

    Raises:
        ValueError: The given file does not exist.
    """
    directory = given or environment.get(CONF_DIR)
    if not directory:
        return None
    path = Path(directory)
    if given and path.is_file():
        return path
    found = next((path / name for name in NAMES if (path / name).is_file()), None)
    if found is None and given:
        missing = f"has neither {' nor '.join(NAMES)}" if path.is_dir() else "does not exist"
        raise ValueError(f"the configuration {given} {missing}")
    return found


def read_config(path: Path) -> dict[str, Setting]:
    """Return the settings of a file by key, as Flink reads them: nested keys are joined by dots.

    A file called ``flink-conf.yaml`` has a key and a value in each line, ``key: value``, as older releases read it.

    Raises:
        ValueError: The file cannot be read. The message has its path and the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the configuration {path} cannot be read: {error}") from None
    pairs = _lines(text, path) if path.name == NAMES[1] else _yaml(text, path)
    return {key: Setting(value, f"{path}:{line}") for key, value, line in pairs}


def has_counterpart(key: str) -> bool:
    """Tell whether a key of Flink's file has an effect here, or is to be reported as misspelled.

    >>> has_counterpart("parallelism.default"), has_counterpart("taskmanager.numberOfTaskSlots")
    (True, False)
    """
    return option_of(key) is not None or (key.startswith((*OURS, *_OTHERS)) and not is_of_flink(key))


def _lines(text: str, path: Path) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        key, separator, value = content.partition(": ")
        if not separator or not key.strip() or not value.strip():
            _log.warning("%s:%s: skipping a line that is not 'key: value'", path, number)
            continue
        yield key.strip(), value.strip(), number


def _yaml(text: str, path: Path) -> Iterator[tuple[str, str, int]]:
    import yaml

    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = path if mark is None else f"{path}:{mark.line + 1}"
        problem = getattr(error, "problem", None) or str(error)
        raise ValueError(f"{place}: this is not YAML: {problem}") from None
    if root is not None:
        if not isinstance(root, yaml.MappingNode):
            raise ValueError(f"{path}:{root.start_mark.line + 1}: the file must have keys with values, 'key: value'")
        yield from _flat(root, "", path)


def _flat(mapping: Any, prefix: str, path: Path) -> Iterator[tuple[str, str, int]]:
    from yaml import MappingNode, ScalarNode

    seen: set[str] = set()
    for key_node, node in mapping.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, ScalarNode):
            raise ValueError(f"{path}:{line}: a key must be text")  # noqa: TRY004 - what is wrong is in a file
        key = f"{prefix}{key_node.value}"
        if key in seen:
            raise ValueError(f"{path}:{line}: the key '{key}' appears twice")
        seen.add(key)
        if isinstance(node, MappingNode):
            yield from _flat(node, f"{key}.", path)
        else:
            value = _text(node)
            if value is not None:
                yield key, value, line


def _text(node: Any) -> str | None:
    """Return a value as text, a list as ``[a, b]``; None if it is null."""
    from yaml import MappingNode, SequenceNode

    if isinstance(node, SequenceNode):
        return f"[{', '.join(_item(item) for item in node.value)}]"
    if isinstance(node, MappingNode):
        return f"{{{', '.join(f'{_item(key)}: {_item(value)}' for key, value in node.value)}}}"
    value = str(node.value)
    if node.style is None:  # plain: null and truth values are not text
        if value in {"", "~", "null", "Null", "NULL"}:
            return None
        if value in {"True", "TRUE", "False", "FALSE"}:
            return value.lower()
        if _INTEGER.fullmatch(value):
            return str(int(value, 0 if value[:2] in {"0o", "0x"} else 10))
    return value


def _item(node: Any) -> str:
    value = _text(node)
    if value is None:
        return "null"
    if not hasattr(node.value, "append") and _NEEDS_QUOTES.search(value):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    return value
