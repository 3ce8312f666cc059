"""Several records that one message or line holds."""

from __future__ import annotations


class Several(tuple[object, ...]):
    """Records of a schema that otherwise returns one, or None.

    >>> len(Several([1, 2]))
    2
    """

    __slots__ = ()
