"""Every name that programs import from PyFlink's modules can be imported, and most of them are real implementations."""

from __future__ import annotations

import importlib
import types
from typing import TypeVar

import pytest
from tests.parity.surface import TABLE, behind, counts, is_ours, origin, surface, table, table_surface, value_of

from flintstream.compat import pyflink
from flintstream.compat._module_proxies import MODULE, STAND_IN

NAMES = [(module, name) for module, of in surface().items() for name in of]
ALL = 1204


@pytest.fixture(autouse=True)
def _installed():
    pyflink.install()
    yield
    pyflink.uninstall()


def test_every_name_of_every_release_imports(capsys):
    missing = []
    for module, name in NAMES:
        try:
            value_of(module, name)
        except ImportError as error:
            missing.append(f"{module}.{name}: {error}")
    with capsys.disabled():
        print(f"\n{len(NAMES) - len(missing)} of {len(NAMES)} names of PyFlink's modules import")
    assert missing == []
    assert len(NAMES) == ALL


def test_every_name_of_the_table_api_imports():
    for module, names in table_surface().items():
        for name in names:
            value_of(module, name)


def test_a_name_of_ours_is_the_very_same_object():
    for module, name in NAMES:
        if is_ours(module, name) and f"{module}.{name}" not in surface():
            assert value_of(module, name) is getattr(behind(module), name), f"{module}.{name}"


def test_nine_of_ten_names_are_more_than_stand_ins():
    ours, elsewhere, stand_ins = counts()
    assert ours + elsewhere + stand_ins == ALL
    assert stand_ins < ALL / 10


def test_the_table_of_names_is_up_to_date():
    assert TABLE.read_text(encoding="utf-8") == table(), "write it again: python -m tests.parity.surface"


@pytest.mark.parametrize(
    ("module", "name", "same"),
    [
        ("pyflink.common.watermark_strategy", "Duration", "flintstream.common.time"),
        ("pyflink.datastream.window", "Time", "flintstream.common.time"),
        ("pyflink.datastream.functions", "ValueState", "flintstream.datastream.state"),
        ("pyflink.common.serialization", "JsonRowDeserializationSchema", "flintstream.datastream.formats.json"),
        ("pyflink.datastream.connectors", "DeserializationSchema", "flintstream.common.serialization"),
        ("pyflink.datastream.connectors", "FlinkKafkaConsumer", "flintstream.datastream.connectors.kafka"),
        ("pyflink.datastream.data_stream", "MapFunction", "flintstream.datastream.functions"),
        ("pyflink.table.functions", "AggregateFunction", "flintstream.table"),
        ("pyflink.table.table_environment", "StreamExecutionEnvironment", "flintstream.datastream"),
        ("pyflink.datastream.window", "sys", None),
        ("pyflink.datastream.functions", "Generic", "typing"),
        ("pyflink.common.completable_future", "Py4JJavaError", "py4j.protocol"),
    ],
)
def test_a_re_export_is_the_object_that_it_re_exports(module, name, same):
    expected = importlib.import_module(name) if same is None else getattr(importlib.import_module(same), name)
    assert value_of(module, name) is expected


def test_a_name_is_the_same_object_wherever_it_is_imported_from():
    found: dict[str, list[object]] = {}
    for module, name in NAMES:
        value = value_of(module, name)
        if origin(module, name) not in {STAND_IN, MODULE} and not isinstance(value, TypeVar | types.ModuleType):
            found.setdefault(name, []).append(value)
    assert [name for name, values in found.items() if any(value != values[0] for value in values)] == []
    assert len([values for values in found.values() if len(values) > 1]) > 100


def test_type_variables_parametrise_classes():
    names = ("IN", "OUT", "KEY", "W")
    variables = tuple(value_of("pyflink.datastream.functions", name) for name in names)
    function = value_of("pyflink.datastream.functions", "ProcessWindowFunction")
    assert [variable.__name__ for variable in variables] == list(names)

    assert issubclass(types.new_class("Own", (function[variables],)), function)
