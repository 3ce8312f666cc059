"""A plugin of pytest that serves ``pyflink`` from flintstream, and ``pyflink.testing`` from this folder.

PyFlink's tests get their environments from base classes in ``pyflink.testing``, which start a cluster in Java, and they
import each other as ``pyflink.table.tests``.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from importlib.util import spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from flintstream.compat.pyflink import install
from flintstream.options.command_line import set_defaults
from flintstream.table._session.verifying import check_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from flintstream.common._types.data_types import DataType

ENGINE = os.environ.get("UPSTREAM_ENGINE", "inline")
FOLDER = Path(os.environ["UPSTREAM_TESTS"])
"""The checkout's folder of tests."""
TESTS = f"pyflink.{os.environ.get('UPSTREAM_PART', 'table')}.tests"
HERE = {
    f"pyflink.{module}": f"tests.corpus.upstream.testing{file}"
    for module, file in {
        "testing": "",
        "testing.test_case_utils": ".test_case_utils",
        "testing.source_sink_utils": ".source_sink_utils",
        "datastream.tests": "",
        "datastream.tests.test_util": ".test_util",
        "pyflink_gateway_server": ".gateway_server",
        "fn_execution": "",
        "fn_execution.state_impl": ".state_impl",
    }.items()
}


class Finder:
    """Finds the modules that only tests have, before flintstream refuses them."""

    def find_spec(self, name, path=None, target=None):
        if name in HERE:
            origin = str(import_module(HERE[name]).__file__)
            folders = [str(Path(origin).parent)] if origin.endswith("__init__.py") else None
            return spec_from_file_location(name, origin, submodule_search_locations=folders)
        if name == TESTS:
            return spec_from_file_location(name, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
        if name.startswith(TESTS):
            return spec_from_file_location(name, FOLDER / f"{name.rpartition('.')[2]}.py")
        return None


install()
sys.meta_path.insert(0, Finder())
set_defaults({"flintstream.engine": ENGINE} if ENGINE == "inline" else {}, "local[2]", None, [])
os.environ["_PYTHON_WORKER_MEMORY_LIMIT"] = "0"  # what Flink tells its Python processes

PRIVATE = (
    "_array_signed_int_typecode_ctype_mappings _array_type_mappings _array_unsigned_int_typecode_ctype_mappings "
    "_from_java_data_type _to_java_data_type"
)
"""What a test imports of ``pyflink.table.types`` that is private to PyFlink: its uses fail, not the whole file."""


def refuse(*_: object) -> None:
    """Stand for a private function.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError("a private function of PyFlink")


def verify(kind: DataType, name: str = "value") -> Callable[[object], None]:
    """Return what ``from_elements()`` checks values of a type with, as PyFlink's private function does."""
    return check_of(kind)


types = import_module("pyflink.table.types")
for private in PRIVATE.split():
    setattr(types, private, refuse)
types._create_type_verifier = verify  # type: ignore[attr-defined]


class Models:
    """The module with the registry of models."""

    models = import_module("flintstream.dataframe.model_provider")
    _provider_registry = models._registry
    _resolve_provider = staticmethod(models._resolve_provider)

    @property
    def _default_provider(self) -> str | None:
        return next(iter(self.models._default), None)

    @_default_provider.setter
    def _default_provider(self, name: str | None) -> None:
        self.models._default[:] = [] if name is None else [name]


def name_functions() -> None:
    """Give functions of DataFrames the private names that tests of ``pyflink.dataframe`` import."""
    adapters = import_module("flintstream.dataframe._functions.adapters")
    results = import_module("flintstream.dataframe._functions.results")
    sources = import_module("flintstream.dataframe._functions.source")
    functions, tables = import_module("pyflink.dataframe.udf"), import_module("pyflink.dataframe.udtf")
    files = import_module("flintstream.dataframe._options.descriptors")
    windows = import_module("flintstream.dataframe._frame.windows")
    vars(import_module("pyflink.dataframe.dataframe")).update(
        _resolve_window_time_column=lambda on: windows.column_of(on, "on"), _to_interval_expression=windows._interval
    )

    def adapter(kind, source, dtype, deterministic, usage, how):
        made = kind(source, dtype._to_table_data_type(), deterministic=deterministic)
        made._invocation = lambda: made.call
        return made

    def file_options(path, kind, **more):
        names = ("connector_parameters", "format_parameters", "extra_connector_options", "extra_format_options")
        given = [more.get(name) for name in names]
        return files.file_options(path, kind, given[0] or {}, given[1] or {}, given[2], given[3])

    vars(functions).update(
        _DataFrameScalarFunctionAdapter=partial(adapter, adapters.ValueFunction),
        _DataFrameAsyncScalarFunctionAdapter=partial(adapter, adapters.AsyncFunction),
        _UDFUsage=SimpleNamespace(EXPRESSION="expression", MAP="map"),
        _resolve_udf=lambda function: SimpleNamespace(runtime_source=sources.source_of(function)),
        _create_result_normalizer=lambda kind: lambda value: results._normalize_user_value(value, kind),
    )
    vars(tables)["_resolve_flat_map_udtf"] = lambda function, dtype, _: tables.declaration_of(function, dtype)
    vars(import_module("pyflink.dataframe.io"))["_build_filesystem_options"] = file_options
    wrappers = import_module("flintstream.table._functions.wrappers")
    wrappers.FunctionWrapper._func = property(  # aggregates set it themselves
        lambda wrapper: vars(wrapper).get("_func", wrapper.implementation),
        lambda wrapper, function: vars(wrapper).update(_func=function),
    )
    vars(import_module("pyflink.dataframe")).update(llm=Models(), model_provider=Models())


if TESTS == "pyflink.dataframe.tests":
    name_functions()
