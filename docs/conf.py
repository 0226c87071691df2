"""Sphinx configuration, used by ``make docs``. Nothing is fetched, neither at build time nor when a page is read."""

import os
import sys
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"
sys.path.insert(0, str(Path(__file__).parent))  # for site_parts

from pqswarm import __version__ as release

project = "pqswarm"
author = "The pqswarm developers"
project_copyright = author
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "site_parts",
]
exclude_patterns = ["_build", "_templates", "auto_examples/**/*.ipynb", "auto_examples/**/*.py"]
templates_path = ["_templates"]
default_role = "literal"
smartquotes = False

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_block"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"  # types are in the docstrings
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"  # the names of classes leave no room for those of their methods
numpydoc_show_class_members = False
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "site_parts.gallery_order",
    "image_scrapers": ("site_parts.figures",),
    "reset_modules": ("matplotlib", "site_parts.use_report_style"),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1000,
    "write_computation_times": False,  # that page loads external scripts
    "remove_config_comments": True,
    "capture_repr": (),
    "abort_on_example_error": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"pqswarm {release}"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["pqswarm.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_show_sourcelink = False
html_use_index = False  # the search and the pages of the packages find every name
html_domain_indices = False
html_theme_options = {
    "logo": {"text": "pqswarm", "image_light": "_static/favicon.svg", "image_dark": "_static/favicon.svg"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
html_sidebars = {name: [] for name in ("index", "limitations", "changelog", "contributing")}
