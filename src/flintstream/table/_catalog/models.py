"""Models as a catalog keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.table._expressions.expr import Column


@dataclass(frozen=True)
class DeclaredModel:
    """What a model takes and returns, and the options of its provider, which is a class of Java."""

    inputs: tuple[Column, ...] = ()
    outputs: tuple[Column, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
