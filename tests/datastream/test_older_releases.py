"""Programs written for older releases of PyFlink still run, with a warning."""

from __future__ import annotations

import pytest

from flintstream.datastream import StreamExecutionEnvironment
from flintstream.datastream.time_characteristic import TimeCharacteristic


@pytest.fixture
def env():
    return StreamExecutionEnvironment.get_execution_environment()


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("add_default_kryo_serializer", ("com.example.Type", "com.example.Serializer")),
        ("register_type_with_kryo_serializer", ("com.example.Type", "com.example.Serializer")),
        ("register_type", ("com.example.Type",)),
    ],
)
def test_serializers_of_the_jvm_are_accepted_and_warned_of(env, method, arguments):
    with pytest.warns(DeprecationWarning, match=rf"{method}.*nothing: records are Python objects"):
        getattr(env, method)(*arguments)


@pytest.mark.parametrize(
    ("characteristic", "interval"),
    [
        (TimeCharacteristic.ProcessingTime, 0),
        (TimeCharacteristic.IngestionTime, 200),
        (TimeCharacteristic.EventTime, 200),
    ],
)
def test_the_time_characteristic_sets_the_interval_of_watermarks(env, characteristic, interval):
    with pytest.warns(DeprecationWarning, match="time domain"):
        env.set_stream_time_characteristic(characteristic)
    with pytest.warns(DeprecationWarning, match="time domain"):
        assert env.get_stream_time_characteristic() is characteristic
    assert env.get_config().get_auto_watermark_interval() == interval


def test_time_is_event_time_by_default(env):
    with pytest.warns(DeprecationWarning, match="time domain"):
        assert env.get_stream_time_characteristic() is TimeCharacteristic.EventTime


def test_another_time_characteristic_is_refused(env):
    with pytest.raises(TypeError, match=r"TimeCharacteristic\.EventTime, got 'EventTime'"):
        env.set_stream_time_characteristic("EventTime")
