"""A script that gives each step the same name; mypy needs --allow-redefinition for that, Pyright nothing."""

from flintstream.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
ds = env.from_collection([1, 2])
ds = ds.map(lambda number: str(number))
ds = ds.key_by(lambda text: text[0])
ds = ds.count_window(2)
ds = ds.reduce(lambda one, other: one + other)
ds.map(lambda text: text.upper()).print()
env.execute()
