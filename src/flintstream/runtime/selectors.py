"""Key selectors that just take a field of a record."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from flintstream.common._user_code.formulas import field_taken

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Selector: TypeAlias = Callable[..., object]


class GeneratedSelector:
    """A selector that is compiled in the task: loops call the function, rather than this object, for each record."""

    def code(self) -> Selector:
        """Return the function.

        Raises:
            NotImplementedError: Always; subclasses return one.
        """
        raise NotImplementedError


def function_of(selector: Selector) -> Selector:
    """Return the function that a loop calls to find keys.

    >>> function_of(len) is len
    True
    """
    return selector.code() if isinstance(selector, GeneratedSelector) else selector


def field_of(selector: Any) -> int:
    """Return the number of the field that ``selector`` takes from a tuple, or -1 if it may do something else.

    It tells by the instructions of a function, such as ``lambda record: record[0]``, or of a method ``get_key``, and by
    the item of an ``operator.itemgetter``.

    >>> field_of(lambda record: record[1]), field_of(lambda record: record[1] + 1), field_of(len)
    (1, -1, -1)
    >>> field_of(itemgetter(1)), field_of(itemgetter(1, 2)), field_of(itemgetter("name"))
    (1, -1, -1)
    """
    if type(selector) is itemgetter:
        items = selector.__reduce__()[1]
        return items[0] if len(items) == 1 and type(items[0]) is int and items[0] >= 0 else -1
    field = field_taken(selector, 1)
    return -1 if field is None or field < 0 else field
