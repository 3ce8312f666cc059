"""Schemas as properties, as connectors of earlier releases took them; mirrors ``pyflink.table.descriptors``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NoReturn

from flintstream.table._errors import unsupported
from flintstream.table._types.rules import sql_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flintstream.common._types.data_types import DataType
    from flintstream.table.table_schema import TableSchema

__all__ = ["Rowtime", "Schema"]

_OLDER = {"SQL_TIMESTAMP": "TIMESTAMP(3)", "SQL_TIME": "TIME(0)", "SQL_DATE": "DATE"}


class Descriptor(ABC):
    """Something with properties."""

    @abstractmethod
    def to_properties(self) -> dict[str, str]:
        """Return the properties by key."""


class Rowtime(Descriptor):
    """Where event time comes from, and how its watermarks are made.

    >>> Rowtime().timestamps_from_field("ts").watermarks_periodic_bounded(1000).to_properties()
    {'rowtime.timestamps.type': 'from-field', 'rowtime.timestamps.from': 'ts', \
'rowtime.watermarks.type': 'periodic-bounded', 'rowtime.watermarks.delay': '1000'}
    >>> Rowtime().timestamps_from_source().watermarks_from_source().to_properties()
    {'rowtime.timestamps.type': 'from-source', 'rowtime.watermarks.type': 'from-source'}
    >>> Rowtime().watermarks_periodic_ascending().to_properties()
    {'rowtime.watermarks.type': 'periodic-ascending'}
    """

    def __init__(self) -> None:
        """Begin without properties."""
        self._properties: dict[str, str] = {}

    def _set(self, kind: str, value: str, **more: str) -> Rowtime:
        self._properties[f"rowtime.{kind}.type"] = value
        self._properties.update({f"rowtime.{kind}.{key.strip('_')}": text for key, text in more.items()})
        return self

    def timestamps_from_field(self, field_name: str) -> Rowtime:
        """Take the time from a field."""
        return self._set("timestamps", "from-field", from_=field_name)

    def timestamps_from_source(self) -> Rowtime:
        """Keep the timestamps of the source."""
        return self._set("timestamps", "from-source")

    def timestamps_from_extractor(self, extractor: str) -> NoReturn:
        """Raise an error: the extractor is a class in Java.

        Raises:
            UnsupportedClauseError: Always.

        >>> Rowtime().timestamps_from_extractor("com.shop.Times")
        Traceback (most recent call last):
        flintstream.table._errors.UnsupportedClauseError: the Java class com.shop.Times is not supported yet:
        use timestamps_from_field(). For bounded data, Spark SQL can run the query: env.to_dataframe() and
        env.from_dataframe() are the bridge
        """
        raise unsupported(f"the Java class {extractor}", None, "use timestamps_from_field()")

    def watermarks_periodic_ascending(self) -> Rowtime:
        """Take the highest time that was seen, minus 1 ms, as the watermark."""
        return self._set("watermarks", "periodic-ascending")

    def watermarks_periodic_bounded(self, delay: int) -> Rowtime:
        """Take the highest time that was seen, minus a delay in ms, as the watermark."""
        return self._set("watermarks", "periodic-bounded", delay=str(delay))

    def watermarks_from_source(self) -> Rowtime:
        """Keep the watermarks of the source."""
        return self._set("watermarks", "from-source")

    def watermarks_from_strategy(self, strategy: str) -> NoReturn:
        """Raise an error: the strategy is a class in Java.

        Raises:
            UnsupportedClauseError: Always.

        >>> Rowtime().watermarks_from_strategy("com.shop.Marks")
        Traceback (most recent call last):
        flintstream.table._errors.UnsupportedClauseError: the Java class com.shop.Marks is not supported yet:
        use watermarks_periodic_bounded(). For bounded data, Spark SQL can run the query: env.to_dataframe() and
        env.from_dataframe() are the bridge
        """
        raise unsupported(f"the Java class {strategy}", None, "use watermarks_periodic_bounded()")

    def to_properties(self) -> dict[str, str]:
        """Return the properties by key."""
        return dict(self._properties)


class Schema(Descriptor):
    """The columns of a table.

    >>> from flintstream.table import DataTypes, TableSchema
    >>> Schema().field("n", DataTypes.INT()).from_origin_field("number").to_properties()
    {'schema.0.name': 'n', 'schema.0.data-type': 'INT', 'schema.0.from': 'number'}
    >>> Schema().fields({"t": DataTypes.TIMESTAMP(3)}).proctime().to_properties()
    {'schema.0.name': 't', 'schema.0.data-type': 'TIMESTAMP(3)', 'schema.0.proctime': 'true'}
    >>> Schema().field("t", "BIGINT").rowtime(Rowtime().timestamps_from_source()).to_properties()
    {'schema.0.name': 't', 'schema.0.data-type': 'BIGINT', 'schema.0.rowtime.timestamps.type': 'from-source'}
    >>> Schema().schema(TableSchema(["a"], [DataTypes.STRING()])).to_properties()
    {'schema.0.name': 'a', 'schema.0.data-type': 'VARCHAR(2147483647)'}
    """

    def __init__(
        self,
        schema: TableSchema | None = None,
        fields: Mapping[str, DataType | str] | None = None,
        rowtime: Rowtime | None = None,
    ) -> None:
        """Begin with a schema, fields or event time, if given."""
        self._properties: dict[str, str] = {}
        self._count = 0
        if schema is not None:
            self.schema(schema)
        if fields is not None:
            self.fields(fields)
        if rowtime is not None:
            self.rowtime(rowtime)

    def schema(self, table_schema: TableSchema) -> Schema:
        """Add the columns of a schema."""
        names, types = table_schema.get_field_names(), table_schema.get_field_data_types()
        return self.fields(dict(zip(names, types, strict=True)))

    def fields(self, fields: Mapping[str, DataType | str]) -> Schema:
        """Add columns by name."""
        for name, data_type in fields.items():
            self.field(name, data_type)
        return self

    def field(self, field_name: str, field_type: DataType | str) -> Schema:
        """Add a column."""
        if isinstance(field_type, str):
            text = _OLDER.get(field_type, field_type)
        else:
            text = sql_name(field_type).replace("STRING", "VARCHAR(2147483647)")
        self._count += 1
        return self._set("name", field_name)._set("data-type", text)

    def from_origin_field(self, origin_field_name: str) -> Schema:
        """Name the field of the connector that the last column comes from."""
        return self._set("from", origin_field_name)

    def proctime(self) -> Schema:
        """Make the last column processing time."""
        return self._set("proctime", "true")

    def rowtime(self, rowtime: Rowtime) -> Schema:
        """Make the last column event time."""
        for key, text in rowtime.to_properties().items():
            self._set(key, text)
        return self

    def _set(self, key: str, text: str) -> Schema:
        if not self._count:
            raise ValueError("a schema needs a column first: call field()")
        self._properties[f"schema.{self._count - 1}.{key}"] = text
        return self

    def to_properties(self) -> dict[str, str]:
        """Return the properties by key."""
        return dict(self._properties)
