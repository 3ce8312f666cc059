from __future__ import annotations

import cloudpickle
import pytest

from flintstream.common import Time, Types
from flintstream.common.time import Duration
from flintstream.datastream import state
from flintstream.datastream.functions import AggregateFunction, ReduceFunction
from flintstream.datastream.state import (
    AggregatingStateDescriptor,
    AppendingState,
    BroadcastState,
    ListState,
    ListStateDescriptor,
    MapStateDescriptor,
    MergingState,
    ReadOnlyBroadcastState,
    ReducingState,
    ReducingStateDescriptor,
    StateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

INT, STRING = Types.INT(), Types.STRING()


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return value + accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


DESCRIPTORS = [
    (ValueStateDescriptor("s", INT), INT),
    (ListStateDescriptor("s", INT), Types.LIST(INT)),
    (MapStateDescriptor("s", STRING, INT), Types.MAP(STRING, INT)),
    (ReducingStateDescriptor("s", min, INT), INT),
    (AggregatingStateDescriptor("s", Sum(), INT), INT),
]


@pytest.mark.parametrize(("descriptor", "type_info"), DESCRIPTORS)
def test_a_descriptor_has_a_name_and_a_type(descriptor, type_info):
    assert isinstance(descriptor, StateDescriptor)
    assert descriptor.get_name() == descriptor.name == "s"
    assert descriptor.type_info == type_info


@pytest.mark.parametrize(("descriptor", "type_info"), DESCRIPTORS)
def test_a_descriptor_can_be_pickled(descriptor, type_info):
    copy = cloudpickle.loads(cloudpickle.dumps(descriptor))
    assert (copy.name, copy.type_info) == ("s", type_info)


@pytest.mark.parametrize("bad", ["", None, 5])
def test_a_state_needs_a_name(bad):
    with pytest.raises(ValueError, match="name of a state"):
        ValueStateDescriptor(bad, INT)


def test_a_reducing_state_takes_a_function_of_either_kind():
    class Longest(ReduceFunction):
        def reduce(self, value1, value2):
            return max(value1, value2, key=len)

    assert ReducingStateDescriptor("s", Longest(), STRING).get_reduce_function().reduce("a", "bb") == "bb"
    assert ReducingStateDescriptor("s", lambda a, b: a + b, STRING).get_reduce_function().reduce("a", "b") == "ab"


def test_a_reducing_state_refuses_what_is_no_function():
    with pytest.raises(TypeError, match="'s' must be callable or a ReduceFunction, but got 5"):
        ReducingStateDescriptor("s", 5, INT)  # type: ignore[arg-type]


def test_an_aggregating_state_needs_an_aggregate_function():
    function = Sum()
    assert AggregatingStateDescriptor("s", function, INT).get_agg_function() is function
    with pytest.raises(TypeError, match="'s' must be an AggregateFunction"):
        AggregatingStateDescriptor("s", lambda a, b: a + b, INT)  # type: ignore[arg-type]


def test_the_kinds_of_state_are_related_as_in_pyflink():
    assert issubclass(ListState, MergingState)
    assert issubclass(ReducingState, MergingState)
    assert issubclass(MergingState, AppendingState)
    assert issubclass(BroadcastState, ReadOnlyBroadcastState)


def test_all_names_exist():
    for name in vars(state)["__all__"]:
        assert hasattr(state, name)


# -- time to live ----------------------------------------------------------------------------------------------------

Config = StateTtlConfig
SECOND = Time.seconds(1)


def cleanup_of(config):
    strategies = config.get_cleanup_strategies()
    incremental = strategies.get_incremental_cleanup_strategy()
    rocksdb = strategies.get_rocksdb_compact_filter_cleanup_strategy()
    return {
        "background": strategies.is_cleanup_in_background(),
        "full snapshot": strategies.in_full_snapshot(),
        "incremental": incremental and (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()),
        "RocksDB": rocksdb and (rocksdb.get_query_time_after_num_entries(), rocksdb.get_periodic_compaction_time()),
    }


def test_the_defaults_are_flinks():
    config = Config.new_builder(SECOND).build()
    assert config.get_ttl() == SECOND
    assert config.get_update_type() is Config.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is Config.StateVisibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is Config.TtlTimeCharacteristic.ProcessingTime
    assert config.is_enabled()
    assert cleanup_of(config) == {
        "background": True,
        "full snapshot": False,
        "incremental": (5, False),
        "RocksDB": (1000, Duration.of_days(30)),
    }


def test_the_builder_sets_everything():
    config = (
        Config.new_builder(SECOND)
        .update_ttl_on_read_and_write()
        .return_expired_if_not_cleaned_up()
        .use_processing_time()
        .cleanup_full_snapshot()
        .cleanup_incrementally(10, True)
        .cleanup_in_rocksdb_compact_filter(500, Duration.of_hours(1))
        .set_ttl(Time.minutes(2))
        .build()
    )
    assert config.get_ttl() == Time.minutes(2)
    assert config.get_update_type() is Config.UpdateType.OnReadAndWrite
    assert config.get_state_visibility() is Config.StateVisibility.ReturnExpiredIfNotCleanedUp
    assert cleanup_of(config) == {
        "background": True,
        "full snapshot": True,
        "incremental": (10, True),
        "RocksDB": (500, Duration.of_hours(1)),
    }


def test_settings_can_be_taken_back():
    config = (
        Config.new_builder(SECOND)
        .update_ttl_on_read_and_write()
        .update_ttl_on_create_and_write()
        .return_expired_if_not_cleaned_up()
        .never_return_expired()
        .build()
    )
    assert config.get_update_type() is Config.UpdateType.OnCreateAndWrite
    assert config.get_state_visibility() is Config.StateVisibility.NeverReturnExpired


def test_no_strategy_is_left_without_background_cleanup():
    config = Config.new_builder(SECOND).disable_cleanup_in_background().build()
    assert cleanup_of(config) == {"background": False, "full snapshot": False, "incremental": None, "RocksDB": None}


def test_a_time_to_live_can_be_disabled():
    assert not Config.new_builder(SECOND).set_update_type(Config.UpdateType.Disabled).build().is_enabled()


@pytest.mark.parametrize("ttl", [Time.seconds(0), Time.milliseconds(-1)])
def test_a_time_to_live_must_be_positive(ttl):
    with pytest.raises(ValueError, match="positive"):
        Config.new_builder(ttl)


def test_a_time_to_live_may_be_a_duration():
    assert Config.Builder(Duration.of_seconds(1)).build().get_ttl() == SECOND  # type: ignore[arg-type]


def test_a_descriptor_takes_a_time_to_live():
    descriptor = ValueStateDescriptor("s", INT)
    assert descriptor.ttl_config is None
    config = Config.new_builder(SECOND).build()
    descriptor.enable_time_to_live(config)
    assert descriptor.ttl_config is config
    assert cloudpickle.loads(cloudpickle.dumps(descriptor)).ttl_config.get_ttl() == SECOND
