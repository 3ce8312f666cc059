"""The inline engine: the same plan, runtime and coordinator in one process, without Spark."""
