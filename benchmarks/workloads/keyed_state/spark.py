"""On PySpark's transformWithState, which passes all rows of a key and batch at once, in any order."""

# ruff: noqa: N802, N803 - PySpark's names

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from benchmarks.sources_spark import keyed, numbers
from benchmarks.workload import SAMPLE
from benchmarks.workloads.keyed_state import KEYS, item_of

HOUR = 3_600_000


class CountItems(StatefulProcessor):
    def init(self, handle):
        self.counts = handle.getMapState("counts", "item long", "count long", HOUR)

    def handleInputRows(self, key, rows, timerValues):
        for n in sorted(row.n for row in rows):
            item = (item_of(n),)
            state = self.counts.getValue(item)
            count = (state[0] if state is not None else 0) + 1
            self.counts.updateValue(item, (count,))
            if n % SAMPLE == 0:
                yield Row(key=key[0], what=item[0], result=count)

    def close(self):
        pass


class Gather(StatefulProcessor):
    def init(self, handle):
        self.numbers = handle.getListState("numbers", "n long", HOUR)

    def handleInputRows(self, key, rows, timerValues):
        for n in sorted(row.n for row in rows):
            self.numbers.appendValue((n,))
            if n % SAMPLE == 0:
                gathered = [value[0] for value in self.numbers.get()]
                self.numbers.clear()
                yield Row(key=key[0], what=len(gathered), result=sum(gathered))

    def close(self):
        pass


def build(spark, run):
    visits = keyed(numbers(spark, run), KEYS, run.half)
    processor = CountItems() if run.settings["kind"] == "map" else Gather()
    results = "key long, what long, result long"
    return visits.groupBy("key").transformWithState(processor, results, "Update", "ProcessingTime")
