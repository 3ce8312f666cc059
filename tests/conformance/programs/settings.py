# mypy: disable-error-code="import-not-found,import-untyped"
"""Settings after they have been set; each program creates separate objects, so that no job is changed."""

from pyflink.common import Configuration, Duration, Time
from pyflink.common.config_options import ConfigOption, ConfigOptions
from pyflink.common.typeinfo import Types
from pyflink.datastream import (
    CheckpointingMode,
    EmbeddedRocksDBStateBackend,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemorySize,
    PredefinedOptions,
    SlotSharingGroup,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from tests.conformance.registry import collected, program


@program()
def a_configuration_keeps_values_of_every_type(env):
    config = Configuration()
    config.set_string("text", "x;y").set_integer("number", -7).set_boolean("flag", True).set_float("part", 0.5)
    config.set_bytearray("bytes", bytearray(b"ab"))
    return collected(
        [
            (config.get_string("text", ""), config.get_string("none", "default")),
            (config.get_integer("number", 1), config.get_integer("none", 1)),
            (config.get_boolean("flag", False), config.get_boolean("none", False)),
            (config.get_float("part", 2.0), config.get_float("none", 2.0)),
            (config.get_bytearray("bytes", bytearray()), config.get_bytearray("none", bytearray(b"-"))),
            (config.get_integer("text2", 3), sorted(config.key_set())),
            (config.contains_key("flag"), config.contains_key("none")),
            (config.remove_config("flag"), config.remove_config("flag"), config.get_boolean("flag", False)),
        ]
    )


@program()
def a_configuration_reads_numbers_from_text(env):
    """A value that was set as text is read as the requested type."""
    config = Configuration.from_dict({"number": "12", "flag": "true", "part": "1.5"})
    return collected(
        [config.get_integer("number", 0), config.get_boolean("flag", False), config.get_float("part", 0.0)]
    )


@program()
def configurations_are_put_together(env):
    one = Configuration.from_dict({"a": "1", "b": "2"})
    two = Configuration().set_string("b", "20").set_string("c", "30")
    copy = Configuration(one)
    one.add_all(two)
    copy.add_all(two, "x.")
    target = {"z": "0"}
    two.add_all_to_dict(target)
    return collected(
        [
            sorted(one.to_dict().items()),
            sorted(copy.to_dict().items()),
            sorted(target.items()),
            one == Configuration(one),
            one == two,
            Configuration.parse_list_value("a;b;c"),
            Configuration.parse_list_value("[x, 'y z']"),
            Configuration.parse_list_value(""),
        ]
    )


@program()
def options_are_built_for_every_type(env):
    options = [
        ConfigOptions.key("a").boolean_type().default_value(True),
        ConfigOptions.key("a").int_type().default_value(1),
        ConfigOptions.key("a").long_type().default_value(2**40),
        ConfigOptions.key("a").float_type().default_value(0.5),
        ConfigOptions.key("a").double_type().default_value(0.25),
        ConfigOptions.key("a").string_type().default_value("x"),
        ConfigOptions.key("a").string_type().no_default_value(),
    ]
    return collected(isinstance(option, ConfigOption) for option in options)


@program(config={"pipeline.auto-watermark-interval": "200 ms"})
def the_execution_config_keeps_numbers(env):
    config = env.get_config()
    before = [
        config.get_auto_watermark_interval(),
        config.get_latency_tracking_interval(),
        config.get_parallelism(),
        config.get_max_parallelism(),
        config.get_task_cancellation_interval(),
        config.get_task_cancellation_timeout(),
    ]
    config.set_auto_watermark_interval(50).set_latency_tracking_interval(7).set_parallelism(2).set_max_parallelism(16)
    config.set_task_cancellation_interval(100).set_task_cancellation_timeout(200)
    after = [
        config.get_auto_watermark_interval(),
        config.get_latency_tracking_interval(),
        config.get_parallelism(),
        config.get_max_parallelism(),
        config.get_task_cancellation_interval(),
        config.get_task_cancellation_timeout(),
    ]
    return collected([before, after, (env.get_parallelism(), env.get_max_parallelism())])


@program()
def the_execution_config_has_switches(env):
    config = env.get_config()

    def switches():
        return [
            config.is_closure_cleaner_enabled(),
            config.has_auto_generated_uids_enabled(),
            config.is_object_reuse_enabled(),
            config.is_use_snapshot_compression(),
        ]

    first = switches()
    config.enable_object_reuse().set_use_snapshot_compression(True)
    config.disable_closure_cleaner().disable_auto_generated_uids()
    second = switches()
    config.disable_object_reuse().set_use_snapshot_compression(False)
    config.enable_closure_cleaner().enable_auto_generated_uids()
    return collected([first, second, switches()])


@program()
def job_parameters_are_read_back(env):
    config = env.get_config()
    before = config.get_global_job_parameters()
    config.set_global_job_parameters({"environment": "test", "limit": "10"})
    return collected([before, sorted(config.get_global_job_parameters().items())])


@program()
def the_checkpoint_config_keeps_what_is_set(env):
    config = env.get_checkpoint_config()

    def values():
        return [
            config.is_checkpointing_enabled(),
            config.get_checkpointing_mode().name,
            config.get_checkpoint_interval(),
            config.get_checkpoint_timeout(),
            config.get_min_pause_between_checkpoints(),
            config.get_max_concurrent_checkpoints(),
            config.is_fail_on_checkpointing_errors(),
            config.get_tolerable_checkpoint_failure_number(),
            config.is_externalized_checkpoints_enabled(),
        ]

    first = values()
    config.set_checkpoint_interval(5000).set_checkpoint_timeout(70_000).set_min_pause_between_checkpoints(300)
    config.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE).set_max_concurrent_checkpoints(1)
    config.set_tolerable_checkpoint_failure_number(2)
    config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
    second = [*values(), config.get_externalized_checkpoint_retention().name]
    config.set_fail_on_checkpointing_errors(True)
    third = config.get_tolerable_checkpoint_failure_number()
    config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS)
    return collected([first, second, third, config.is_externalized_checkpoints_enabled()])


