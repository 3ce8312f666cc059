"""``pyflink.testing.source_sink_utils``: the connector ``test-sink``, and what it got."""

from __future__ import annotations

from collections import Counter

from flintstream.table.connectors import CHANGES, Records, SinkConnector, TableSink, register
from flintstream.testing import CollectSink

_sinks: list[CollectSink] = []


class CollectingConnector(SinkConnector):
    """``'connector' = 'test-sink'``: takes all changes, as texts."""

    def sink(self, table):
        table.options.known("is-bounded", "the sink takes all")
        sink = CollectSink()
        _sinks.append(sink)
        return TableSink(sink, Records.TEXTS, CHANGES)


register("test-sink", CollectingConnector)
register("COLLECTION", CollectingConnector)


def results():
    """Return the rows that are left of the changes since the last call, and forget them."""
    left: Counter[str] = Counter()
    for sink in _sinks:
        for text in sink.get_results():
            left[f"+I{text[2:]}"] += 1 if text.startswith("+") else -1
    _sinks.clear()
    if min(left.values(), default=0) < 0:
        raise AssertionError(f"more rows were retracted than inserted: {left}")
    return list(left.elements())


retract_results = results
