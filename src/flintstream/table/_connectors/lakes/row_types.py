"""The columns of a table as one type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._types.data_types import RowField, RowType

if TYPE_CHECKING:
    from flintstream.table._connectors.contract import ConnectorTable


def row_type_of(table: ConnectorTable) -> RowType:
    """Return the type of the rows of a table."""
    return RowType([RowField(column.name, column.type) for column in table.columns])
