"""Result of a finished job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flintstream.common._text.notebook import table_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flintstream.common.job_id import JobID
    from flintstream.metrics.subtask import SubtaskMetrics

__all__ = ["JobExecutionResult"]


class JobExecutionResult:
    """The id, the run time and the accumulators of a finished job.

    >>> from flintstream.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment({"flintstream.engine": "inline"})
    >>> _ = env.set_parallelism(1).from_collection([1, 2]).print()
    >>> result = env.execute("numbers")
    1
    2
    >>> len(str(result.get_job_id())), result.get_net_runtime() >= 0
    (32, True)
    >>> result.get_all_accumulator_results()["numEpochs"], result.get_accumulator_result("numRecordsIn")
    (1, 2)
    >>> result.get_metrics()[0].operator
    'Collection Source'
    """

    def __init__(
        self,
        job_id: JobID,
        net_runtime_ms: int,
        accumulators: Mapping[str, Any] | None = None,
        metrics: Sequence[SubtaskMetrics] = (),
    ) -> None:
        self._job_id = job_id
        self._net_runtime_ms = net_runtime_ms
        self._accumulators = dict(accumulators or {})
        self._metrics = list(metrics)

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._job_id

    def get_net_runtime(self) -> int:
        """Return how long the job ran, in milliseconds."""
        return self._net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the value of an accumulator; None if it does not exist."""
        return self._accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return all accumulators by name."""
        return dict(self._accumulators)

    def get_metrics(self) -> list[SubtaskMetrics]:
        """Return the final metrics of each subtask of each operator. PyFlink has no such method."""
        return list(self._metrics)

    def _repr_html_(self) -> str:
        """Return the result for a notebook."""
        rows = list(self._accumulators.items())
        return table_html(["accumulator", "value"], rows, f"{self._job_id} finished after {self._net_runtime_ms:,} ms")

    def __str__(self) -> str:
        lines = [f"Job {self._job_id} finished after {self._net_runtime_ms} ms."]
        lines += [f"- {name}: {value}" for name, value in self._accumulators.items()]
        return "\n".join(lines)
