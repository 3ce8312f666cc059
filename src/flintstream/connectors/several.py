"""Several records that one message or line holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Several(tuple[object, ...]):
    """Records of a schema that otherwise returns one, or None.

    >>> len(Several([1, 2]))
    2
    """

    __slots__ = ()


def records_of(value: object) -> Sequence[object]:
    """Return the records of what a schema has made of a message.

    >>> records_of("one"), records_of(None), records_of(Several([1, 2])) == (1, 2)
    (('one',), (), True)
    """
    if type(value) is Several:
        return value
    return () if value is None else (value,)
