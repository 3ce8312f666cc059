"""Settings of a session that plans depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.options.execution import RUNTIME_MODE
from flintstream.options.units import parse_nanos

if TYPE_CHECKING:
    from flintstream.table._session.session import Session


def state_ttl_ms(session: Session) -> int:
    """Return how long state of unbounded operators stays, 0 for ever."""
    return parse_nanos(session.setting("table.exec.state.ttl", "0 ms")) // 1_000_000


def is_batch(session: Session) -> bool:
    """Return whether only final results count."""
    return session.env._configuration.get(RUNTIME_MODE) == "BATCH"  # noqa: SLF001 - a layer of this package
