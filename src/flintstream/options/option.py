"""One option: its key, and all that is known of it."""

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
    """The value while the option is not set; None where there is none."""
    doc: str
    """What it means, in Markdown."""
    deprecated_keys: tuple[str, ...] = ()
    """Older spellings of the key. They count while the key itself is not set, in this order."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The key and its older spellings, in the order in which they count."""
        return (self.key, *self.deprecated_keys)

    def parse(self, value: object, key: str | None = None) -> T:
        """Return the value that a text stands for, or an object that a program has set.

        Args:
            value: such as ``"5 s"``, ``5000`` or ``Duration.of_seconds(5)``.
            key: the spelling of the key that the error names; by default the newest.

        Raises:
            ValueError: The option cannot have this value; the message names key, value and what is accepted.
        """
        text = str(value)
        try:
            return self.type.read(text.strip())
        except ValueError:
            raise ValueError(f"'{key or self.key}' must be {self.type.accepted}, got '{text}'") from None

    def key_in(self, entries: Mapping[str, Any]) -> str | None:
        """Return the spelling of the key that counts among ``entries``, None if none of them is there."""
        return next((key for key in self.keys if key in entries), None)

    def read(self, entries: Mapping[str, Any]) -> T:
        """Return the value that ``entries`` have for the option, its default if they have none.

        Raises:
            ValueError: The option cannot have this value.
        """
        key = self.key_in(entries)
        return self.default if key is None else self.parse(entries[key], key)

    def default_text(self) -> str | None:
        """Return the default as a configuration would have it, None where there is none."""
        return None if self.default is None else self.type.write(self.default)


def options_in(module: Mapping[str, Any]) -> tuple[Option[Any], ...]:
    """Return the options that a module defines, in their order; ``module`` are its globals."""
    return tuple(value for value in module.values() if isinstance(value, Option))
