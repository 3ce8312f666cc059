"""Collections within the state of aggregate functions; mirrors ``pyflink.table.data_view``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_K = TypeVar("_K")
_V = TypeVar("_V")

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


class KeyIterator(Generic[_K]):
    """The keys of a map, which may change during the iteration."""

    def __init__(self, entries: dict[_K, _V]) -> None:
        """Take the entries."""
        self._entries = entries
        self._keys = iter(list(entries))
        self._last: list[_K] = []

    def __iter__(self) -> KeyIterator[_K]:
        """Begin with the first key."""
        self._keys = iter(list(self._entries))
        return self

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        """Return whether there is a key."""
        return key in self._entries

    def __next__(self) -> _K:
        """Return the next key."""
        self._last = [next(self._keys)]
        return self._last[0]

    def remove(self) -> None:
        """Remove the last key.

        Raises:
            ValueError: There is none, or it has been removed.
        """
        if not self._last:
            raise ValueError("remove() needs a key that the iterator has returned and that is still there")
        self._entries.pop(self._last.pop(), None)


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

    def keys(self) -> KeyIterator[Any]:
        """Return an iterator of the keys, whose ``remove()`` removes the last one.

        >>> view = MapView()
        >>> view.put_all({"a": 1, "b": 2})
        >>> keys = view.keys()
        >>> next(keys), keys.remove(), list(view.items())
        ('a', None, [('b', 2)])
        """
        return KeyIterator(self._map)

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
