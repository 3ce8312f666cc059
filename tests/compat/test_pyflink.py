from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from flintstream.compat import pyflink as compat
from flintstream.errors import FlintstreamError, UnsupportedByDesignError


@pytest.fixture
def installed():
    compat.install()
    yield
    compat.uninstall()


@pytest.mark.usefixtures("installed")
def test_what_modules_have_is_the_very_same_objects():
    from flintstream.common import time as our_time

    theirs = importlib.import_module("pyflink.common.time")
    assert all(getattr(theirs, name) is getattr(our_time, name) for name in our_time.__all__)
    assert importlib.import_module("pyflink.common").time is theirs
    assert importlib.import_module("pyflink.common").Types is importlib.import_module("flintstream.common").Types


@pytest.mark.usefixtures("installed")
def test_our_modules_keep_their_identity():
    import flintstream.common.time

    importlib.import_module("pyflink.common.time")
    spec = flintstream.common.time.__spec__
    assert spec is not None
    assert spec.name == "flintstream.common.time"
    assert spec.parent == flintstream.common.time.__package__


@pytest.mark.usefixtures("installed")
def test_the_version_is_that_of_the_api():
    assert importlib.import_module("pyflink.version").__version__ == "2.3.0"
    assert importlib.import_module("pyflink").__version__ == "2.3.0"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("pyflink.table.nonsense", "use Spark SQL"),
        ("pyflink.pyflink_gateway_server", "no Flink JVM"),
        ("pyflink.testing.test_case_utils", "use flintstream.testing"),
        ("pyflink.datastream.connectors.nonsense", "this connector is not available"),
        ("pyflink.nonsense", "not part of flintstream"),
        ("pyflink.common.nonsense", "not part of flintstream"),
    ],
)
def test_what_is_not_there_is_an_import_error_with_advice(name, advice):
    with pytest.raises(compat.PyflinkModuleError, match=advice) as raised:
        importlib.import_module(name)
    assert isinstance(raised.value, ModuleNotFoundError)


def test_tables_are_there_and_the_rest_of_the_table_api_imports_and_refuses_use(installed):
    table = importlib.import_module("pyflink.table")
    assert isinstance(table.DataTypes.ROW([]), importlib.import_module("pyflink.table.types").RowType)
    assert repr(importlib.import_module("pyflink.table.expressions").col("a")) == "Expression(a)"
    with pytest.raises(UnsupportedByDesignError, match="Spark SQL can run"):
        importlib.import_module("pyflink.table.catalog").HiveCatalog("hive")
    with pytest.raises(UnsupportedByDesignError, match=r"pyflink.table.module.HiveModule\(\): .*use Spark SQL"):
        importlib.import_module("pyflink.table.module").HiveModule()
    assert not hasattr(table, "nonsense")


def test_installing_twice_is_installing_once():
    compat.install()
    compat.install()
    assert compat.is_installed()
    compat.uninstall()
    assert not compat.is_installed()
    compat.uninstall()
    with pytest.raises(ModuleNotFoundError) as raised:
        importlib.import_module("pyflink.common")
    assert not isinstance(raised.value, compat.PyflinkModuleError)


def test_real_pyflink_that_is_imported_already_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyflink", sys)
    with pytest.raises(FlintstreamError, match="already imported"):
        compat.install()
    assert not compat.is_installed()


def test_other_imports_are_left_alone(installed):
    assert importlib.import_module("json").__name__ == "json"
    with pytest.raises(ModuleNotFoundError, match="No module named 'pyflinkx'"):
        importlib.import_module("pyflinkx")


def test_pyflink_can_be_the_first_import_of_a_process():
    program = (
        "from flintstream.compat.pyflink import install; install()\n"
        "import pyflink.common.time as t, flintstream.common.time as f\n"
        "from pyflink.common import time\n"
        "assert t is time and t.Duration is f.Duration\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)  # noqa: S603 - a fixed program
