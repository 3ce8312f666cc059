"""Plans of queries that are made again when settings of the session have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.table._deep_stack import deep

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.table._logical.nodes import Node


class PlannedQuery:
    """A query with its plan: Flink reads time zones and other settings when a query is planned to run.

    >>> settings = {"zone": "UTC"}
    >>> query = PlannedQuery(settings.copy, lambda: settings["zone"])
    >>> settings["zone"] = "Asia/Tokyo"
    >>> query.node()
    'Asia/Tokyo'
    """

    def __init__(self, settings: Callable[[], object], plan: Callable[[], Node]) -> None:
        """Plan the query; ``settings`` returns what the plan depends on."""
        self._read_settings, self._plan = settings, plan
        self._settings, self._node = settings(), plan()

    def node(self) -> Node:
        """Return the plan for the settings of now."""
        settings = self._read_settings()
        if settings != self._settings:
            self._settings, self._node = settings, deep(self._plan)()
        return self._node
