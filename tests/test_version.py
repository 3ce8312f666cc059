"""The source of ``flintstream.__version__``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import flintstream

SOURCE = Path(flintstream.__file__).parents[1]


def python(code, *, path, isolated=False):
    """Run code in a separate Python, without this environment's packages if it is isolated."""
    options = ["-S"] if isolated else []
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *options, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip()


def test_the_version_is_that_of_the_installed_metadata(tmp_path):
    installed = tmp_path / "flintstream-7.8.9.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: flintstream\nVersion: 7.8.9\n")
    assert python("import flintstream; print(flintstream.__version__)", path=[tmp_path, SOURCE]) == "7.8.9"


def test_code_that_is_not_installed_has_no_known_version():
    code = "import flintstream; print(flintstream.__version__)"
    assert python(code, path=[SOURCE], isolated=True) == "0.0.0+unknown"


def test_the_version_is_not_looked_up_before_it_is_asked_for():
    code = (
        "import sys, flintstream.datastream, flintstream.checkpoint.state_file;"
        "import flintstream.coordinator.checkpointing.checkpoints;"
        "print('importlib.metadata' in sys.modules, '__version__' in vars(sys.modules['flintstream']))"
    )
    assert python(code, path=[SOURCE]) == "False False"


def test_other_names_of_the_package_are_missing_as_in_any_module():
    with pytest.raises(AttributeError, match="module 'flintstream' has no attribute 'nonsense'"):
        flintstream.nonsense  # type: ignore[attr-defined] # noqa: B018
