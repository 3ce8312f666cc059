"""What functions of batches declare of themselves: how many rows they take at once, and in how many subtasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.options.tables import BATCH_SIZE, BUNDLE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flintstream.datastream import StreamExecutionEnvironment
    from flintstream.table._plan.batches import Batched


def declarations(functions: Iterable[object], name: str) -> list[int]:
    """Return what functions declare of themselves: how many subtasks run them, or how many rows they take at once."""
    return [found for function in functions if isinstance(found := getattr(function, name, None), int)]


def functions_of(node: Batched) -> list[object]:
    """Return the functions that a step calls."""
    return [part.function.inner for call in node.calls for part in call.calls()]


def limits_of(node: Batched, env: StreamExecutionEnvironment) -> tuple[int, int]:
    """Return how many rows a batch and a bundle may have."""
    own = min((size for size in declarations(functions_of(node), "batch_size")), default=0)
    options = env._configuration
    return own or options.get(BATCH_SIZE), max(own, options.get(BUNDLE_SIZE))
