"""Results of statements that run no job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flintstream.common._types import data_types as t
from flintstream.table._expressions.expr import Column

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Answer:
    """What a statement tells: rows of texts and numbers."""

    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


DONE = Answer((Column("result", t.DataTypes.STRING()),), (("OK",),))
"""The result of a statement that returns nothing."""


def texts(head: str, names: Iterable[str]) -> Answer:
    """Return one column of texts.

    >>> texts("table name", ["orders"]).rows
    (('orders',),)
    """
    return Answer((Column(head, t.DataTypes.STRING()),), tuple((name,) for name in names))
