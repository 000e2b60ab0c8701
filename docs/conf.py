"""Sphinx configuration: Markdown pages, furo, API reference from docstrings. Builds offline."""

from __future__ import annotations

import numlift

project = "Numlift"
author = "The Numlift authors"
copyright = "2026, The Numlift authors"
version = release = numlift.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# Pages reached by a link need no place in the menu; docstrings are not written for docutils alone,
# and some are NumPy's own, with references into NumPy's manual.
suppress_warnings = ["toc.not_included", "toc.empty_glob", "docutils", "ref.python", "ref.ref"]

autodoc_member_order = "alphabetical"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # attributes in a docstring and as members are not described twice
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"Numlift {release}"
html_copy_source = False
