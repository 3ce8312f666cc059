"""The place in a job that a line of the log is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.runtime.logs import Place
from flintstream.runtime.operators.base import Operator
from flintstream.runtime.task.fused import FusedOperators

if TYPE_CHECKING:
    from types import FrameType

    from flintstream.runtime.plan import ChainPlan, JobPlan
    from flintstream.runtime.protocol import Instruction

__all__ = ["operator_of", "place_of"]


def place_of(plan: JobPlan, chain: ChainPlan, instruction: Instruction) -> Place:
    """Return the place of a subtask in an epoch."""
    return Place(
        plan.job_name,
        plan.job_id,
        chain.name,
        instruction.subtask,
        chain.parallelism,
        instruction.epoch,
        operator_of,
    )


def operator_of(frame: FrameType | None) -> str | None:
    """Return the name of the operator whose code, or code that it calls, a stack frame runs; None if there is none."""
    while frame is not None:
        if frame.f_code.co_varnames[:1] == ("self",):
            own = frame.f_locals["self"]
            if isinstance(own, FusedOperators):
                return own.current_operator().context.name
            if isinstance(own, Operator):
                return own.context.name
        frame = frame.f_back
    return None
