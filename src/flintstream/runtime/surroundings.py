"""What a process needs before it can load anything of the user's program."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from flintstream.runtime.main_module import MainModule


class Surroundings(NamedTuple):
    """Where modules of the program are found; shipped apart from what is pickled by reference to them."""

    sys_path: tuple[str, ...] = ()
    """The driver's module search path: modules beside the user's script must be found in the workers."""
    pyflink: bool = False
    """Whether ``import pyflink`` is served, too."""
    argv: tuple[str, ...] = ()
    """The program and its arguments."""
    main: MainModule | None = None
    """The program's ``__main__``; None where the process has its own."""

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of this process."""
        compat = sys.modules.get("flintstream.compat.pyflink")
        return cls(
            tuple(os.path.abspath(entry) for entry in sys.path),  # noqa: PTH100 - '' is the current directory
            compat is not None and compat.is_installed(),
            tuple(sys.argv),
        )

    def with_main(self) -> Surroundings:
        """Return these with what other processes need of the ``__main__`` of this one."""
        return self._replace(main=MainModule.of(sys.modules["__main__"]))

    def enter(self) -> None:
        """Make this process find what the other one does; what it finds already stays first."""
        for entry in self.sys_path:
            if entry not in sys.path:
                sys.path.append(entry)
        if self.pyflink:
            from flintstream.compat.pyflink import install  # noqa: PLC0415 - only for programs that import pyflink

            install()
        if self.main is not None:
            sys.argv[:] = self.argv
            self.main.enter()