@program()
def unaligned_checkpoints_are_switched(env):
    config = env.get_checkpoint_config()

    def values():
        return [
            config.is_unaligned_checkpoints_enabled(),
            config.is_force_unaligned_checkpoints(),
            env.is_unaligned_checkpoints_enabled(),
            env.is_force_unaligned_checkpoints(),
        ]

    first = values()
    config.enable_unaligned_checkpoints().set_force_unaligned_checkpoints(True)
    second = values()
    config.disable_unaligned_checkpoints().set_force_unaligned_checkpoints(False)
    config.set_aligned_checkpoint_timeout(Duration.of_seconds(3))
    third = config.get_aligned_checkpoint_timeout() == Duration.of_millis(3000)
    config.set_alignment_timeout(Duration.of_minutes(1))
    return collected([first, second, values(), third, config.get_alignment_timeout() == Duration.of_seconds(60)])


@program()
def durations_of_all_units_are_compared(env):
    hours = [Duration.of_days(1), Duration.of_hours(24), Duration.of_minutes(24 * 60), Duration.of_seconds(86_400)]
    fractions = [Duration.of_millis(1), Duration.of_nanos(1_000_000)]
    return collected([[d == hours[0] for d in hours], fractions[0] == fractions[1], hours[0] == fractions[0]])


@program()
def times_of_all_units_are_milliseconds(env):
    times = [Time.milliseconds(5), Time.seconds(5), Time.minutes(5), Time.hours(5), Time.days(5)]
    return collected([time.to_milliseconds() for time in times] + [Time.seconds(60) == Time.minutes(1)])


