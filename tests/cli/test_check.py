"""``flintstream check`` says, without running a program, what works and what does not."""
# ruff: noqa: S608 - the statements are checked, not sent to a database

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from flintstream.cli import main
from flintstream.cli.checking import names

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_program_that_works_has_no_finding(check):
    code, lines = check(
        """
        from pyflink.common import Types
        from pyflink.datastream import StreamExecutionEnvironment

        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1], Types.INT()).print()
        env.execute()
        """
    )
    assert (code, lines) == (0, ["1 program: 1 without a finding, 0 with notes, 0 with errors"])


def test_the_program_does_not_run(check, tmp_path):
    check(f"import pyflink\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    assert not (tmp_path / "ran").exists()


def test_sql_that_only_works_here_is_noted(check):
    code, lines = check(
        """
        from pyflink.table import EnvironmentSettings, TableEnvironment

        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.execute_sql("CREATE TABLE t (value INT) WITH ('connector' = 'datagen')")
        t_env.execute_sql("SELECT `value` FROM t")
        """
    )
    assert code == 0
    assert "5: note: works here, but not in Flink: Flink reserves the word 'VALUE' at line 1, column 17" in lines[0]
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("from pyflink.datastream.connectors.pulsar import SubscriptionType", "pass a schema of pyflink.common"),
        ("from pyflink.datastream import StreamExecutionEnvironmen", "did you mean 'StreamExecutionEnvironment'?"),
        ("from pyflink.dataset import ExecutionEnvironment", "use pyflink.datastream in BATCH mode"),
        ("import pyflink.ml", "Flink ML is not part of flintstream"),
        ("Types._j_types.x()", "flintstream has no Flink JVM"),
    ],
)
def test_what_cannot_work_is_an_error_with_advice(check, line, finding):
    code, lines = check(f"from pyflink.common import Types\n{line}\n")
    assert code == 1
    assert lines[0].startswith("2: error: ")
    assert finding in lines[0]
    assert lines[-1] == "1 program: 0 without a finding, 0 with notes, 1 with errors"


def test_an_import_that_a_program_can_do_without_is_a_note(check):
    code, lines = check("try:\n    from pyflink.datastream import Gone\nexcept ImportError:\n    Gone = None\n")
    assert code == 0
    assert lines[0].startswith("2: note: 'Gone' is not in pyflink.datastream")


def test_a_missing_package_is_an_error_with_the_command(check, monkeypatch):
    monkeypatch.setattr(names, "find_spec", lambda _: None)
    code, lines = check("from pyflink.datastream.connectors.kafka import KafkaSource\n")
    assert code == 1
    assert "pip install 'flintstream[kafka]'" in lines[0]


WINDOWS = """
from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.kafka import KafkaSource
from pyflink.datastream.window import TumblingEventTimeWindows

class Summed(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield missing(elements)

env = StreamExecutionEnvironment.get_execution_environment()
words = env.from_source(KafkaSource.builder().build(), WatermarkStrategy.%s(), "words")
words.key_by(lambda word: word).window(TumblingEventTimeWindows.of(Time.seconds(5))).process(Summed())
env.execute()
"""


@pytest.mark.parametrize(("watermarks", "kind"), [("no_watermarks", "note"), ("for_monotonous_timestamps", "error")])
def test_an_error_in_windows_that_never_fire_is_a_note(check, watermarks, kind):
    _, lines = check(WINDOWS % watermarks)
    assert lines[0].startswith(f"9: {kind}: the name 'missing' is not defined")


def test_jars_and_values_kept_in_functions_are_notes(check):
    code, lines = check(
        """
        from pyflink.datastream import MapFunction, StreamExecutionEnvironment

        class Count(MapFunction):
            def __init__(self):
                self.n = 0

            def map(self, value):
                self.n += 1
                print(value)
                return self.n

        StreamExecutionEnvironment.get_execution_environment().add_jars("file:///kafka.jar")
        """
    )
    assert code == 0
    assert [line.split(":")[0] for line in lines[:-1]] == ["9", "10", "13"]
    assert "Count.map() keeps 'self.n' between records" in lines[0]
    assert "standard error" in lines[1]
    assert "jars have no effect" in lines[2]


