"""Builds the documentation: `make docs`."""

project = "flintstream"
author = "the flintstream authors"
copyright = "2026, the flintstream authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
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
