"""The functions of JSON of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types import data_types as t
from flintstream.table._methods.enums import JsonQueryOnEmptyOrError, JsonQueryWrapper, JsonValueOnEmptyOrError
from flintstream.table._syntax import scalar as s
from flintstream.table._types.rules import text_type

if TYPE_CHECKING:
    from enum import Enum

    from typing_extensions import Self

    from flintstream.common._types.data_types import DataType
    from flintstream.table._methods.enums import JsonExistsOnError, JsonType


def word(text: str) -> s.Value:
    """Return a word as a literal, which is how functions take their clauses."""
    return s.Value(None, text, text_type(text))


class JsonMethods:
    """What an expression can do with a text of JSON."""

    def _apply(self, name: str, *arguments: object) -> Self:
        raise NotImplementedError

    def is_json(self, json_type: JsonType | None = None) -> Self:
        """Return whether the text is JSON, or a kind of it; None is not.

        >>> from flintstream.table.expressions import col
        >>> from flintstream.table.expression import JsonType
        >>> col("j").is_json(JsonType.ARRAY)
        Expression(IS JSON ARRAY(j))
        """
        return self._apply("IS JSON" if json_type is None else f"IS JSON {json_type.name}")

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Self:
        """Return whether a path finds something: ``"lax $.a[*].b"``.

        >>> from flintstream.table.expressions import col
        >>> col("j").json_exists("$.a")
        Expression(JSON_EXISTS(j, '$.a'))
        """
        return self._apply("JSON_EXISTS", path, *([] if on_error is None else [word(on_error.name)]))

    def json_value(
        self,
        path: str,
        returning_type: DataType | None = None,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: object = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: object = None,
    ) -> Self:
        """Return the scalar at a path.

        >>> from flintstream.table.expressions import col
        >>> _ = col("j").json_value("$.a", on_empty=JsonValueOnEmptyOrError.DEFAULT, default_on_empty="none")

        Args:
            path: Where to look; it is strict unless it begins with ``lax``.
            returning_type: STRING, BOOLEAN, INT or DOUBLE; STRING by default.
            on_empty: What to return if nothing is there.
            default_on_empty: The value for ``DEFAULT``.
            on_error: What to return if the text is not JSON, or there is no scalar.
            default_on_error: The value for ``DEFAULT``.
        """
        kind = s.Value(None, None, t.NullType() if returning_type is None else returning_type)
        empty = (word(on_empty.name), default_on_empty)
        return self._apply("JSON_VALUE", path, kind, *empty, word(on_error.name), default_on_error)

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Self:
        """Return the object or array at a path as text.

        >>> from flintstream.table.expressions import col
        >>> _ = col("j").json_query("lax $.a[*]", JsonQueryWrapper.CONDITIONAL_ARRAY)

        Args:
            path: Where to look; it is strict unless it begins with ``lax``.
            wrapping_behavior: When to put the result into an array.
            on_empty: What to return if nothing is there.
            on_error: What to return if the text is not JSON, or there is a scalar.
        """
        words: tuple[Enum, ...] = (wrapping_behavior, on_empty, on_error)
        kind = s.Value(None, None, t.NullType())
        return self._apply("JSON_QUERY", path, kind, *(word(item.name) for item in words))
