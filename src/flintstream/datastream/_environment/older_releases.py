"""Methods of the environment that PyFlink has removed but programs still call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.datastream._settings import check_member, warn_removed
from flintstream.datastream.time_characteristic import TimeCharacteristic
from flintstream.options.execution import AUTO_WATERMARK_INTERVAL

if TYPE_CHECKING:
    from flintstream.common.execution_config import ExecutionConfig

_NO_JVM_TYPES = "records are Python objects, which no serializer of the JVM ever sees"


class OlderReleases:
    """The methods of an environment that PyFlink 2 no longer has. Each of them emits a warning."""

    _config: ExecutionConfig
    _time_characteristic = TimeCharacteristic.EventTime

    def set_stream_time_characteristic(self, characteristic: TimeCharacteristic) -> None:
        """Set the time characteristic. Processing time turns periodic watermarks off, others emit them every 200 ms.

        Raises:
            TypeError: ``characteristic`` is not a :class:`TimeCharacteristic`.

        >>> import warnings
        >>> from flintstream.datastream import StreamExecutionEnvironment, TimeCharacteristic
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.set_stream_time_characteristic(TimeCharacteristic.EventTime)
        """
        check_member(characteristic, TimeCharacteristic, "set_stream_time_characteristic()")
        warn_removed("set_stream_time_characteristic()", "windows and timers of the time domain you mean")
        self._time_characteristic = characteristic
        periodic = characteristic is not TimeCharacteristic.ProcessingTime
        self._config.set_auto_watermark_interval(AUTO_WATERMARK_INTERVAL.default if periodic else 0)

    def get_stream_time_characteristic(self) -> TimeCharacteristic:
        """Return the time characteristic; event time by default.

        >>> import warnings
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> StreamExecutionEnvironment.get_execution_environment().get_stream_time_characteristic().name
        'EventTime'
        """
        warn_removed("get_stream_time_characteristic()", "windows and timers of the time domain you mean")
        return self._time_characteristic

    def add_default_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """Accept a Kryo serializer, which has no effect: records are Python objects.

        >>> import warnings
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.add_default_kryo_serializer("com.shop.Order", "com.shop.OrderSerializer")
        """
        warn_removed("add_default_kryo_serializer()", f"nothing: {_NO_JVM_TYPES}")

    def register_type_with_kryo_serializer(self, type_class_name: str, serializer_class_name: str) -> None:
        """Accept a Kryo serializer, which has no effect: records are Python objects.

        >>> import warnings
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.register_type_with_kryo_serializer("com.shop.Order", "com.shop.OrderSerializer")
        """
        warn_removed("register_type_with_kryo_serializer()", f"nothing: {_NO_JVM_TYPES}")

    def register_type(self, type_class_name: str) -> None:
        """Accept a JVM type, which has no effect: records are Python objects.

        >>> import warnings
        >>> from flintstream.datastream import StreamExecutionEnvironment
        >>> warnings.simplefilter("ignore", DeprecationWarning)
        >>> StreamExecutionEnvironment.get_execution_environment().register_type("com.shop.Order")
        """
        warn_removed("register_type()", f"nothing: {_NO_JVM_TYPES}")
