"""Names for side outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._generic import Generic, T
from flintstream.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from flintstream.common.typeinfo import TypeInformation

__all__ = ["OutputTag"]


class OutputTag(Generic[T]):
    """The name of a side output of records of type ``T``.

    A function emits ``(tag, value)``; ``DataStream.get_side_output(tag)`` reads it.

    Tags with the same id refer to the same side output.

    >>> from flintstream.common import Types
    >>> from flintstream.datastream import ProcessFunction, StreamExecutionEnvironment
    >>> bad = OutputTag("bad", Types.STRING())
    >>> class Parse(ProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         if value.isdigit():
    ...             yield int(value)
    ...         else:
    ...             yield bad, value
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> parsed = env.from_collection(["1", "two", "3"]).process(Parse())
    >>> list(parsed.get_side_output(bad).execute_and_collect(limit=9))
    ['two']

    Raises:
        ValueError: The id is empty or not a string.
    """

    def __init__(self, tag_id: str, type_info: TypeInformation[T] | list[TypeInformation] | None = None) -> None:
        if not isinstance(tag_id, str) or not tag_id:
            raise ValueError(f"OutputTag tag_id must be a non-empty string, but got {tag_id!r}")
        self.tag_id = tag_id
        if isinstance(type_info, list):
            self.type_info: TypeInformation | None = RowTypeInfo(type_info)
        else:
            self.type_info = type_info

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r})"


OutputTag.__module__ = "flintstream.datastream.output_tag"
