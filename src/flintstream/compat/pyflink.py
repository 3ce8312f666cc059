"""Support for ``import pyflink``, so that PyFlink programs run unmodified.

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

from flintstream.compat._module_proxies import proxy_spec
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
"""The PyFlink version whose API flintstream implements."""


class PyflinkModuleError(ModuleNotFoundError):
    """A PyFlink module that flintstream does not implement. The message names an alternative.

    >>> issubclass(PyflinkModuleError, ModuleNotFoundError)
    True
    """


class _PyflinkFinder:
    """Finds ``pyflink`` modules before any other finder. Has no base class: importing importlib.abc takes long."""

    installed_by = f"{__name__}:install"
    """Tells the processes of a job's tasks how to install this finder."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "pyflink":
            return None
        spec = proxy_spec(fullname)
        if spec is None:
            raise PyflinkModuleError(f"No module named {fullname!r}: {advice(fullname)}", name=fullname)
        return spec


class _MetadataFinder:
    """Finds ``apache-flink`` for ``importlib.metadata``, last, so that an installed distribution takes precedence."""

    def find_spec(self, *_: object) -> None:
        return None

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        if context.name is None or re.sub(r"[-_.]+", "-", context.name).lower() not in {
            "apache-flink",
            "apache-flink-libraries",
        }:
            return []
        from flintstream.compat._metadata import PyflinkDistribution

        return [PyflinkDistribution(context.name)]


_finder = _PyflinkFinder()
_metadata = _MetadataFinder()


def is_installed() -> bool:
    """Tell whether flintstream serves ``import pyflink``.

    >>> from flintstream.compat import pyflink
    >>> before = pyflink.is_installed()
    >>> pyflink.install()
    >>> pyflink.is_installed()
    True
    >>> if not before:
    ...     pyflink.uninstall()
    """
    return _finder in sys.meta_path


def install() -> None:
    """Serve ``import pyflink`` from flintstream, even if PyFlink is installed. Calling this twice has no effect.

    Processes that ``multiprocessing`` starts, by any method, do the same.

    ``pyflink.common``, ``pyflink.datastream`` and ``pyflink.metrics`` export the same objects as flintstream's modules.
    In addition, every name that PyFlink's modules have had since 1.13 can be imported.

    Raises:
        FlintstreamError: PyFlink itself is already imported.

    >>> before = is_installed()
    >>> install()
    >>> from pyflink.common import Types
    >>> Types.LONG().__module__.partition(".")[0], is_installed()
    ('flintstream', True)
    >>> if not before:
    ...     uninstall()
    """
    if is_installed():
        return
    imported = sys.modules.get("pyflink")
    if imported is not None:
        raise FlintstreamError(
            f"PyFlink itself is already imported (from {getattr(imported, '__file__', 'somewhere')}): call "
            "flintstream.compat.pyflink.install() before the first import of pyflink, or use 'flintstream run'"
        )
    sys.meta_path.insert(0, _finder)
    sys.meta_path.append(_metadata)
    serve_child_processes(is_installed)


def uninstall() -> None:
    """Undo :func:`install`.

    >>> from flintstream.compat import pyflink
    >>> before = pyflink.is_installed()
    >>> pyflink.install()
    >>> pyflink.uninstall()
    >>> pyflink.is_installed()
    False
    >>> if before:
    ...     pyflink.install()
    """
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    sys.meta_path.remove(_metadata)
    for name in [name for name in sys.modules if name == "pyflink" or name.startswith("pyflink.")]:
        del sys.modules[name]
