"""The sinks in docs/how-to/sources-and-sinks.md behave as described."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from flintstream.common import Types
from flintstream.datastream import StreamExecutionEnvironment

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "sources-and-sinks.md"


def definitions(name):
    (code,) = [
        code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if f"class {name}(" in code
    ]
    found = {"__name__": "documentation"}
    exec(code, found)  # noqa: S102 - our own
    return code, found


@pytest.fixture
def env():
    settings = {"flintstream.engine": "inline", "execution.checkpointing.interval": "10 ms"}
    return StreamExecutionEnvironment.get_execution_environment(settings).set_parallelism(2)


def test_the_sink_with_transactions_writes_each_row_once_and_is_short(env, tmp_path):
    code, found = definitions("SqliteSink")
    assert len(code.strip().splitlines()) <= 50
    words = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    words_stream = env.from_collection(words, Types.TUPLE([Types.STRING(), Types.INT()]))
    words_stream.rebalance().sink_to(found["SqliteSink"](str(tmp_path / "words.db")))
    env.execute()
    connection = sqlite3.connect(tmp_path / "words.db")
    assert sorted(connection.execute("SELECT word, n FROM rows")) == words
    connection.close()
    committer = found["SqliteSink"](str(tmp_path / "words.db")).create_committer()
    committer.commit([("x-1", words)])
    committer.commit([("x-1", words)])
    assert committer.connection.execute("SELECT count(*) FROM rows").fetchone() == (8,)
    committer.close()


def test_the_sink_for_records_one_by_one_sends_batches(monkeypatch):
    _, found = definitions("Post")
    sent = []
    monkeypatch.setattr("urllib.request.urlopen", lambda url, data: sent.append((url, data)))
    # Without checkpoints, which would end a batch
    env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"}).set_parallelism(1)
    env.from_collection([1, 2, 3]).add_sink(found["Post"]("http://localhost/in"))
    env.execute()
    assert sent == [("http://localhost/in", b"[1, 2, 3]")]
