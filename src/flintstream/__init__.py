"""PyFlink DataStream programs on Apache Spark.

The public API lives in :mod:`flintstream.datastream`, :mod:`flintstream.common` and :mod:`flintstream.metrics`, which
mirror the modules of PyFlink of the same names.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes its time to import, and type checkers know the name

__version__: str
"""The installed version, or ``0.0.0+unknown`` where the code runs without being installed, as from ``PYTHONPATH``."""

if not TYPE_CHECKING:  # a type checker would take any name for one of this module's

    def __getattr__(name: str) -> str:
        """Look the version up when it is first asked for: ``importlib.metadata`` is slow to import."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version(__name__)
        except PackageNotFoundError:
            found = "0.0.0+unknown"
        globals()[name] = found
        return found


def load_ipython_extension(shell: object) -> None:
    """Add the magics ``%sql`` and ``%%sql``: IPython calls this for ``%load_ext flintstream``."""
    from importlib import import_module

    import_module(f"{__name__}.sql_gateway.magics").load_magics(shell)
