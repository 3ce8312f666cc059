"""Paths within a store, and names for incomplete files."""

from __future__ import annotations

import hashlib
import uuid

__all__ = ["check_path", "hashed_name", "is_partial", "partial_name"]


def check_path(path: str) -> str:
    """Return a path without trailing slashes.

    Raises:
        ValueError: The path could lead out of the store.

    >>> check_path("a/../../b")
    Traceback (most recent call last):
    ValueError: 'a/../../b' is not a path within a store
    """
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        raise ValueError(f"{path!r} is not a path within a store")
    return path.rstrip("/")


def hashed_name(text: str) -> str:
    """Return a file name for a text that may be anything: the same name for the same text.

    >>> hashed_name("../../etc/passwd")
    '3754d6cb3a38e1185e5b382d5f3ef3f1'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def partial_name(name: str) -> str:
    """Return a new hidden name for a file that will get ``name`` when it is complete."""
    return f".{name}.{uuid.uuid4().hex}.part"


def is_partial(path: str) -> bool:
    """Tell whether a file name comes from :func:`partial_name`.

    >>> is_partial("a/" + partial_name("f")), is_partial("a/.f"), is_partial("f.part")
    (True, False, False)
    """
    name = path.rpartition("/")[2]
    return name.startswith(".") and name.endswith(".part")
