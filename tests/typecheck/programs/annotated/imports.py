"""Names are found by a star, and one that does not exist is an error although names are loaded on first use."""

import flintstream.datastream
from flintstream.datastream import *
from flintstream.datastream import Nonsense  # expect: attr-defined reportAttributeAccessIssue
from flintstream.datastream.functions import *
from flintstream.datastream.state import *
from flintstream.datastream.window import *

flintstream.datastream.connectors.KafkaSource.builder()
flintstream.datastream.functions.nonsense()  # expect: attr-defined reportAttributeAccessIssue


class Plus(MapFunction[int, int]):
    def map(self, value: int) -> int:
        return value + 1


StreamExecutionEnvironment.get_execution_environment().from_collection([1]).map(Plus())
ListStateDescriptor("sums", 5)  # expect: arg-type reportArgumentType
TumblingEventTimeWindows.of(5)  # expect: arg-type reportArgumentType
