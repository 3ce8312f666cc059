"""The class of options: a key with its type, default and documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.options.types import OptionType

__all__ = ["Option", "options_in"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Option(Generic[T]):
    """An option of the configuration.

    >>> from flintstream.options.types import duration
    >>> PAUSE = Option("my.pause", duration(0), 1_000, "time between two attempts", ("my.delay",))
    >>> PAUSE.read({}), PAUSE.read({"my.delay": "5 s"}), PAUSE.read({"my.delay": "5 s", "my.pause": "1 min"})
    (1000, 5000, 60000)
    >>> PAUSE.read({"my.delay": "soon"})
    Traceback (most recent call last):
    ValueError: 'my.delay' must be a duration, such as '10 s', '5 min' or '250' (ms), got 'soon'
    """

    key: str
    type: OptionType[T]
    default: T
    """The value if the option is not set. None means no value."""
    doc: str
    """Its meaning, in Markdown."""
    deprecated_keys: tuple[str, ...] = ()
    """Older spellings of the key, in order of precedence. The key itself takes precedence over them."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The key and its older spellings, in order of precedence."""
        return (self.key, *self.deprecated_keys)

    def parse(self, value: object, key: str | None = None) -> T:
        """Parse a string, or an object that a program has set.

        Args:
            value: such as ``"5 s"``, ``5000`` or ``Duration.of_seconds(5)``.
            key: the spelling of the key for the error; by default the newest.

        Raises:
            ValueError: The value is invalid. The message has the key, the value and a description of valid values.
        """
        text = str(value)
        try:
            return self.type.read(text.strip())
        except ValueError:
            raise ValueError(f"'{key or self.key}' must be {self.type.accepted}, got '{text}'") from None

    def key_in(self, entries: Mapping[str, Any]) -> str | None:
        """Return the spelling of the key that takes effect in ``entries``, or None if the option is not set."""
        return next((key for key in self.keys if key in entries), None)

    def read(self, entries: Mapping[str, Any]) -> T:
        """Return the value of the option in ``entries``, or its default if it is not set.

        Raises:
            ValueError: The value is invalid.
        """
        key = self.key_in(entries)
        return self.default if key is None else self.parse(entries[key], key)

    def default_text(self) -> str | None:
        """Return the default as text, or None if there is no default."""
        return None if self.default is None else self.type.write(self.default)


def options_in(module: Mapping[str, Any]) -> tuple[Option[Any], ...]:
    """Return the options in the globals of a module, in the order of their definition."""
    return tuple(value for value in module.values() if isinstance(value, Option))
