"""The modules of ``pyflink`` behave like modules, and leave those of flintstream unchanged."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import inspect
import pickle
import pkgutil
import sys
from abc import ABC
from pathlib import Path
from typing import Any
from unittest import mock

import cloudpickle
import pytest

import flintstream.common
import flintstream.common.time
import flintstream.common.watermark_strategy
import flintstream.datastream.data_stream
from flintstream.compat import pyflink as compat
from flintstream.errors import UnsupportedByDesignError


@pytest.fixture(autouse=True)
def _installed():
    compat.install()
    yield
    compat.uninstall()


def load(name: str) -> Any:
    return importlib.import_module(name)


def run(statement: str) -> dict[str, object]:
    scope: dict[str, object] = {}
    exec(statement, scope)  # noqa: S102 - a star is taken by a statement alone
    return scope


def test_names_of_pyflink_do_not_get_into_our_modules():
    before = set(vars(flintstream.common.watermark_strategy))
    assert load("pyflink.common.watermark_strategy").Duration is flintstream.common.Duration
    assert set(vars(flintstream.common.watermark_strategy)) == before
    assert flintstream.common.time.__name__ == "flintstream.common.time"
    assert load("pyflink.common.time").__name__ == "pyflink.common.time"


def test_a_submodule_is_an_attribute_of_its_package_and_never_of_ours():
    load("pyflink.common.time")
    assert load("pyflink.common").time is sys.modules["pyflink.common.time"]
    assert flintstream.common.time is sys.modules["flintstream.common.time"]
    assert load("pyflink").datastream.window is load("pyflink.datastream.window")


def test_a_star_takes_what_it_takes_in_pyflink():
    without_all = run("from pyflink.common.watermark_strategy import *")
    assert {"WatermarkStrategy", "Duration"} <= set(without_all)
    functions = run("from pyflink.datastream.functions import *")
    assert "MapFunction" in functions
    assert "get_gateway" not in functions
    assert "PulsarSource" in run("from pyflink.datastream.connectors.pulsar import *")
    assert {"DataTypes", "StreamTableEnvironment"} <= set(run("from pyflink.table import *"))


def test_dir_lists_what_can_be_imported():
    listed = dir(load("pyflink.common.watermark_strategy"))
    assert {"WatermarkStrategy", "Duration", "abc"} <= set(listed)
    assert all(hasattr(load("pyflink.common"), name) for name in dir(load("pyflink.common")))


def test_a_misspelt_name_is_an_error_that_names_the_module():
    with pytest.raises(AttributeError, match=r"module 'pyflink.common' has no attribute 'Typs'"):
        _ = load("pyflink.common").Typs
    with pytest.raises(ImportError, match=r"cannot import name 'Typs' from 'pyflink.common'"):
        run("from pyflink.common import Typs")


def test_a_patched_name_is_patched_for_the_program_alone_and_comes_back():
    ours = flintstream.datastream.data_stream.DataStream
    with mock.patch("pyflink.datastream.data_stream.DataStream", new="patched"):
        assert run("from pyflink.datastream.data_stream import DataStream")["DataStream"] == "patched"
        assert flintstream.datastream.data_stream.DataStream is ours
    assert load("pyflink.datastream.data_stream").DataStream is ours


def test_a_patched_re_export_is_patched_in_its_module_alone(monkeypatch):
    time = flintstream.common.time.Duration
    monkeypatch.setattr("pyflink.common.watermark_strategy.Duration", "patched")
    assert load("pyflink.common.watermark_strategy").Duration == "patched"
    assert flintstream.common.time.Duration is time
    monkeypatch.undo()
    assert load("pyflink.common.watermark_strategy").Duration is time


def test_a_name_can_be_set_and_set_back(monkeypatch):
    monkeypatch.setattr("pyflink.common.time.Instant", None)
    monkeypatch.undo()
    assert load("pyflink.common.time").Instant is flintstream.common.time.Instant


def test_reloading_keeps_the_objects():
    types = load("pyflink.common.typeinfo").Types
    assert importlib.reload(load("pyflink.common.typeinfo")).Types is types


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_what_modules_have_is_pickled(dumps):
    module = load("pyflink.common.time")
    assert pickle.loads(dumps(module.Duration)) is flintstream.common.Duration
    stand_in = load("pyflink.datastream.connectors.pulsar").SubscriptionType
    assert pickle.loads(dumps(stand_in)) is stand_in
    assert pickle.loads(b"cpyflink.common.types\nRow\n.") is flintstream.common.Row


def test_rows_that_pyflink_has_pickled_are_read():
    of_pyflink = b"cpyflink.common.types\n_create_row\n((S'a'\nS'b'\nt(I1\nI2\ntNtR."
    assert pickle.loads(of_pyflink) == flintstream.common.Row(a=1, b=2)


def test_a_function_that_refers_to_a_module_is_pickled():
    module = load("pyflink.common.time")
    read = pickle.loads(cloudpickle.dumps(lambda: module.Duration.of_seconds(1)))
    assert read() == flintstream.common.Duration.of_seconds(1)
    assert pickle.loads(cloudpickle.dumps(module)) is module


def test_introspection_finds_our_sources():
    module = load("pyflink.common.time")
    assert inspect.getmodule(module.Duration) is flintstream.common.time
    assert "class Duration" in inspect.getsource(module)
    assert module.__file__ == flintstream.common.time.__file__
    assert module.__doc__ == flintstream.common.time.__doc__


def test_pyflink_has_a_directory_without_jars():
    pyflink = load("pyflink")
    home = Path(pyflink.__file__).parent
    assert [str(home)] == list(pyflink.__path__)
    assert (home / "lib").is_dir()
    assert list((home / "lib").glob("*.jar")) == []
    assert importlib.resources.files("pyflink").joinpath("lib").is_dir()
    assert "java_gateway" in {module.name for module in pkgutil.iter_modules(pyflink.__path__)}


def test_flink_home_is_that_directory_unless_the_environment_names_one(monkeypatch):
    monkeypatch.setenv("FLINK_HOME", "/opt/flink")
    find = load("pyflink.find_flink_home")._find_flink_home
    assert find() == "/opt/flink"
    monkeypatch.delenv("FLINK_HOME")
    assert find() == str(Path(load("pyflink").__file__).parent)


def test_the_installed_version_is_that_of_the_api():
    assert importlib.metadata.version("apache-flink") == "2.3.0"
    assert importlib.metadata.metadata("apache_flink")["Name"] == "apache_flink"
    compat.uninstall()
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("apache-flink")


def test_an_installed_pyflink_tells_its_own_version(tmp_path, monkeypatch):
    (tmp_path / "apache_flink-1.20.1.dist-info").mkdir()
    (tmp_path / "apache_flink-1.20.1.dist-info" / "METADATA").write_text("Name: apache-flink\nVersion: 1.20.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.metadata.version("apache-flink") == "1.20.1"


def test_what_only_pyflink_has_can_be_named_and_refuses_use():
    pulsar = load("pyflink.datastream.connectors.pulsar")

    class Own(pulsar.PulsarDeserializationSchema, ABC):  # type: ignore[name-defined]
        pass

    schema = pulsar.PulsarDeserializationSchema
    assert schema | None
    assert schema[str] is schema
    assert not isinstance(1, schema)
    for use in (Own, lambda: schema.flink_schema, lambda: pulsar.SubscriptionType.Shared):
        with pytest.raises(UnsupportedByDesignError, match=r"PyFlink removed it; pass a schema of pyflink.common"):
            use()
    assert not hasattr(schema, "flink_schema")
    with pytest.raises(UnsupportedByDesignError, match=r"InternalWindowFunction\(\): it is internal to PyFlink"):
        load("pyflink.datastream.functions").InternalWindowFunction()


def test_exceptions_of_pyflink_can_be_caught():
    exceptions = load("pyflink.util.exceptions")
    with pytest.raises(exceptions.JavaException, match="no such table"):
        raise exceptions.TableNotExistException("no such table")


def test_decorators_of_pyflink_decorate():
    decorators = load("pyflink.util.api_stability_decorators")

    @decorators.PublicEvolving()
    class Documented:
        """A docstring."""

    assert Documented.__doc__ is not None
    assert "A docstring.\n\n.. note::" in Documented.__doc__
    with pytest.warns(DeprecationWarning, match="deprecated since version 1.0"):
        decorators.Deprecated("1.0")(Documented)
