"""The error of py4j, by which programs of PyFlink know an exception of Java."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError

__all__ = ["Py4JJavaError"]
