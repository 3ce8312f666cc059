"""Bounded inputs that are read part by part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, T_co

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common.typeinfo import TypeInformation

__all__ = ["InputFormat"]


class InputFormat(ABC, Generic[T_co]):
    """What ``StreamExecutionEnvironment.create_input`` reads.

    In PyFlink it wraps a Java object; here a user may write one.
    """

    @abstractmethod
    def create_splits(self, min_num_splits: int) -> Sequence[Any]:
        """Return parts that can be read independently (picklable), ``min_num_splits`` or more if that makes sense."""

    @abstractmethod
    def read(self, split: Any) -> Iterator[T_co]:
        """Return the records of a part."""

    def get_produced_type(self) -> TypeInformation[T_co] | None:
        """Return the type of the records; None for any Python object."""
        return None
