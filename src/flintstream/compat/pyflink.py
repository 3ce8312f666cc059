"""Serves ``import pyflink`` from flintstream, so that PyFlink programs run without a change.

>>> install()
>>> from pyflink.common import Types
>>> import flintstream.common
>>> Types is flintstream.common.Types
True
>>> uninstall()
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["PYFLINK_VERSION", "PyflinkModuleError", "install", "is_installed", "uninstall"]

PYFLINK_VERSION = "2.3.0"
"""The version of PyFlink whose API flintstream has."""

_SERVED = ("common", "datastream", "metrics", "table")

_ADVICE = {
    "pyflink.table": "the Table API is not part of flintstream; use Spark SQL, and read what it writes with a source",
    "pyflink.testing": "use flintstream.testing, whose CollectSink brings the records of a stream to a test",
    "pyflink.java_gateway": "there is no JVM of Flink behind flintstream",
    "pyflink.pyflink_gateway_server": "there is no JVM of Flink behind flintstream",
    "pyflink.pyflink_callback_server": "there is no JVM of Flink behind flintstream",
    "pyflink.fn_execution": "it is an internal of PyFlink",
    "pyflink.serializers": "it is an internal of PyFlink",
    "pyflink.util": "it is an internal of PyFlink",
    "pyflink.shell": "start a Python shell and import flintstream.datastream",
    "pyflink.ml": "Flink ML is not part of flintstream",
    **{
        f"pyflink.datastream.connectors.{name}": "this connector is not available in this version of flintstream; "
        f"examples/connectors/{example} is one to begin with, on the client for Python"
        for name, example in (
            ("cassandra", "cassandra_sink.py"),
            ("kinesis", "kinesis_sink.py"),
            ("pulsar", "pulsar_source.py"),
        )
    },
    "pyflink.datastream.connectors": "this connector is not available in this version of flintstream",
    "pyflink.datastream.formats": "this format is not available in this version of flintstream",
}


class PyflinkModuleError(ModuleNotFoundError):
    """A module of PyFlink that flintstream does not have; the message says what to use instead."""


class _AliasLoader(Loader):
    """Hands out a module that exists under another name."""

    def __init__(self, real_name: str) -> None:
        self._real_name = real_name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        module = importlib.import_module(self._real_name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the alias's in its place


class _NewLoader(Loader):
    """Makes the modules that only PyFlink has."""

    def __init__(self, contents: dict[str, object]) -> None:
        self._contents = contents

    def create_module(self, spec: ModuleSpec) -> None:  # noqa: ARG002
        return None

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self._contents)


class _PyflinkFinder(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        top, _, rest = fullname.partition(".")
        if top != "pyflink":
            return None
        if rest in {"", "version"}:
            contents: dict[str, object] = {"__version__": PYFLINK_VERSION, "__all__": ["__version__"]}
            return ModuleSpec(fullname, _NewLoader(contents), origin="flintstream", is_package=not rest)
        if rest.partition(".")[0] in _SERVED:
            real_name = f"flintstream.{rest}"
            if importlib.util.find_spec(real_name) is not None:
                return ModuleSpec(fullname, _AliasLoader(real_name), origin=real_name)
        raise PyflinkModuleError(f"No module named {fullname!r}: {_advice(fullname)}", name=fullname)


def _advice(name: str) -> str:
    found = [advice for prefix, advice in _ADVICE.items() if name == prefix or name.startswith(prefix + ".")]
    return found[0] if found else "it is not part of flintstream"


_finder = _PyflinkFinder()


def is_installed() -> bool:
    """Tell whether ``import pyflink`` is served from flintstream."""
    return _finder in sys.meta_path


def install() -> None:
    """Serve ``import pyflink`` from flintstream from now on, even where PyFlink is installed; twice does no harm.

    This holds for the processes that ``multiprocessing`` starts, too, by whatever method.

    ``pyflink.common``, ``pyflink.datastream`` and ``pyflink.metrics`` are the very modules of flintstream.

    Raises:
        FlintstreamError: PyFlink itself is imported already.
    """
    if is_installed():
        return
    imported = sys.modules.get("pyflink")
    if imported is not None:
        raise FlintstreamError(
            f"PyFlink itself is imported already (from {getattr(imported, '__file__', 'somewhere')}): call "
            "flintstream.compat.pyflink.install() before the first import of pyflink, or use 'flintstream run'"
        )
    sys.meta_path.insert(0, _finder)
    from flintstream.compat.processes import serve_child_processes  # noqa: PLC0415 - it imports this module

    serve_child_processes()


def uninstall() -> None:
    """Undo :func:`install`."""
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    for name in [name for name in sys.modules if name == "pyflink" or name.startswith("pyflink.")]:
        del sys.modules[name]
