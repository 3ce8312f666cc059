"""``python -m tests.connectors.elasticsearch_servers URL ...``: write to real servers with the sink, and read again.

The servers may run Elasticsearch 6 or later, or OpenSearch. Each document is written twice, as after a
failure, and must exist once. The index is deleted at the end.
"""

from __future__ import annotations

import json
import sys
import uuid
from contextlib import closing
from typing import Any
from urllib.request import Request, urlopen

from flintstream.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
)

DOCUMENTS = 2500


def ask(url: str, path: str, method: str = "GET") -> Any:
    with urlopen(Request(f"{url}/{path}", method=method), timeout=300) as answer:  # noqa: S310 - given by the caller
        return json.load(answer)


def check(url: str) -> str:
    """Return the server's version and the number of documents in the new index."""
    version = next(iter(ask(url, "_nodes")["nodes"].values()))["version"]
    index = f"flintstream-{uuid.uuid4().hex[:8]}"
    builder = Elasticsearch6SinkBuilder() if version.startswith("6.") else Elasticsearch7SinkBuilder()
    sink: Any = builder.set_hosts(url).set_emitter(ElasticsearchEmitter.static_index(index, "id")).build()
    documents = [{"id": number, "text": f"text {number}"} for number in range(DOCUMENTS)]
    for _ in range(2):
        with closing(sink.create_writer(None)) as writer:
            writer.write(documents, None)
            writer.prepare_commit(end_of_input=True)
    ask(url, f"{index}/_refresh", "POST")
    count = ask(url, f"{index}/_count")["count"]
    ask(url, index, "DELETE")
    assert count == DOCUMENTS, f"{version}: {count} documents instead of {DOCUMENTS}"
    return f"{version}: {count} documents, each written twice"


if __name__ == "__main__":
    for item in sys.argv[1:]:
        print(check(item), flush=True)
