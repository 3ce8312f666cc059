"""Whether a function takes rows: one dict, and nothing else that it needs."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Union, get_args, get_origin, is_typeddict

from flintstream.dataframe._functions.annotations import names_of_class

if TYPE_CHECKING:
    from flintstream.dataframe._functions.source import Source

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def check_row_function(source: Source) -> None:
    """Check that a function takes a dict for each row.

    Raises:
        ValueError: It needs other arguments, or its annotation is that of something else.
    """
    parameters = _parameters(source)
    if parameters is None:
        return
    wrong = ValueError(f"'{source.name}' must accept one dict row argument.")
    needed = [item for item in parameters if item.default is item.empty and item.kind not in _variable()]
    positional = [item for item in parameters if item.kind in _POSITIONAL]
    many = any(item.kind is inspect.Parameter.VAR_POSITIONAL for item in parameters)
    if len(needed) > 1 or any(item.kind is inspect.Parameter.KEYWORD_ONLY for item in needed):
        raise wrong
    if not positional:
        if many:
            return
        raise wrong
    hint = source.hints.get(positional[0].name)
    if hint is not None and not _takes_dict(hint):
        raise wrong


def _variable() -> tuple[object, ...]:
    return inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD


def _parameters(source: Source) -> list[inspect.Parameter] | None:
    """Return the parameters that a call gives; None if the function does not tell."""
    plain = getattr(source.target, "__func__", source.target)
    inner = inspect.unwrap(plain)
    try:
        found = list(inspect.signature(inner).parameters.values())
    except (TypeError, ValueError):
        return None
    is_method = inner is plain or bool(names_of_class(inner, source.owner))
    if is_method and source.takes_self:
        found = found[1:]
    return found if isinstance(source.declared, type) else [item for item in found if item.name not in source.bound]


def _takes_dict(hint: object) -> bool:
    if get_origin(hint) is Annotated:
        return _takes_dict(get_args(hint)[0])
    if get_origin(hint) in {Union, types.UnionType}:
        return any(_takes_dict(item) for item in get_args(hint))
    if isinstance(hint, str) or hint is vars(typing)["Any"] or hint is object:
        return True
    made = get_origin(hint) or hint
    return isinstance(made, type) and (is_typeddict(made) or issubclass(dict, made) or issubclass(made, Mapping))
