"""What libraries reach behind a table: a view with the names of Java's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flintstream.common._java_view import JavaView, behind
from flintstream.common.configuration import Configuration
from flintstream.table._logical.planned import Planned

if TYPE_CHECKING:
    from collections.abc import Callable


class Zone:
    """A time zone, as Java's ``ZoneId``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def get_id(self) -> str:
        """Return its name."""
        return self.name


class SessionConfig(Configuration):
    """The settings of a session, as Java's ``TableConfig``."""

    zone = "UTC"

    def get_local_time_zone(self) -> Zone:
        """Return the time zone of the session."""
        return Zone(self.zone)


class Settings:
    """What a table's environment shows in Java: its settings."""

    def __init__(self, config: SessionConfig) -> None:
        self.config = config

    def get_config(self) -> SessionConfig:
        """Return the settings."""
        return self.config


class JavaTable(JavaView):
    """A table with Java's names of the methods."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        return self._environment if name == "getTableEnvironment" else super().__getattr__(name)

    def _environment(self) -> JavaView:
        session = behind(self)._session
        config = SessionConfig(session.env._configuration)
        config.zone = session.zone
        return JavaView(Settings(config))


class JavaBacked(Planned):
    """A table that libraries look behind."""

    @property
    def _t_env(self) -> object:
        """The table environment, which libraries ask for."""
        return vars(self)["_executor"].environment

    @property
    def _j_table(self) -> JavaTable:
        """A view with Java's names of the methods, which libraries call."""
        return JavaTable(self)
