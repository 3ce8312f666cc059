"""Whether a program runs as a stream or as a batch."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """How a program is executed; set by ``env.set_runtime_mode`` or the key ``execution.runtime-mode``."""

    STREAMING = 0
    """Results appear as records arrive, and are updated; the default."""

    BATCH = 1
    """All sources end, and each key yields its final result once. Takes no checkpoints."""

    AUTOMATIC = 2
    """BATCH if all sources are bounded, else STREAMING."""
