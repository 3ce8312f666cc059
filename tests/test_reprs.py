"""What programs and notebooks print of streams, tables, environments and results."""

from __future__ import annotations

from flintstream.common import Types
from flintstream.datastream import StreamExecutionEnvironment
from flintstream.table import StreamTableEnvironment


def environment():
    return StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})


def test_a_stream_shows_its_type_its_name_and_what_it_reads():
    words = environment().from_collection(["to be"], Types.STRING()).name("words")
    assert repr(words) == "DataStream[String] 'words'"
    assert repr(words.map(len)) == "DataStream 'Map' <- 'words'"
    assert repr(words.key_by(len)).startswith("KeyedStream")
    assert repr(words.union(words.map(str).name("texts"))).endswith(" <- 'words', 'texts'")


def test_tables_environments_and_results_show_columns_and_mode():
    t_env = StreamTableEnvironment.create(environment())
    table = t_env.from_elements([("to", 1)], ["word", "n"])
    assert repr(table) == "Table[word STRING, n BIGINT]"
    assert repr(table.execute()) == "TableResult[word STRING, n BIGINT]"
    assert repr(environment()) == "StreamExecutionEnvironment(inline, STREAMING, 0 steps)"
    assert repr(t_env) == "StreamTableEnvironment(STREAMING, default_catalog.default_database)"


def test_the_client_of_a_job_shows_its_id_and_status():
    env = environment()
    env.from_collection([1]).print()
    client = env.execute_async("numbers")
    client.get_job_execution_result().result()
    assert repr(client) == f"JobClient({client.get_job_id()}, FINISHED)"
