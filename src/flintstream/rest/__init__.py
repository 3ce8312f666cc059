"""Flink's REST interface for the jobs of this user on this machine, running and ended."""
