"""Execution modes: streaming, batch or automatic."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """How a program is executed. Set it with ``env.set_runtime_mode`` or the key ``execution.runtime-mode``.

    >>> [mode.name for mode in RuntimeExecutionMode]
    ['STREAMING', 'BATCH', 'AUTOMATIC']
    """

    STREAMING = 0
    """Results appear and are updated as records arrive. This is the default."""

    BATCH = 1
    """All sources are bounded, and each key yields its final result once. There are no checkpoints."""

    AUTOMATIC = 2
    """BATCH if all sources are bounded, else STREAMING."""
