"""Rows: records with a fixed number of fields, optional field names, and a kind of change."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from flintstream.errors import UnsupportedByDesignError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Row", "RowKind"]


class RowKind(Enum):
    """The kind of change to a table that a row describes. In a plain stream, every row is an ``INSERT``.

    >>> [str(kind) for kind in RowKind]
    ['+I', '-U', '+U', '-D']
    >>> RowKind.INSERT.to_j_row_kind()
    Traceback (most recent call last):
    flintstream.errors.UnsupportedByDesignError: INSERT has no Java counterpart: rows are pure Python in
    flintstream
    """

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _KIND_TEXT[self]

    def to_j_row_kind(self) -> Any:
        """Raise an error: row kinds have no JVM object.

        Raises:
            UnsupportedByDesignError: Always.
        """
        raise UnsupportedByDesignError(f"{self.name} has no Java counterpart: rows are pure Python in flintstream")


_INSERT = RowKind.INSERT

_KIND_TEXT = {
    RowKind.INSERT: "+I",
    RowKind.UPDATE_BEFORE: "-U",
    RowKind.UPDATE_AFTER: "+U",
    RowKind.DELETE: "-D",
}


class Row:
    """A record with a fixed number of fields, created from positional or named values.

    >>> row = Row(name="Alice", age=11)
    >>> row.name, row["age"], row[0]
    ('Alice', 11, 'Alice')
    >>> "name" in row
    True
    >>> row
    Row(name='Alice', age=11)

    Without names, ``in`` searches the values:

    >>> 11 in Row("Alice", 11)
    True

    A row of strings creates rows with these field names:

    >>> Person = Row("name", "age")
    >>> Person("Bob", 5).age
    5

    A row never equals a tuple. Rows with the same names in a different order are equal (and have the same hash, unlike
    in PyFlink). Set fields by index or name (``row["age"] = 12``), not as attributes.

    The kind of change, and names given later:

    >>> row.set_row_kind(RowKind.UPDATE_AFTER)
    >>> row.get_row_kind().name
    'UPDATE_AFTER'
    >>> pair = Row("Carol", 7)
    >>> pair.set_field_names(["name", "age"])
    >>> pair.get_fields_by_names(["age"])
    [7]
    """

    __slots__ = ("_field_names", "_row_kind", "_values")  # so that assigning to a field's name is an error

    _field_names: tuple[str, ...] | None
    _row_kind: RowKind
    _values: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            if args:
                raise ValueError("a Row takes either positional or named values, not both")
            self._field_names = tuple(kwargs)
            self._values = list(kwargs.values())
        else:
            self._field_names = None
            self._values = list(args)
        self._row_kind = _INSERT

    @property
    def _fields(self) -> tuple[str, ...]:
        """The names, by which libraries recognize a named tuple. As in PyFlink, a row without names lacks them."""
        if self._field_names is None:
            raise AttributeError("_fields")
        return self._field_names

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Return a row of the given kind.

        >>> Row.of_kind(RowKind.DELETE, 1).get_row_kind()
        <RowKind.DELETE: 3>
        """
        row = Row(*args, **kwargs)
        row._row_kind = row_kind
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """Return the fields by name; ``recursive`` also converts nested rows, including those in lists and dicts.

        Raises:
            TypeError: The row has no field names.

        >>> Row(a=1, b=Row(c=2)).as_dict(recursive=True)
        {'a': 1, 'b': {'c': 2}}
        """
        if self._field_names is None:
            raise TypeError(f"{self!r} has no field names, so it cannot become a dict: call set_field_names first")
        values = [_plain(value) for value in self._values] if recursive else self._values
        return dict(zip(self._field_names, values, strict=False))

    def get_row_kind(self) -> RowKind:
        """Return the kind of change."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Set the kind of change."""
        self._row_kind = row_kind

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Name the fields, in order."""
        self._field_names = tuple(field_names)

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """Return the values of the named fields; all values if the row has no names.

        Raises:
            ValueError: A field does not exist.
        """
        fields = self._field_names
        if fields is None or tuple(names) == fields:
            return self._values
        missing = [name for name in names if name not in fields]
        if missing:
            raise ValueError(f"no fields {missing} in a row of {list(fields)}")
        return [self._values[fields.index(name)] for name in names]

    def __call__(self, *args: Any) -> Row:
        """Return a row whose field names are the values of this row."""
        if len(args) > len(self._values):
            raise ValueError(f"{self!r} names {len(self._values)} fields, but got {len(args)} values: {args!r}")
        return _make_row(tuple(self._values), list(args), self._row_kind)

    def __contains__(self, item: object) -> bool:
        return item in (self._values if self._field_names is None else self._field_names)

    def _index(self, name: str) -> int:
        if self._field_names is None:
            raise KeyError(f"{name!r}: {self!r} has no field names")
        try:
            return self._field_names.index(name)
        except ValueError:
            raise ValueError(f"no field {name!r} in a row of {list(self._field_names)}") from None

    def __getitem__(self, item: int | str | slice) -> Any:
        if isinstance(item, (int, slice)):
            return self._values[item]
        return self._values[self._index(item)]

    def __setitem__(self, key: int | str | slice, value: Any) -> None:
        if isinstance(key, (int, slice)):
            self._values[key] = value
        else:
            self._values[self._index(key)] = value

    def __getattr__(self, name: str) -> Any:
        # Only called if there is no real attribute of that name.
        if not name.startswith("_") and self._field_names is not None and name in self._field_names:
            index = self._field_names.index(name)
            if index < len(self._values):
                return self._values[index]
        raise AttributeError(f"no field {name!r}" if name.startswith("_") else f"no field {name!r} in {self!r}")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        mine, theirs = self._field_names, other._field_names
        if self._row_kind is not other._row_kind:
            return False
        if mine == theirs:
            return self._values == other._values
        if mine is None or theirs is None or sorted(mine) != sorted(theirs):
            return False
        return self._by_name() == other._by_name()

    def _by_name(self) -> list[Any]:
        fields = self._field_names or ()
        return [value for _, value in sorted(zip(fields, self._values, strict=False), key=lambda pair: pair[0])]

    def __hash__(self) -> int:
        return hash(tuple(self._values if self._field_names is None else self._by_name()))

    def __repr__(self) -> str:
        if self._field_names is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        pairs = zip(self._field_names, self._values, strict=False)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._row_kind is _INSERT:  # the usual kind: pickling an enum would cost most
            return _make_row, (self._field_names, self._values)
        return _make_row, (self._field_names, self._values, self._row_kind)

    def __copy__(self) -> Row:
        return _make_row(self._field_names, list(self._values), self._row_kind)


_new = object.__new__


def _make_row(fields: tuple[str, ...] | None, values: list[Any], kind: RowKind = _INSERT) -> Row:
    """Return a row that shares ``values`` (no copy), for hot paths and unpickling."""
    row = _new(Row)
    row._field_names = fields
    row._values = values
    row._row_kind = kind
    return row


def _create_row(fields: Iterable[str] | None, values: Iterable[Any], row_kind: RowKind | None = None) -> Row:
    """Return a row. Rows pickled by PyFlink refer to this function."""
    kind = _INSERT if row_kind is None else row_kind
    return _make_row(None if fields is None else tuple(fields), list(values), kind)


def _make_rows(fields: tuple[str, ...] | None, lists: list[list[Any]]) -> list[Row]:
    """Return a row for each list of values, like :func:`_make_row` but without a call for each."""
    new, cls, kind = _new, Row, _INSERT
    rows = []
    for values in lists:
        row = new(cls)
        row._field_names = fields
        row._values = values
        row._row_kind = kind
        rows.append(row)
    return rows


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(recursive=True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
