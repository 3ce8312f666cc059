"""PyFlink DataStream programs on Apache Spark.

The public API lives in :mod:`flintstream.datastream`, :mod:`flintstream.common` and :mod:`flintstream.metrics`, which
mirror the modules of PyFlink of the same names.
"""

from __future__ import annotations

__version__ = "0.1.0"
