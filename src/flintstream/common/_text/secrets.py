"""Passwords and tokens, hidden in everything that people read: errors, logs and the text of objects.

Two functions decide: :func:`is_secret` by the name of a setting, and :func:`without_secrets` within a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "HIDDEN",
    "SECRETS_OF_URLS",
    "SECRET_KEYS",
    "has_hidden",
    "hide_secrets",
    "is_secret",
    "shown_path",
    "without_secrets",
]

HIDDEN = "***"

_END = r"""(?=["']?\s*(?:[=:]|$))"""
"""The end of a key, also of one within a text."""

_WORDS = "pwd|sas|dsn|jwt"
"""Short words that name a secret wherever they are in a key, if they are words of their own."""

_LAST_WORDS = "auth|authorization|bearer|cookies?|pass|sig|signature"
"""Words that name a secret at the end of a key: ``registry.auth`` is one, ``auth.type`` is not."""

SECRET_KEYS = (
    r"(?i:password|passwd|passphrase|secret(?!ar)"
    r"|(?<!max)(?<!max[._-])(?<!min[._-])(?<!num)(?<!num[._-])(?<!total[._-])(?<!input[._-])(?<!output[._-])token(?!iz)(?!s?[._-]?(?:count|limit|rate|type|per[._-]))"
    r"|api[._-]?key|(?:account|access|private|encryption|shared)[._-]?key"
    r"|keystore\.key$|ssl\.key\.pem|auth-params|service-key|jaas\.config|http-headers|connection[._-]?string"
    r"|authMechanismProperties"
    r"|basic[._-]auth(?![._-]credentials)|user[._-]?info(?!\.uri)|credential(?!s?[._-](?:provider|source)))"
    rf"|(?<![A-Za-z])(?i:{_WORDS})(?![A-Za-z])"
    rf"|(?<![A-Za-z])(?<!client[._-])(?i:{_LAST_WORDS}){_END}"
    r"|(?<=[a-z0-9])(?:(?:Pwd|Sas|Dsn|Jwt)(?![a-z])"
    rf"|(?<!client)(?:Auth|Authorization|Bearer|Cookies?|Pass|Sig|Signature){_END})"
)
"""A pattern, also for Java, that occurs in the keys of settings that are secrets."""

SECRETS_OF_URLS = r"//[^/?:@\s]*:[^/?\s]*@|jdbc:oracle:\w+:[^/@\s]*/[^\s]*@|https?://[^/?#:@\s]+@"
"""A pattern, also for Java, that occurs in URLs with a password."""

_SECRET_KEY = re.compile(SECRET_KEYS)

_URL_ALONE = re.compile(r"(?:jdbc:|[A-Za-z][\w+.-]*:(?:\S*:)?//|//)[^\n]*")
"""A text that is one URL, in which blanks and commas may be part of a password."""

_USERS = tuple(
    (
        re.compile(rf"(//[^:/?{end}]*:)(?:[^?{end}]*|[^/@{end}]*)@"),
        re.compile(rf"(jdbc:oracle:\w+:[^/@{end}]*/)[^{end}]*@"),
    )
    for end in (r"\n", r"\s")
)
"""The passwords of users in a URL that is alone, and in one within a text."""

_TOKEN_AS_USER = re.compile(r"((?i:https?)://)[^/?#:@\s]+@")

# It begins where a word does: from each character of a long word, the rest would be read again.
_KEY = re.compile(r"""(?P<quote>["']?)(?<![\w.$%-])(?P<key>[\w.$%-]+)(?P=quote)(?P<sign>\s*=>?\s*|\s*:\s*)""")
_QUOTED = r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\{[^}\n]*\}"""
_IN_URL = re.compile(rf"{_QUOTED}|[^&;\n]*")
_IN_TEXT = re.compile(rf"{_QUOTED}|(?:(?i:basic|bearer|digest|negotiate)\s+)?[^\s&;]*?(?=[\"',)\]}}]*(?:[\s&;]|$))")
_PAIR = re.compile(r"""(?:^|(?<=[,;{]))\s*(?P<quote>["']?)(?P<key>[\w.$%-]+)(?P=quote)(?P<sign>\s*:\s*)""")
_IN_PAIRS = re.compile(rf"{_QUOTED}|[^,;}}]*")
_SAID = re.compile(
    r"(?i:(?<![\w-])(bearer|basic)\s+)(?=[\w+/.~-]{8,})(?=[A-Za-z+/.~-]*[\d_=]|[\w+/.~-]{24})[\w+/.~-]+=*"
)
"""The value of a header ``Authorization`` without its name."""

_ARGUMENT = re.compile(r"(?<!\S)--?(?P<key>[A-Za-z][\w.-]*)\s+")
_AFTER_ARGUMENT = re.compile(rf"(?!-){_QUOTED}|(?!-)\S+")

_SURE = re.compile(r"(?i)password|passwd|passphrase|secret|authorization|cookie|api[._-]?key")
"""Keys after which a colon without quotes, as in prose, comes before a secret. ``unexpected token: 'x'`` has none."""


def is_secret(key: str) -> bool:
    """Return whether the value of a setting with this key must not be shown.

    >>> is_secret("spark.hadoop.fs.s3a.secret.key"), is_secret("fs.s3a.aws.credentials.provider"), is_secret("user")
    (True, False, False)
    >>> [is_secret(key) for key in ("db.pwd", "sentryDsn", "registry.auth", "Set-Cookie", "auth.type", "tokenizer")]
    [True, True, True, True, False, False]
    """
    return _SECRET_KEY.search(key) is not None


def hide_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with the values of secret ones hidden, and the passwords within URLs and within maps.

    >>> hide_secrets({"sasl.password": "abc", "url": "amqp://me:abc@host", "user": "me"})
    {'sasl.password': '***', 'url': 'amqp://me:***@host', 'user': 'me'}
    >>> hide_secrets({"pipeline.global-job-parameters": "city:Bern,db-password:abc,limit:3"})
    {'pipeline.global-job-parameters': 'city:Bern,db-password:***,limit:3'}
    """
    return {key: HIDDEN if is_secret(key) else _shown_value(value) for key, value in settings.items()}


def has_hidden(settings: Mapping[str, str]) -> bool:
    """Return whether :func:`hide_secrets` has hidden something in these settings."""
    return any(HIDDEN in value for value in settings.values())


def shown_path(path: str) -> str:
    """Return a path or URI as errors show it: without the access token of a signed URL, and without a user's.

    >>> shown_path("https://host/in?v=1&sig=abc"), shown_path("/in/token=abc/file")
    ('https://host/in?v=1&sig=***', '/in/token=abc/file')
    """
    return without_secrets(path) if "?" in path or "@" in path else path


def without_secrets(text: str) -> str:
    """Return a URL, or a text that may have URLs, headers and settings in it, with its passwords hidden.

    >>> without_secrets("jdbc:postgresql://db/shop?user=me&password=abc&sslmode=require")
    'jdbc:postgresql://db/shop?user=me&password=***&sslmode=require'
    >>> without_secrets("mysql+pymysql://me:a/b@c@db/shop")
    'mysql+pymysql://me:***@db/shop'
    >>> without_secrets("amqp://me:a?b@host"), without_secrets("https://host:80/file?user=a@b&sig=abc")
    ('amqp://me:***@host', 'https://host:80/file?user=a@b&sig=***')
    >>> without_secrets("jdbc:oracle:thin:scott/tiger@//db:1521/shop"), without_secrets("https://ghp_1@host/x")
    ('jdbc:oracle:thin:scott/***@//db:1521/shop', 'https://***@host/x')
    >>> without_secrets("GET amqp://me:abc@host failed, Authorization: Basic bWU6YWJj, retrying")
    'GET amqp://me:***@host failed, Authorization: ***, retrying'
    """
    if not text:
        return text
    alone = _URL_ALONE.fullmatch(text) is not None
    text = _hide_values(text, _KEY, _IN_URL if alone else _IN_TEXT, equals_only=alone)
    for pattern in _USERS[0 if alone else 1]:
        text = pattern.sub(rf"\1{HIDDEN}@", text)
    text = _TOKEN_AS_USER.sub(rf"\1{HIDDEN}@", text)
    if alone:
        return text
    text = _hide_values(text, _ARGUMENT, _AFTER_ARGUMENT)
    return _SAID.sub(rf"\1 {HIDDEN}", text)


def _shown_value(value: str) -> str:
    """Return a value without secrets; it may also be a map such as ``name:value,name:value``."""
    return without_secrets(value if "://" in value else _hide_values(value, _PAIR, _IN_PAIRS, colons=True))


def _hide_values(
    text: str, keys: re.Pattern[str], values: re.Pattern[str], *, equals_only: bool = False, colons: bool = False
) -> str:
    """Hide what follows the secret keys in a text. With ``colons``, each colon stands between a key and its value."""
    parts, at = [], 0
    for found in keys.finditer(text):
        if found.start() < at or not is_secret(unquote(found["key"])):
            continue
        marks = found.groupdict()
        colon = ":" in (marks.get("sign") or "")
        if colon and (equals_only or not (colons or marks["quote"] or _SURE.search(found["key"]))):
            continue
        value = values.match(text, found.end())
        if value is None or not value[0] or value[0].startswith(HIDDEN):
            continue
        quote = value[0][0] if value[0][0] in "\"'" and len(value[0]) > 1 else ""
        parts.append(f"{text[at : found.end()]}{quote}{HIDDEN}{quote}")
        at = value.end()
    return "".join([*parts, text[at:]])
