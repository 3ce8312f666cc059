"""Common parts of connectors and formats.

PyFlink's module also converts between Python and Java objects; there are no Java objects here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation

__all__ = ["ResultTypeQueryable"]


class ResultTypeQueryable(ABC):
    """The interface of formats and schemas that know the type of the records they produce.

    >>> from flintstream.common import Types
    >>> class Numbers(ResultTypeQueryable):
    ...     def get_produced_type(self):
    ...         return Types.LONG()
    >>> Numbers().get_produced_type()
    Long
    """

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """Return the type of the records."""
