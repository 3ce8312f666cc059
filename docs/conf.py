"""Builds the documentation: `make docs`."""

import sys
from inspect import isclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.documentation.examples import public_objects

project = "flintstream"
author = "the flintstream authors"
copyright = "2026, the flintstream authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# A class shows what it inherits from bases that have no entry of their own, and from no others
_public = {cls for _, cls in public_objects().values() if isclass(cls)}
_bases = {base for cls in _public for base in cls.__mro__}
_entries = {base.__name__ for base in _bases if base in _public or not base.__module__.startswith("flintstream.")}
autodoc_default_options = {"inherited-members": ",".join(sorted(_entries | {"NoSettings"}))}
suppress_warnings = ["ref.python"]  # a type such as bytes is also the name of an attribute of some class

html_theme = "furo"
html_title = "flintstream"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"  # of a console session, only what one types is copied
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