TABLES = """
    from pyflink.table import StreamTableEnvironment; from jobs import column, stream, t_env
    t_env.execute_sql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'datagen')")
"""


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("SELECT a, c FROM t", "Column 'c' not found at line 1, column 11; available: a, b"),
        ("SELECT a FROM tt", "Object 'tt' not found at line 1, column 15; did you mean 't'?"),
        ("SELEC a FROM t", "line 1, column 1"),
        (
            "CREATE CATALOG c WITH ('type' = 'hive')",
            "the catalog c with type 'hive' at line 1, column 16 is not supported yet",
        ),
    ],
)
def test_a_statement_that_cannot_be_planned_is_an_error(check, statement, finding):
    code, lines = check(TABLES + f"    t_env.execute_sql({statement!r})\n")
    assert code == 1
    assert lines[0].startswith("4: error: ")
    assert finding in lines[0]


def test_statements_are_planned_without_files_or_jobs(check, tmp_path):
    code, lines = check(
        TABLES
        + f"""
    WITH = "WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/no', 'format' = 'csv')"
    DDL = "CREATE TABLE files (a INT, x STRING)" + WITH
    t_env.execute_sql(DDL)
    t_env.sql_query("SELECT a, COUNT(*) " + "FROM files GROUP BY a")
    t_env.execute_sql("INSERT INTO files SELECT a, b FROM t")
    """
    )
    assert (code, lines) == (0, ["1 program: 1 without a finding, 0 with notes, 0 with errors"])


def test_a_batch_program_is_planned_as_a_batch(check):
    query = """    t_env.sql_query("SELECT a FROM t ORDER BY a")\n"""
    assert check(TABLES + query)[0] == 1
    assert check(TABLES + "    from pyflink.table import EnvironmentSettings as E; E.in_batch_mode()\n" + query)[0] == 0


def test_what_python_names_and_puts_together_is_a_note(check):
    code, lines = check(
        TABLES
        + """
    t_env.create_temporary_view("v", stream)
    t_env.execute_sql("SELECT x FROM v")
    t_env.execute_sql(f"SELECT {column} FROM t")
    """
    )
    assert code == 0
    assert lines[0].startswith("6: note: Object 'v' not found")
    assert lines[1] == "1 program: 0 without a finding, 1 with notes, 0 with errors; 1 statement not checked"


def test_statements_that_are_not_checked_are_findings_if_asked_for(check):
    program = TABLES + """    t_env.execute_sql(f"SELECT {column} FROM t")\n"""
    assert check(program) == (
        0,
        ["1 program: 1 without a finding, 0 with notes, 0 with errors; 1 statement not checked"],
    )
    code, lines = check(program, "--strict")
    assert code == 3
    assert lines[0] == "4: not checked: execute_sql() with SQL text that the program builds at run time"


def test_values_that_are_not_known_may_stand_in_literals(check):
    table = "CREATE TABLE k (a INT) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'properties.x' = '{x}')"
    assert check(TABLES.replace("column,", "column, topic, x,") + f'    t_env.execute_sql(f"{table}")\n')[0] == 0
    code, lines = check(TABLES + """    t_env.execute_sql(f"SELECT a, '{column}', c FROM t")\n""")
    assert (code, "Column 'c' not found" in lines[0]) == (1, True)


def test_names_have_the_text_of_the_function_that_they_stand_in(check):
    program = """
    from pyflink.table import EnvironmentSettings, TableEnvironment
    def make_source(t_env):
        name = "source"
        t_env.execute_sql(f"CREATE TABLE {name} (a INT) WITH ('connector' = 'datagen')")
        return name
    def make_sink(t_env):
        name = "sink"
        t_env.execute_sql(f"CREATE TABLE {name} (a INT) WITH ('connector' = 'print')")
        return name
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    source, sink = "x", "y"
    source = make_source(t_env)
    one, other = make_source(t_env), make_sink(t_env)
    sink_table, source_table = make_sink(t_env), 3
    target = make_sink(t_env)
    origin = make_source(t_env)
    t_env.execute_sql(f"INSERT INTO {target} SELECT %s FROM {origin}")
    t_env.sql_query(f"SELECT a FROM {origin}").execute_insert(target)
    """
    assert check(program.replace("%s", "a")) == (0, ["1 program: 1 without a finding, 0 with notes, 0 with errors"])
    code, lines = check(program.replace("%s", "b"))
    assert (code, "Column 'b' not found" in lines[0]) == (1, True)


