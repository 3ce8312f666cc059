"""Builds the compiled modules (src/flintstream/compiled), if the machine can, and lists the components of a wheel.

Without a C compiler the result is the same package in pure Python, which is slower and otherwise equal.
``FLINTSTREAM_PURE_PYTHON=1`` chooses that; ``FLINTSTREAM_COMPILED=1`` makes a failure an error, as wheels require.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "src/flintstream/compiled"

_OWN_IMPORT = re.compile(r"^ *from flintstream\.compiled\.\w+ import (?:\([^)]*\)|.*)\n", re.MULTILINE)
"""Imports that a compiled module does without, because its types (``.pxd``) import the same names."""


class CompiledModules(BuildHookInterface):
    """Compiles each module of the package with Cython, in place."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules and make the wheel one for this platform."""
        root = Path(self.root)
        self._directory = tempfile.TemporaryDirectory()
        bill = Path(self._directory.name) / "flintstream.cdx.json"
        build_data["sbom_files"] = [str(bill)]
        try:
            self._compile(root, build_data)
        finally:
            compiled = not build_data["pure_python"]
            bill.write_text(json.dumps(bill_of_materials(self.metadata, compiled=compiled), indent=2) + "\n")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what only the build needed."""
        self._directory.cleanup()

    def _compile(self, root: Path, build_data: dict[str, Any]) -> None:
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


def bill_of_materials(project: Any, *, compiled: bool) -> dict[str, Any]:
    """Return the list of components of a wheel in the format CycloneDX, as PEP 770 has it in ``.dist-info/sboms``.

    A wheel contains no package of others, but code that Cython generates. Those that it needs at run time are listed
    without versions, which are chosen where it is installed.
    """
    name, version = project.core.name, project.version
    own = {"type": "library", "bom-ref": f"pkg:pypi/{name}@{version}", "name": name, "version": version}
    needed = [_component(requirement, "required") for requirement in project.core.dependencies]
    for extra, requirements in project.core.optional_dependencies.items():
        if extra in {"dev", "examples"}:
            continue
        needed += [_component(requirement, "optional") for requirement in requirements]
    parts = list({part["bom-ref"]: part for part in reversed(needed) if part["name"] != name}.values())
    if compiled:
        cython = {"type": "library", "bom-ref": f"pkg:pypi/cython@{metadata.version('cython')}", "name": "cython"}
        parts.append({**cython, "version": metadata.version("cython"), "purl": cython["bom-ref"], "scope": "required"})
    parts.sort(key=lambda part: part["bom-ref"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {**own, "purl": own["bom-ref"], "licenses": [{"expression": project.core.license_expression}]},
            "tools": {
                "components": [{"type": "application", "name": "hatchling", "version": metadata.version("hatchling")}]
            },
        },
        "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def _component(requirement: str, scope: str) -> dict[str, str]:
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()
    purl = f"pkg:pypi/{name}"
    return {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "scope": scope}


@contextmanager
def _within(directory: str) -> Iterator[None]:
    """Make a directory the current one for a while."""
    before = Path.cwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


def compile_modules(root: Path) -> None:
    """Compile the modules below ``root`` and put them beside their sources."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    package = (root / PACKAGE).absolute()
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        # Cython writes paths from the current directory into tracebacks, which must not be those of this machine
        stack.enter_context(_within(directory))
        copies = Path("flintstream/compiled")
        copies.mkdir(parents=True)
        (copies / "__init__.py").touch()
        for included in [*package.glob("*.pxi"), *package.glob("*.pxd")]:
            shutil.copy(included, copies)
        sources = [shutil.copy(source, copies) for source in sorted(package.glob("*.pyx"))]
        for types in sorted(package.glob("*.pxd")):  # of a module in Python, except for that of _base.pyx
            if not types.with_suffix(".pyx").exists():
                code = Path(package, f"{types.stem[1:]}.py").read_text(encoding="utf-8")
                copy = copies / f"{types.stem}.py"
                copy.write_text(_OWN_IMPORT.sub("", code), encoding="utf-8")
                sources.append(copy)
        extensions = [
            Extension(
                f"flintstream.compiled.{Path(source).stem}",
                [str(source)],
                extra_compile_args=[] if sys.platform == "win32" else ["-O3", "-g0"],
            )
            for source in sources
        ]
        modules = cythonize(extensions, quiet=True, build_dir=directory)
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
