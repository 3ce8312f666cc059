"""The number of files and sockets that this process may have open."""

from __future__ import annotations

import contextlib
import resource

MOST = 1 << 16
"""Some programs look at each descriptor that a process may have, so the limit stays below those of containers."""


def raise_limit() -> None:
    """Raise the soft limit toward the hard limit, to at most 65,536 descriptors. Child processes inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(MOST, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # macOS has another limit below the hard one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
