"""Paths and URIs that are given on the command line."""

from __future__ import annotations

import click

from flintstream.errors import PlanError
from flintstream.storage.location import Location

__all__ = ["absolute"]


def absolute(path: str) -> str:
    """Return an absolute path, because the job may run in another directory, or a URI in its usual form.

    Raises:
        click.BadParameter: It is neither.

    >>> absolute("s3://bucket/savepoints/"), absolute("file:/tmp/x")
    ('s3://bucket/savepoints', '/tmp/x')
    """
    try:
        return str(Location.parse(path))
    except PlanError as error:
        raise click.BadParameter(str(error)) from None
