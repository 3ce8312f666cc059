"""A query and its sink; mirrors ``pyflink.table.table_pipeline``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._errors import unsupported

if TYPE_CHECKING:
    from typing import NoReturn

    from flintstream.table.table import Table
    from flintstream.table.table_result import TableResult

__all__ = ["TablePipeline"]


class TablePipeline:
    """The rows of a table on their way into another one: what ``insert_into`` returns."""

    def __init__(self, table: Table, path: tuple[str, ...]) -> None:
        """Hold the parts; programs call ``Table.insert_into``."""
        self._table = table
        self._path = path

    def execute(self) -> TableResult:
        """Run a job that writes the rows."""
        return self._table._t_env._inserted([(self._table._node, self._path, ())])  # noqa: SLF001

    def explain(self, *extra_details: object) -> str:
        """Return the plan as text."""
        return self._table.explain(*extra_details)

    def print_explain(self, *extra_details: object) -> None:
        """Print the plan."""
        print(self.explain(*extra_details))  # noqa: T201 - what it is for

    def get_sink_identifier(self) -> str:
        """Return the full name of the sink; PyFlink returns an object that prints like it."""
        return ".".join(f"`{part}`" for part in self._table._t_env._session.catalog.path(self._path))  # noqa: SLF001

    def compile_plan(self) -> NoReturn:
        """Raise an error: plans cannot be stored.

        Raises:
            UnsupportedClauseError: Always.
        """
        raise unsupported("compile_plan()", None, "run the statement with execute()")