def test_a_query_with_a_name_is_inserted_in_the_check_as_well(check):
    code, lines = check(TABLES + """    q = t_env.sql_query("SELECT a FROM t")\n    q.execute_insert("nowhere")\n""")
    assert (code, "nowhere" in lines[0]) == (1, True)


def test_a_table_that_a_function_below_creates_is_not_missed(check):
    program = (
        TABLES
        + """
    def read(): t_env.execute_sql("SELECT a FROM below")
    def make(): t_env.execute_sql("CREATE TABLE below (a INT) WITH ('connector' = 'datagen')")
    make(); read()
    """
    )
    code, lines = check(program)
    assert (code, ": note: Object 'below' not found" in lines[0]) == (0, True)


STREAM = """
    from pyflink.common import Duration, Time, Types, WatermarkStrategy
    from pyflink.datastream import *
    from pyflink.datastream.state import ValueStateDescriptor
    from pyflink.table import *
    from pyflink.table.udf import udaf
    import sys
    env = StreamExecutionEnvironment.get_execution_environment()
    def build(): return StreamTableEnvironment.create(env)
    t_env = build()
"""


CALLED_STATE = """class F(KeyedProcessFunction):
        def open(self, runtime_context):
            self.s = runtime_context.get_state(ValueStateDescriptor('s', Types.INT()))
        def process_element(self, value, ctx):
            self.s(True)
    F()"""


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("EnvironmentSettings.new_instance().use_blink()", "'Builder' has no attribute 'use_blink'"),
        ("Types.Row()", "'Types' has no attribute 'Row'"),
        ("t_env.from_elements([(1,)]).alias('a, b')", "Table.alias() takes one column per argument"),
        ("env.from_collection([1], Types())", "Types() is not a type"),
        ("env.from_source(None, None, 'x')", "watermark_strategy is None, not a WatermarkStrategy"),
        ("WatermarkStrategy.for_bounded_out_of_orderness(Time.seconds(1))", "is a Time, not a Duration"),
        ("t_env.from_data_stream(a, ['x'])", "columns as arguments, not in a list"),
        ("env.set_parallelism()", "missing a required argument: 'parallelism'"),
        ("env.from_collection([1]).map(lambda x: x).filtre(len)", "has no attribute 'filtre'"),
        ("env.read_text_file('')", "the path is empty"),
        ("udaf(Total())\n    class Total(AggregateFunction): pass", "Total no get_result_type()"),
        ("t_env.create_temporary_view('v', a)\n    t_env.create_temporary_view('v', b)", "exists already"),
        (
            CALLED_STATE,
            "a ValueState cannot be called",
        ),
        ("print(nothing)", "the name 'nothing' is not defined"),
        ("print(later)\n    later = 1", "the name 'later' is not set before line 12"),
        (
            "class F(FlatMapFunction):\n        def flat_map(self, x, out): pass\n    F()",
            "is called with 2: self, value",
        ),
    ],
)
def test_what_raises_an_error_in_each_run_is_an_error(check, line, finding):
    code, lines = check(STREAM.replace("import sys", "import sys; from others import a, b") + f"    {line}\n")
    assert code == 1
    assert any(": error: " in text and finding in text for text in lines), lines


@pytest.mark.parametrize(
    "way",
    [
        "if len(sys.argv) > 1:\n        {}",
        "def unused():\n        {}",
        "try:\n        {}\n    except AttributeError:\n        pass",
        "env.execute('forever')\n    {}",
    ],
)
def test_what_may_not_run_is_a_note(check, way):
    source = "    env.from_source(Types, Types, 'x')\n" if "forever" in way else ""
    code, lines = check(STREAM + source + f"    {way.format('Types.Row()')}\n")
    assert code == 0
    assert "note: 'Types' has no attribute 'Row'; did you mean 'ROW'?" in lines[0]


def test_what_only_the_program_says_of_a_value_may_be_wrong(check):
    code, lines = check(STREAM + "    def job(t: Types):\n        t.get_field_types()\n    job(Types.INT())\n")
    assert (code, ": note: 'Types' has no attribute 'get_field_types'" in lines[0]) == (0, True)


def test_names_have_the_value_that_was_set_last(check):
    assert check(STREAM + "    x = env\n    x = [1]\n    x.append(Types.INT())\n")[0] == 0
    assert check(STREAM + "    x = env\n    if sys.argv:\n        x = sys\n    x.path.append('')\n")[0] == 0


