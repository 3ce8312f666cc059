"""Steps of a subtask for which pickle is refused, and the names of operators in their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flintstream.checkpoint.pickles import refusing_in
from flintstream.errors import PickleRefusedError
from flintstream.runtime.failure import OperatorFailure

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from flintstream.runtime.plan import ChainPlan

T = TypeVar("T")


def without_pickle(steps: Generator[T], chain: ChainPlan, subtask: int) -> Iterator[T]:
    """Take the steps of a subtask of ``chain``, in which state must not need pickle.

    Raises:
        OperatorFailure: State needs pickle. The message names the operator.
    """
    try:
        yield from refusing_in(steps)
    except PickleRefusedError as error:
        raise OperatorFailure(chain.name, subtask, with_name_of_operator(error, chain), None) from error
    except OperatorFailure as failure:
        if isinstance(failure.error, PickleRefusedError):
            failure.error = failure.error.within(failure.error.state, f"the operator '{failure.operator_name}'")
        raise


def with_name_of_operator(error: PickleRefusedError, chain: ChainPlan) -> PickleRefusedError:
    """Return the error with the name of the operator instead of its uid."""
    names = {node.uid: node.name for node in chain.nodes}
    return error.within(error.state, f"the operator '{names.get(error.operator, chain.name)}'")
