"""The options of a declared table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from flintstream.options.units import parse_nanos
from flintstream.table._connectors.legacy_options import current_options
from flintstream.table._errors import SqlError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping


class Options:
    """Options by key; :meth:`check` finds those that nothing has read.

    >>> options = Options("prices", {"connector": "shop", "url": "a", "rows": "3", "wait": "2 s", "http.agent": "me"})
    >>> options.required("url"), options.integer("rows"), options.millis("wait"), options.text("user", "none")
    ('a', 3, 2000, 'none')
    >>> options.has("user"), options.flag("fast"), options.starting_with("http.")
    (False, False, {'agent': 'me'})
    >>> options.known("retries", "nothing fails")
    >>> options.without_effect
    {'retries': 'nothing fails'}
    >>> options.not_yet("mode", "plain")
    >>> options.of_sources("scan.startup")
    >>> options.of_sinks("sink.buffer")
    >>> options.check()
    >>> options.read
    ['connector', 'fast', 'http.agent', 'mode', 'retries', 'rows', 'scan.startup', 'sink.buffer', 'url', 'user', 'wait']
    """

    def __init__(self, table: str, values: Mapping[str, str]) -> None:
        self.table, self.place = table, f"table '{table}'"
        self._values = {_current(key): value for key, value in current_options(table, values).items()}
        self._known: set[str] = {"connector", "property-version"}
        self.without_effect: dict[str, str] = {}
        """The options that are accepted and have no effect, with the reasons."""

    @property
    def reader(self) -> str:
        """What reads the options, for errors.

        >>> Options("t", {"connector": "shop"}).reader
        "the connector 'shop'"
        """
        return f"the connector '{self._values['connector']}'"

    def text(self, key: str, default: str | None = None) -> str | None:
        """Return a text."""
        self._known.add(key)
        return self._values.get(key, default)

    def has(self, key: str) -> bool:
        """Return whether an option is given."""
        return key in self._values

    def starting_with(self, prefix: str) -> dict[str, str]:
        """Return the options whose keys begin with ``prefix``, without it."""
        found = {key: value for key, value in self._values.items() if key.startswith(prefix)}
        self._known |= set(found)
        return {key.removeprefix(prefix): value for key, value in found.items()}

    def required(self, key: str) -> str:
        """Return a text.

        Raises:
            SqlError: It is missing.
        """
        found = self.text(key)
        if found is None:
            raise SqlError(f"{self.place}: the option '{key}' is missing")
        return found

    def integer(self, key: str, default: int | None = None) -> int | None:
        """Return a number."""
        found = self.text(key)
        if found is None:
            return default
        try:
            return int(found)
        except ValueError:
            raise SqlError(f"{self.place}: the option '{key}' must be a number, but got '{found}'") from None

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false."""
        found = self.text(key)
        if found is None:
            return default
        if found.lower() not in {"true", "false"}:
            raise SqlError(f"{self.place}: the option '{key}' must be true or false, but got '{found}'")
        return found.lower() == "true"

    def millis(self, key: str) -> int | None:
        """Return a duration in ms."""
        found = self.text(key)
        return None if found is None else parse_nanos(found) // 1_000_000

    def known(self, key: str, because: str) -> None:
        """Accept an option that has no effect on results, for a reason that the documentation tells."""
        self._known.add(key)
        self.without_effect[key] = because

    def of_sinks(self, *keys: str) -> None:
        """Accept options that only a sink of the same table reads."""
        self._known.update(keys)

    of_sources = of_sinks
    """Accepts options that only a source of the same table reads."""

    def not_yet(self, key: str, default: str = "") -> None:
        """Refuse another value than the default.

        Raises:
            SqlError: There is one.
        """
        given = self.text(key, default)
        if given != default:
            raise SqlError(f"{self.place}: the option '{key}' is not supported yet; leave it out")

    def ignore_unknown(self, prefix: str) -> None:
        """Accept the other options that begin with ``prefix``, with a warning, as Flink does for formats of files.

        >>> import warnings
        >>> options = Options("prices", {"connector": "shop", "csv.delimiter": "|"})
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     options.ignore_unknown("csv.")
        >>> print(caught[0].message)
        table 'prices': the option 'csv.delimiter' is unknown and has no effect
        >>> options.check()
        """
        read = [key for key in self.read if key.startswith(prefix)]
        for key in self._values:
            if key.startswith(prefix) and key not in self._known:
                message = f"{self.place}: the option '{key}' is unknown and has no effect{nearest(key, read)}"
                warnings.warn(message, stacklevel=2)
                self._known.add(key)

    @property
    def read(self) -> list[str]:
        """The options that the connector has, as it has read them."""
        return sorted(self._known - {"property-version"})

    def check(self) -> None:
        """Refuse unknown options.

        Raises:
            SqlError: There is one; the message names the nearest known one.
        """
        for key in self._values:
            if key not in self._known:
                raise SqlError(f"{self.place}: {self.reader} has no option '{key}'{nearest(key, self.read)}")


def _current(key: str) -> str:
    """Return the key of today for a key of earlier releases of Flink.

    >>> _current("value.avro-confluent.schema-registry.url"), _current("topic")
    ('value.avro-confluent.url', 'topic')
    """
    return key.replace("avro-confluent.schema-registry.", "avro-confluent.")