def test_what_is_no_python_is_an_error_and_other_files_are_read(check, tmp_path):
    (tmp_path / "broken.py").write_text("import pyflink\n(\n")
    (tmp_path / "other.py").write_text("import json\n(\n")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "skipped.py").write_text("import pyflink.ml\n")
    (tmp_path / "job.py").write_text("import pyflink\n")
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert done.exit_code == 1
    assert "broken.py: error: Python cannot read it" in done.output
    assert done.output.endswith("2 programs: 1 without a finding, 0 with notes, 1 with errors\n")


def test_a_folder_without_programs_says_so(tmp_path):
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert (done.exit_code, done.output) == (0, "no Python file in these paths imports pyflink\n")


def test_the_examples_are_fine(check):
    for path in (EXAMPLES / "word_count.py", EXAMPLES / "flight_delays.py"):
        code, lines = check(path.read_text().replace("from flintstream", "from pyflink"))
        assert code == 0, lines


@pytest.mark.parametrize(
    ("collection", "declared", "finding"),
    [
        ("[{'name': 'Alice', 'age': 30}]", "Types.ROW([Types.STRING(), Types.INT()])", "element 0, {'name': 'Alice'"),
        ("[(1, 'a'), (2, 3, 4)]", "Types.TUPLE([Types.INT(), Types.STRING()])", "element 1, (2, 3, 4)"),
        ("rows", "kind", "element 0, 'x'"),
        ("[1, '2']", "type_info=Types.LONG()", "element 1, '2'"),
        ("[(1, 'a')]", "Types.ROW_NAMED(['a', 'b'], [Types.INT(), Types.STRING()])", None),
        ("[1, 2.5]", "Types.DOUBLE()", None),
        ("[str(1)]", "Types.INT()", None),
        ("[1, '2']", "unknown()", None),
    ],
)
def test_a_written_collection_that_does_not_fit_its_type_is_an_error(check, collection, declared, finding):
    code, lines = check(
        f"""
        from pyflink.common import Types
        from pyflink.datastream import StreamExecutionEnvironment

        rows = ["x"]
        kind = Types.INT()
        unknown = globals().get("unknown")
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection({collection}, {declared}).print()
        env.execute()
        """
    )
    assert code == (1 if finding else 0)
    assert finding is None or f"error: from_collection(): {finding}" in lines[0]


@pytest.mark.parametrize(("warehouse", "code"), [("lake", 0), ("", 1)])
def test_a_catalog_of_iceberg_without_what_it_needs_is_an_error(check, warehouse, code):
    found, lines = check(
        f"""
        from pyflink.table import EnvironmentSettings, TableEnvironment

        t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        t_env.execute_sql("CREATE CATALOG c WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='{warehouse}')")
        """
    )
    assert found == code
    assert not code or "error: catalog 'c': a catalog of type 'hadoop' needs the option 'warehouse'" in lines[0]


@pytest.mark.parametrize("method", ["apply", "process"])
def test_a_plain_function_for_a_window_is_an_error(check, method):
    code, lines = check(
        f"""
        from pyflink.common import Time
        from pyflink.datastream import StreamExecutionEnvironment
        from pyflink.datastream.window import TumblingProcessingTimeWindows

        env = StreamExecutionEnvironment.get_execution_environment()
        keyed = env.from_collection([1]).key_by(lambda one: one)
        keyed.window(TumblingProcessingTimeWindows.of(Time.seconds(1))).{method}(lambda key, window, values: values)
        """
    )
    assert code == 1
    assert f"error: WindowedStream.{method}() needs a " in lines[0]


def test_what_a_module_of_the_program_imports_is_checked(tmp_path):
    folder = tmp_path / "jobs"
    folder.mkdir()
    (tmp_path / "helpers.py").write_text(
        "from pyflink.datastream.window import WindowOperationDescriptor\n"
        "def later():\n    from pyflink.datastream import NoSuchName\n"
    )
    (folder / "fine.py").write_text("from pyflink.common import Types\n")
    (folder / "job.py").write_text("import pyflink\nfrom helpers import later\nimport fine, json\n")
    result = CliRunner().invoke(main, ["check", str(folder / "job.py")])
    lines = result.output.splitlines()
    assert result.exit_code == 1
    assert "job.py:2: error: helpers.py, line 1: pyflink.datastream.window.WindowOperationDescriptor: it is" in lines[0]
    assert len(lines) == 2
