"""What DataFrames share in a process: their environment, and the settings for the next one."""

from __future__ import annotations

from flintstream.common.configuration import Configuration


class Buffer:
    """The environment, and settings that wait for one."""

    def __init__(self) -> None:
        """Start without both."""
        self.environment: object = None
        self.values: dict[str, str] = {}

    def configuration(self) -> Configuration:
        """Return the settings for a new environment."""
        return Configuration.from_dict(self.values)


BUFFER = Buffer()