@program()
def the_environment_keeps_what_is_set(env):
    first = [
        env.get_max_parallelism(),
        env.get_buffer_timeout(),
        env.is_chaining_enabled(),
        env.is_chaining_of_operators_with_different_max_parallelism_enabled(),
        env.get_checkpoint_interval(),
        env.get_checkpointing_mode().name,
        env.get_default_savepoint_directory(),
    ]
    env.set_max_parallelism(64).set_buffer_timeout(20).disable_operator_chaining()
    env.enable_checkpointing(1000, CheckpointingMode.AT_LEAST_ONCE)
    env.set_default_savepoint_directory("file:///savepoints").enable_changelog_state_backend(True)
    second = [
        env.get_max_parallelism(),
        env.get_buffer_timeout(),
        env.is_chaining_enabled(),
        env.get_checkpoint_interval(),
        env.get_checkpointing_mode().name,
        env.get_checkpointing_consistency_mode().name,
        env.get_default_savepoint_directory(),
        env.is_changelog_state_backend_enabled(),
    ]
    env.configure(Configuration.from_dict({"pipeline.max-parallelism": "32", "parallelism.default": "3"}))
    return collected([first, second, (env.get_max_parallelism(), env.get_parallelism())])


@program()
def the_local_parallelism_is_remembered(env):
    before = env.get_default_local_parallelism()
    try:
        env.set_default_local_parallelism(7)
        return collected([before > 0, env.get_default_local_parallelism()])
    finally:
        env.set_default_local_parallelism(before)


@program()
def rocksdb_keeps_its_options(env):
    backend = EmbeddedRocksDBStateBackend(enable_incremental_checkpointing=True)
    first = [backend.is_incremental_checkpoints_enabled(), backend.get_predefined_options().name]
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(8)
    backend.set_db_storage_paths("/data/one", "/data/two")
    second = [backend.get_predefined_options().name, backend.get_number_of_transfer_threads(), backend.get_options()]
    return collected([first, second, [path.split(":")[-1] for path in backend.get_db_storage_paths()]])


@program()
def backends_of_state_are_made(env):
    return collected([type(HashMapStateBackend()).__name__, type(EmbeddedRocksDBStateBackend()).__name__])


@program()
def checkpoint_storages_keep_their_paths(env):
    memory = JobManagerCheckpointStorage("file:///checkpoints", 1000)
    files = FileSystemCheckpointStorage("file:///checkpoints", 512, 8192)
    return collected(
        [
            (memory.get_checkpoint_path(), memory.get_max_state_size(), memory.get_savepoint_path()),
            (files.get_checkpoint_path(), files.get_savepoint_path()),
            (files.get_min_file_size_threshold(), files.get_write_buffer_size()),
            (JobManagerCheckpointStorage().get_checkpoint_path(), JobManagerCheckpointStorage().get_max_state_size()),
            FileSystemCheckpointStorage("file:///checkpoints").get_min_file_size_threshold(),
        ]
    )


@program()
def sizes_of_memory_are_read_in_all_units(env):
    size = MemorySize.of_mebi_bytes(3 * 1024)
    small = MemorySize(bytes_size=2000)
    return collected(
        [
            (size.get_bytes(), size.get_kibi_bytes(), size.get_mebi_bytes()),
            (size.get_gibi_bytes(), size.get_tebi_bytes()),
            (small.get_bytes(), small.get_kibi_bytes(), small < size, small <= size),
            (str(size), str(small), small == MemorySize(bytes_size=2000)),
        ]
    )


