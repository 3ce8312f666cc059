"""Builds the compiled modules (src/flintstream/compiled), if the machine can.

Without a C compiler the result is the same package in pure Python, which is slower and otherwise equal.
``FLINTSTREAM_PURE_PYTHON=1`` chooses that; ``FLINTSTREAM_COMPILED=1`` makes a failure an error, as wheels require.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "src/flintstream/compiled"


class CompiledModules(BuildHookInterface):
    """Compiles each module of the package with Cython, in place."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the contract
        """Compile the modules and make the wheel one for this platform."""
        root = Path(self.root)
        if os.environ.get("FLINTSTREAM_PURE_PYTHON"):
            return
        try:
            compile_modules(root)
        except BaseException as error:
            if os.environ.get("FLINTSTREAM_COMPILED") or isinstance(error, KeyboardInterrupt):
                raise
            self.app.display_warning(f"flintstream without compiled modules, which is slower: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"] += [f"{PACKAGE}/*.so", f"{PACKAGE}/*.pyd"]


def compile_modules(root: Path) -> None:
    """Compile the modules below ``root`` and put them beside their sources."""
    from Cython.Build import cythonize  # noqa: PLC0415 - there only while building
    from setuptools import Distribution, Extension  # noqa: PLC0415

    package = root / PACKAGE
    with tempfile.TemporaryDirectory() as directory:
        # In a directory named like the module, Cython writes that path into tracebacks, instead of one of this machine
        copies = Path(directory, "flintstream/compiled")
        copies.mkdir(parents=True)
        for included in package.glob("*.pxi"):
            shutil.copy(included, copies)
        sources = [shutil.copy(source, copies) for source in sorted(package.glob("*.pyx"))]
        extensions = [
            Extension(
                f"flintstream.compiled.{Path(source).stem}",
                [str(source)],
                extra_compile_args=[] if sys.platform == "win32" else ["-O3", "-g0"],
            )
            for source in sources
        ]
        before = Path.cwd()
        os.chdir(directory)  # tracebacks name included files by their path from here
        try:
            modules = cythonize(extensions, quiet=True, build_dir=directory)
        finally:
            os.chdir(before)
        command: Any = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
        command.build_lib, command.build_temp = f"{directory}/lib", f"{directory}/temp"
        command.ensure_finalized()
        command.run()
        for built in command.get_outputs():
            target = package / Path(built).name
            target.unlink(missing_ok=True)  # a process may have the old one mapped
            shutil.copy(built, target)


if __name__ == "__main__":
    compile_modules(Path(__file__).parent)
