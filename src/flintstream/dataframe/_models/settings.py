"""Settings of model providers as texts, which connectors of Flink read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRETS = ("key", "token", "password", "secret", "authorization", "header")
HIDDEN = "******"


def text_of_name(name: object, argument: str) -> str:
    """Return a name that is more than blanks.

    Raises:
        TypeError: It is not a text.
        ValueError: It is empty.
    """
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be a string")
    if not name.strip():
        raise ValueError(f"{argument} must not be empty or whitespace")
    return name


def texts_of_options(options: Mapping[str, object]) -> dict[str, str]:
    """Return the options that are set, as texts.

    >>> texts_of_options({"n": 1, "seed": None, "stream": True})
    {'n': '1', 'stream': 'true'}
    """
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
        if value is not None
    }


def check_kind(name: str, value: object, kind: type) -> None:
    """Check the type of an option that is set.

    Raises:
        TypeError: It has another one.
    """
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}")


def choose(name: str, value: object, choices: Sequence[str]) -> str | None:
    """Return one of some words, whatever its case; None if it is not set.

    Raises:
        TypeError: It is not a text.
        ValueError: It is none of them.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str")
    for choice in choices:
        if value.lower() == choice.lower():
            return choice
    raise ValueError(f"{name} must be one of {tuple(choices)}")


def hide(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without what must stay secret.

    >>> hide({"api-key": "abc", "model": "m"})
    {'api-key': '******', 'model': 'm'}
    """
    return {name: HIDDEN if any(word in name.lower() for word in SECRETS) else value for name, value in options.items()}


def text_of_headers(headers: object) -> str | None:
    """Return headers of HTTP as the text of an option.

    Raises:
        TypeError: They are not a mapping of texts to texts.

    >>> text_of_headers({"X-Trace-Id": "abc"})
    '{"X-Trace-Id": "abc"}'
    """
    if headers is None:
        return None
    if not isinstance(headers, Mapping):
        raise TypeError("custom_headers must be a mapping of strings to strings")
    if not all(isinstance(text, str) for pair in headers.items() for text in pair):
        raise TypeError("custom_headers must contain string keys and values")
    return json.dumps(dict(headers))
