"""``pyflink.testing.test_case_utils``: the base classes of PyFlink's own tests, with environments of flintstream."""

# ruff: noqa: N802 - names of Java

from __future__ import annotations

import os
import re
import shutil
import tempfile
import unittest
from unittest import mock

from flintstream import dataframe
from flintstream.common import RowKind
from flintstream.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from flintstream.datastream._environment.job import client_of
from flintstream.table import StreamTableEnvironment
from flintstream.table._session import session

MODE = "_python_worker_execution_mode"
"""A variable that some tests take away themselves."""


class PyFlinkTestCase(unittest.TestCase):
    """A test with a folder."""

    tempdir = ""

    @classmethod
    def setUpClass(cls):
        cls.tempdir = tempfile.mkdtemp()
        os.environ[MODE] = "process"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tempdir, ignore_errors=True)
        os.environ.pop(MODE, None)

    @classmethod
    def assert_equals(cls, actual, expected):
        assert sorted(actual) == sorted(expected)


def _environment(mode):
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    env.set_runtime_mode(mode)
    return env


def _table_environment(env):
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("python.fn-execution.bundle.size", "1")
    return t_env


class PyFlinkITTestCase(PyFlinkTestCase):
    """Tests that share an environment."""

    mode = RuntimeExecutionMode.STREAMING
    env = t_env = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.env = _environment(cls.mode)


class PyFlinkUTTestCase(PyFlinkTestCase):
    """Tests with an environment each."""

    def setUp(self):
        self.env = _environment(RuntimeExecutionMode.STREAMING)
        self.t_env = _table_environment(self.env)


class PyFlinkStreamingTestCase(PyFlinkITTestCase):
    """Tests in STREAMING mode."""


class PyFlinkBatchTestCase(PyFlinkITTestCase):
    """Tests in BATCH mode."""

    mode = RuntimeExecutionMode.BATCH


class PyFlinkStreamTableTestCase(PyFlinkITTestCase):
    """Tests of tables in STREAMING mode."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.t_env = _table_environment(cls.env)


class PyFlinkBatchTableTestCase(PyFlinkStreamTableTestCase):
    """Tests of tables in BATCH mode."""

    mode = RuntimeExecutionMode.BATCH


class Jobs:
    """The jobs that tables have started, as tests ask a cluster for them."""

    def __init__(self):
        self.clients = []

    def start(self, job):
        """Make the client of a job, and remember it."""
        self.clients.append(client_of(job))
        return self.clients[-1]

    def getMiniCluster(self):
        return self

    def listJobs(self):
        return self

    def get(self):
        return list(map(Job, self.clients))


class Job:
    """A job in that list."""

    def __init__(self, client):
        self.client = client

    def getJobState(self):
        return self

    def isGloballyTerminalState(self):
        return self.client.get_job_status().result().is_globally_terminal_state()

    def getJobId(self):
        return self.client.get_job_id()


JOBS = Jobs()
vars(session)["client_of"] = JOBS.start


def use(case):
    """Let DataFrames use the environment of a test, until it ends."""
    previous = dataframe.get_table_environment()
    case.addCleanup(dataframe.set_table_environment, previous)
    dataframe.set_table_environment(case.t_env)


class _DataFrames:
    """What tests of DataFrames share."""

    resource = JOBS

    def assert_dataframe_schema(self, frame, names, expected_column_data_types=None):
        schema = frame.to_table().get_resolved_schema()
        assert schema.get_column_names() == names
        if expected_column_data_types is not None:
            assert schema.get_column_data_types() == expected_column_data_types


class PyFlinkDataFrameUTTestCase(_DataFrames, PyFlinkUTTestCase):
    """Tests of DataFrames with an environment each."""

    def setUp(self):
        super().setUp()
        use(self)

    def assert_dataframe_sql(self, frame, wanted, build):
        """Check the query that a method of a DataFrame makes, with ``SRC`` for its table."""
        with mock.patch.object(self.t_env, "sql_query", wraps=self.t_env.sql_query) as asked:
            build()
        made = [re.sub(r"FROM `[^`]+`", "FROM `SRC`", call.args[0]) for call in asked.call_args_list]
        assert made == ([] if wanted is None else [wanted]), made


class PyFlinkStreamDataFrameTestCase(_DataFrames, PyFlinkStreamTableTestCase):
    """Tests of DataFrames that share an environment in STREAMING mode."""

    def setUp(self):
        use(self)

    @staticmethod
    def _materialize(frame, key=None):
        """Return the rows that all changes leave, sorted; a row replaces the one with the same key."""
        positions = [frame.columns.index(name) for name in (frame.columns if key is None else key)]
        kept = {}
        for row in frame.collect():
            at = tuple(row[position] for position in positions)
            if row.get_row_kind() in {RowKind.INSERT, RowKind.UPDATE_AFTER}:
                kept[at] = tuple(row)
            else:
                kept.pop(at, None)
        return sorted(kept.values())


class PythonAPICompletenessTestCase:
    """Compares classes of PyFlink with those of Java, which are not here; ``tests/parity`` does it from recordings."""


def _load_specific_flink_module_jars(jars):
    """Do nothing: there is no JVM that could load classes."""


def invoke_method(*_):
    """Raise an error: only objects of Java have the methods.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("a Java object")


invoke_java_object_method = exec_insert_table = to_java_data_structure = invoke_method
