"""Bounded inputs that are read in splits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from flintstream.common._generic import Generic, T_co

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flintstream.common.typeinfo import TypeInformation

__all__ = ["InputFormat"]


class InputFormat(ABC, Generic[T_co]):
    """An input for ``StreamExecutionEnvironment.create_input``.

    In PyFlink it wraps a Java object; here, users can implement it.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> class Squares(InputFormat):
    ...     def create_splits(self, min_num_splits):
    ...         return [range(0, 3), range(3, 5)]
    ...
    ...     def read(self, split):
    ...         yield from (n * n for n in split)
    ...
    ...     def get_produced_type(self):
    ...         return Types.LONG()
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> sorted(env.create_input(Squares()).execute_and_collect(limit=9))
    [0, 1, 4, 9, 16]
    """

    @abstractmethod
    def create_splits(self, min_num_splits: int) -> Sequence[Any]:
        """Return picklable splits that can be read independently, ``min_num_splits`` or more if possible."""

    @abstractmethod
    def read(self, split: Any) -> Iterator[T_co]:
        """Yield the records of a split."""

    def get_produced_type(self) -> TypeInformation[T_co] | None:
        """Return the type of the records; None for any Python object."""
        return None
