"""``pyflink.shell``: the environments of PyFlink's interactive shell, for scripts and notebooks that import them."""

from __future__ import annotations

from flintstream import common, datastream, table

s_env = datastream.StreamExecutionEnvironment.get_execution_environment()
st_env = table.StreamTableEnvironment.create(s_env)
for _package in (common, datastream, table):
    globals().update({name: getattr(_package, name) for name in _package.__all__})