@program()
def slot_sharing_groups_keep_their_resources(env):
    group = (
        SlotSharingGroup.builder("heavy")
        .set_cpu_cores(1.5)
        .set_task_heap_memory(MemorySize.of_mebi_bytes(64))
        .set_task_off_heap_memory(MemorySize.of_mebi_bytes(16))
        .set_managed_memory(MemorySize.of_mebi_bytes(32))
        .set_external_resource("gpu", 1.0)
        .build()
    )
    light = (
        SlotSharingGroup.builder("light")
        .set_cpu_cores(0.5)
        .set_task_heap_memory_mb(8)
        .set_task_off_heap_memory_mb(4)
        .set_managed_memory_mb(2)
        .build()
    )
    env.register_slot_sharing_group(group)
    none = SlotSharingGroup.builder("none").build()
    memory = [
        (g.get_task_heap_memory(), g.get_task_off_heap_memory(), g.get_managed_memory()) for g in (group, light, none)
    ]
    return collected(
        [
            [(g.get_name(), g.get_cpu_cores()) for g in (group, light, none)],
            [[size and size.get_mebi_bytes() for size in sizes] for sizes in memory],
            sorted(group.get_external_resources()),
        ]
    )


@program()
def descriptors_keep_their_names_and_functions(env):
    def add(one, other):
        return one + other

    reducing = ReducingStateDescriptor("reducing", add, Types.INT())
    descriptors = [
        ValueStateDescriptor("value", Types.INT()),
        ListStateDescriptor("list", Types.INT()),
        MapStateDescriptor("map", Types.INT(), Types.STRING()),
        reducing,
    ]
    return collected(
        [[descriptor.get_name() for descriptor in descriptors], reducing.get_reduce_function().reduce(1, 2)]
    )


@program()
def an_aggregating_descriptor_keeps_its_function(env):
    from pyflink.datastream import AggregateFunction

    class Longest(AggregateFunction):
        def create_accumulator(self):
            return ""

        def add(self, value, accumulator):
            return max(value, accumulator, key=len)

        def get_result(self, accumulator):
            return len(accumulator)

        def merge(self, acc_a, acc_b):
            return max(acc_a, acc_b, key=len)

    function = AggregatingStateDescriptor("longest", Longest(), Types.STRING()).get_agg_function()
    return collected([function.get_result(function.merge(function.add("abc", function.create_accumulator()), "ab"))])


@program()
def a_time_to_live_keeps_how_it_is_renewed(env):
    def described(ttl):
        return (
            ttl.is_enabled(),
            ttl.get_ttl().to_milliseconds(),
            ttl.get_update_type().name,
            ttl.get_state_visibility().name,
            ttl.get_ttl_time_characteristic().name,
        )

    builder = StateTtlConfig.new_builder(Time.seconds(10))
    first = builder.build()
    second = builder.update_ttl_on_read_and_write().return_expired_if_not_cleaned_up().set_ttl(Time.days(1)).build()
    third = builder.update_ttl_on_create_and_write().never_return_expired().use_processing_time().build()
    builder.set_update_type(StateTtlConfig.UpdateType.Disabled)
    builder.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
    builder.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)
    return collected([described(first), described(second), described(third), builder.build().is_enabled()])


@program()
def a_time_to_live_keeps_how_it_is_cleaned_up(env):
    def strategies(choose):
        return choose(StateTtlConfig.new_builder(Time.seconds(10))).build().get_cleanup_strategies()

    plain = strategies(lambda builder: builder)
    full = strategies(lambda builder: builder.cleanup_full_snapshot())
    small = strategies(lambda builder: builder.cleanup_incrementally(7, True)).get_incremental_cleanup_strategy()
    rocks = strategies(lambda builder: builder.cleanup_in_rocksdb_compact_filter(500, Duration.of_days(2)))
    rocks = rocks.get_rocksdb_compact_filter_cleanup_strategy()
    disabled = strategies(lambda builder: builder.disable_cleanup_in_background())
    return collected(
        [
            (plain.is_cleanup_in_background(), plain.in_full_snapshot()),
            full.in_full_snapshot(),
            (small.get_cleanup_size(), small.run_cleanup_for_every_record()),
            rocks.get_query_time_after_num_entries(),
            rocks.get_periodic_compaction_time() == Duration.of_days(2),
            disabled.is_cleanup_in_background(),
        ]
    )
