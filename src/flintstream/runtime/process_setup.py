"""The setup that a process needs before it can load the user's program."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

from flintstream.runtime.logs import LogSetup
from flintstream.runtime.main_module import MainModule


class ProcessSetup(NamedTuple):
    """The module search path of the program, sent before the objects that are pickled by reference to modules."""

    sys_path: tuple[str, ...] = ()
    """The driver's module search path, so that workers find the modules beside the user's script."""
    finders: tuple[str, ...] = ()
    """The functions, as ``module:name``, that install the driver's custom module finders, such as the one for
    ``import pyflink``: the ``installed_by`` attributes of the finders on ``sys.meta_path``."""
    argv: tuple[str, ...] = ()
    """The program and its arguments."""
    main: MainModule | None = None
    """The program's ``__main__``; None if the process has its own."""
    logs: LogSetup = LogSetup()
    """How the driver logs."""

    @classmethod
    def here(cls) -> ProcessSetup:
        """Return the setup of this process."""
        installers = (getattr(finder, "installed_by", None) for finder in sys.meta_path)
        return cls(
            tuple(os.path.abspath(entry) for entry in sys.path),  # noqa: PTH100 - '' is the current directory
            tuple(installer for installer in installers if isinstance(installer, str)),
            tuple(sys.argv),
            logs=LogSetup.here(),
        )

    def with_main(self) -> ProcessSetup:
        """Return this setup together with this process's ``__main__``."""
        return self._replace(main=MainModule.of(sys.modules["__main__"]))

    def enter(self) -> None:
        """Make this process find the same modules as the other one; the existing search path keeps precedence."""
        for entry in self.sys_path:
            if entry not in sys.path:
                sys.path.append(entry)
        for installer in self.finders:
            module, _, function = installer.partition(":")
            getattr(import_module(module), function)()
        self.logs.enter()
        if self.main is not None:
            sys.argv[:] = self.argv
            self.main.enter()
