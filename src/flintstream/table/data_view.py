"""Collections within the state of aggregate functions; mirrors ``pyflink.table.data_view``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["DataView", "ListView", "MapView"]


class DataView:
    """Base of collections in an accumulator.

    >>> from flintstream.table.data_view import ListView
    >>> view = ListView()
    >>> view.add(17)
    >>> view.clear()
    >>> isinstance(view, DataView), list(view.get())
    (True, [])
    """

    def clear(self) -> None:
        """Remove everything."""
        raise NotImplementedError


class ListView(DataView):
    """A list.

    >>> view = ListView()
    >>> view.add(1)
    >>> list(view)
    [1]

    >>> view = ListView()
    >>> view.add("to")
    >>> view.add_all(["be", "or"])
    >>> list(view.get())
    ['to', 'be', 'or']
    >>> view.clear()
    >>> list(view.get())
    []
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._list: list[Any] = []

    def get(self) -> Iterable[Any]:
        """Return the values."""
        return self._list

    def add(self, value: object) -> None:
        """Add a value."""
        self._list.append(value)

    def add_all(self, values: Iterable[Any]) -> None:
        """Add several values."""
        self._list.extend(values)

    def clear(self) -> None:
        """Remove all values."""
        self._list.clear()

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values."""
        return iter(self._list)

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a list of equal values."""
        return isinstance(other, ListView) and self._list == other._list

    __hash__ = None  # type: ignore[assignment]  # it changes


class MapView(DataView):
    """A map.

    >>> view = MapView()
    >>> view["a"] = 1
    >>> "a" in view, view.get("a")
    (True, 1)

    >>> view = MapView()
    >>> view.put("to", 1)
    >>> view.put_all({"be": 2, "or": 1})
    >>> view.get("be"), view.contains("or"), view.is_empty()
    (2, True, False)
    >>> view.remove("or")
    >>> sorted(view.keys()), sorted(view.values()), sorted(view.items())
    (['be', 'to'], [1, 2], [('be', 2), ('to', 1)])
    """

    def __init__(self) -> None:
        """Make an empty map."""
        self._map: dict[Any, Any] = {}

    def get(self, key: object) -> Any:
        """Return the value of a key; None if there is none."""
        return self._map.get(key)

    def put(self, key: object, value: object) -> None:
        """Set the value of a key."""
        self._map[key] = value

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        """Set the values of several keys."""
        self._map.update(dict_value)

    def remove(self, key: object) -> None:
        """Remove a key, if it is there."""
        self._map.pop(key, None)

    def contains(self, key: object) -> bool:
        """Return whether there is a key."""
        return key in self._map

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return keys and values."""
        return self._map.items()

    def keys(self) -> Iterable[Any]:
        """Return the keys."""
        return self._map.keys()

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return self._map.values()

    def is_empty(self) -> bool:
        """Return whether there is no key."""
        return not self._map

    def clear(self) -> None:
        """Remove all keys."""
        self._map.clear()

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a map of equal keys and values."""
        return isinstance(other, MapView) and self._map == other._map

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __getitem__(self, key: object) -> Any:
        """Return the value of a key."""
        return self._map.get(key)

    def __setitem__(self, key: object, value: object) -> None:
        """Set the value of a key."""
        self._map[key] = value

    def __delitem__(self, key: object) -> None:
        """Remove a key."""
        self.remove(key)

    def __contains__(self, key: object) -> bool:
        """Return whether there is a key."""
        return key in self._map

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys."""
        return iter(self._map)
