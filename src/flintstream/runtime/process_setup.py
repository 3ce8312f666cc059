"""What a process needs before it can load anything of the user's program."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

from flintstream.runtime.main_module import MainModule


class ProcessSetup(NamedTuple):
    """Where modules of the program are found; shipped apart from what is pickled by reference to them."""

    sys_path: tuple[str, ...] = ()
    """The driver's module search path: modules beside the user's script must be found in the workers."""
    finders: tuple[str, ...] = ()
    """The functions, as ``module:name``, that install the driver's own finders of modules, such as those of
    ``import pyflink``: what the finders on ``sys.meta_path`` say as ``installed_by``."""
    argv: tuple[str, ...] = ()
    """The program and its arguments."""
    main: MainModule | None = None
    """The program's ``__main__``; None where the process has its own."""

    @classmethod
    def here(cls) -> ProcessSetup:
        """Return the setup of this process."""
        installers = (getattr(finder, "installed_by", None) for finder in sys.meta_path)
        return cls(
            tuple(os.path.abspath(entry) for entry in sys.path),  # noqa: PTH100 - '' is the current directory
            tuple(installer for installer in installers if isinstance(installer, str)),
            tuple(sys.argv),
        )

    def with_main(self) -> ProcessSetup:
        """Return this setup with what other processes need of the ``__main__`` of this one."""
        return self._replace(main=MainModule.of(sys.modules["__main__"]))

    def enter(self) -> None:
        """Make this process find what the other one does; what it finds already stays first."""
        for entry in self.sys_path:
            if entry not in sys.path:
                sys.path.append(entry)
        for installer in self.finders:
            module, _, function = installer.partition(":")
            getattr(import_module(module), function)()
        if self.main is not None:
            sys.argv[:] = self.argv
            self.main.enter()
