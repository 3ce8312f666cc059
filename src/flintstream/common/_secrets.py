"""Passwords and tokens, hidden in everything that people read: errors, logs and the text of objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HIDDEN", "is_secret", "shown", "without_secrets"]

HIDDEN = "***"

_SECRET_KEY = re.compile(
    r"(?i)password|passwd|secret|token|api-?key|account\.key|access\.key|auth-params|service-key|basic-auth|jaas\.config"
    r"|http-headers|credential(?!s\.provider)"
)
_SECRET_PARAMETER = re.compile(r"(?i)((?:password|passwd|pwd|secret|token)[^=&;?]*=)[^&;]*")
_SECRET_USER = re.compile(r"(//[^:/?]*:)[^?]*@")


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


def without_secrets(url: str) -> str:
    """Return a URL with its passwords hidden.

    >>> without_secrets("jdbc:postgresql://db/shop?user=me&password=abc&sslmode=require")
    'jdbc:postgresql://db/shop?user=me&password=***&sslmode=require'
    >>> without_secrets("mysql+pymysql://me:a/b@c@db/shop")
    'mysql+pymysql://me:***@db/shop'
    """
    return _SECRET_USER.sub(rf"\1{HIDDEN}@", _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", url))
