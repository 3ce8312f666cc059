"""Helpers of PyFlink that programs import (``pyflink.util``)."""

from __future__ import annotations
