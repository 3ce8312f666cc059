"""Serves ``import pyflink`` from flintstream, so that PyFlink programs run without a change.

>>> install()
>>> from pyflink.common import Types
>>> import flintstream.common
>>> Types is flintstream.common.Types
True
>>> uninstall()
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from flintstream.compat._faces import face_spec
from flintstream.compat._stand_ins import advice
from flintstream.compat.home.version import __version__
from flintstream.compat.processes import serve_child_processes
from flintstream.errors import FlintstreamError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from importlib.metadata import Distribution, DistributionFinder
    from types import ModuleType

__all__ = ["PYFLINK_VERSION", "PyflinkModuleError", "install", "is_installed", "uninstall"]

PYFLINK_VERSION = __version__
"""The version of PyFlink whose API flintstream has."""


class PyflinkModuleError(ModuleNotFoundError):
    """A module of PyFlink that flintstream does not have; the message says what to use instead."""


class _PyflinkFinder:
    """Finds the modules of ``pyflink``, before any other. No base class: importing importlib.abc takes long."""

    installed_by = f"{__name__}:install"
    """How the processes of a job's tasks get this finder."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "pyflink":
            return None
        spec = face_spec(fullname)
        if spec is None:
            raise PyflinkModuleError(f"No module named {fullname!r}: {advice(fullname)}", name=fullname)
        return spec


class _MetadataFinder:
    """Tells ``importlib.metadata`` of ``apache-flink``, after any other finder: one that is installed goes first."""

    def find_spec(self, *_: object) -> None:
        return None

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        if context.name is None or re.sub(r"[-_.]+", "-", context.name).lower() not in {
            "apache-flink",
            "apache-flink-libraries",
        }:
            return []
        from flintstream.compat._metadata import PyflinkDistribution  # noqa: PLC0415 - costly, and rarely asked for

        return [PyflinkDistribution(context.name)]


_finder = _PyflinkFinder()
_metadata = _MetadataFinder()


def is_installed() -> bool:
    """Tell whether ``import pyflink`` is served from flintstream."""
    return _finder in sys.meta_path


def install() -> None:
    """Serve ``import pyflink`` from flintstream from now on, even where PyFlink is installed; twice does no harm.

    This holds for the processes that ``multiprocessing`` starts, too, by whatever method.

    What ``pyflink.common``, ``pyflink.datastream`` and ``pyflink.metrics`` have is what flintstream's have, the very
    same objects. Besides, every name that PyFlink's modules have had since 1.13 can be imported from them.

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
    sys.meta_path.append(_metadata)
    serve_child_processes(is_installed)


def uninstall() -> None:
    """Undo :func:`install`."""
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    sys.meta_path.remove(_metadata)
    for name in [name for name in sys.modules if name == "pyflink" or name.startswith("pyflink.")]:
        del sys.modules[name]
