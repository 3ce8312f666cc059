"""Passwords and tokens, hidden in everything that people read: errors, logs and the text of objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HIDDEN", "SECRET_KEYS", "is_secret", "shown", "shown_path", "without_secrets"]

HIDDEN = "***"

SECRET_KEYS = (
    r"(?i)password|passwd|passphrase|secret|token|api[._-]?key|(?:account|access|private|encryption)[._-]?key"  # noqa: S105
    r"|keystore\.key$|ssl\.key\.pem|auth-params|service-key|basic-auth|jaas\.config|http-headers|connection[._-]?string"
    r"|credential(?!s\.provider)"
)
"""A pattern, also for Java, that occurs in the keys of settings that are secrets."""

_SECRET_KEY = re.compile(SECRET_KEYS)
_SECRET_PARAMETER = re.compile(
    r"(?i)((?:password|passwd|pwd|secret|token|signature|\bsig|(?:api|account|access)[_-]?key)[^=&;?]*=)[^&;]*"
)
_SECRET_USER = re.compile(r"(//[^:/?]*:)(?:[^?]*|[^/@]*)@")


def is_secret(key: str) -> bool:
    """Return whether the value of a setting with this key must not be shown.

    >>> is_secret("spark.hadoop.fs.s3a.secret.key"), is_secret("fs.s3a.aws.credentials.provider"), is_secret("user")
    (True, False, False)
    """
    return _SECRET_KEY.search(key) is not None


def shown(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with the values of secret ones hidden, and the passwords within URLs.

    >>> shown({"sasl.password": "abc", "url": "amqp://me:abc@host", "user": "me"})
    {'sasl.password': '***', 'url': 'amqp://me:***@host', 'user': 'me'}
    """
    return {key: HIDDEN if is_secret(key) else without_secrets(value) for key, value in settings.items()}


def shown_path(path: str) -> str:
    """Return a path or URI as errors show it: without the access token of a signed URL.

    >>> shown_path("https://host/in?v=1&sig=abc"), shown_path("/in/token=abc/file")
    ('https://host/in?v=1&sig=***', '/in/token=abc/file')
    """
    return without_secrets(path) if "?" in path else path


def without_secrets(url: str) -> str:
    """Return a URL with its passwords hidden.

    >>> without_secrets("jdbc:postgresql://db/shop?user=me&password=abc&sslmode=require")
    'jdbc:postgresql://db/shop?user=me&password=***&sslmode=require'
    >>> without_secrets("mysql+pymysql://me:a/b@c@db/shop")
    'mysql+pymysql://me:***@db/shop'
    >>> without_secrets("amqp://me:a?b@host"), without_secrets("https://host:80/file?user=a@b&sig=abc")
    ('amqp://me:***@host', 'https://host:80/file?user=a@b&sig=***')
    """
    return _SECRET_USER.sub(rf"\1{HIDDEN}@", _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", url))
