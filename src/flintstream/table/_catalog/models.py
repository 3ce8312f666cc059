"""Models as a catalog keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.common._types.data_types import DataType


@dataclass(frozen=True)
class ModelColumn:
    """A column that a model takes or returns."""

    name: str
    type: DataType
    comment: str | None = None


@dataclass(frozen=True)
class DeclaredModel:
    """What a model takes and returns, and the options of its provider, which is a class of Java."""

    inputs: tuple[ModelColumn, ...] = ()
    outputs: tuple[ModelColumn, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
