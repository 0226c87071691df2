"""Sphinx extensions: formulas without a network, figures outside pyplot, and reports as pages of the site."""

import re
import shutil

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from matplotlib.figure import Figure
from module_index import write_module_index
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.osutil import relative_uri
from sphinx_gallery.scrapers import figure_rst

from pqswarm.report.style import STYLE

ORDER = (
    "plot_events",
    "plot_bands",
    "plot_worked_example",
    "plot_slow_motion",
    "plot_own_swarms",
    "plot_convergence",
    "plot_noise",
    "plot_selector",
    "plot_statistics",
    "plot_recording",
)


def gallery_order(name):
    """Sort key of an example: the listed ones in order, others after them."""
    stem = name.removesuffix(".py")
    return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)


def use_report_style(gallery_conf, name):  # noqa: ARG001
    """Draw each example in the style of the report."""
    plt.rcParams.update(STYLE)


def figures(block, block_vars, gallery_conf):  # noqa: ARG001
    """Save the new figures of a block: those of pyplot and those returned by pqswarm functions."""
    names = block_vars["example_globals"]
    seen = names.setdefault("__figures_seen__", [])
    drawn = [plt.figure(number) for number in plt.get_fignums()]
    drawn += [value for value in names.values() if isinstance(value, Figure) and value not in [*seen, *drawn]]
    seen += drawn
    paths = []
    for figure, path in zip(drawn, block_vars["image_path_iterator"], strict=False):
        figure.savefig(path, dpi=110, bbox_inches="tight", transparent=True)  # pqswarm.css inverts it in dark mode
        paths.append(path)
    plt.close("all")
    return figure_rst(paths, gallery_conf["src_dir"])


def _mathml(self, node, *, block):
    try:
        self.body.append(tex2mathml(node.astext(), as_block=block))
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
    raise nodes.SkipNode


def _skip(app, what, name, member, skip, options):  # noqa: ARG001
    """Skip the methods that scikit-learn adds to all estimators."""
    return True if name.startswith("set_") and name.endswith("_request") else skip


def _quote(app, what, name, obj, options, lines):  # noqa: ARG001
    """Quote names in shapes such as (n_features_in_,): docutils reads a word that ends in an underscore as a link."""
    lines[:] = [re.sub(r"shape \(.*?\)", _quote_names, line) for line in lines]


def _quote_names(shape):
    return re.sub(r"\w+_\b", r"``\g<0>``", shape[0])


def _link_reports(app, doctree, docname):
    """Link reports as pages of the site; other files are downloads."""
    for node in list(doctree.findall(addnodes.download_reference)):
        path = app.env.relfn2path(node["reftarget"], docname)[0]
        if path.endswith(".html"):
            address = relative_uri(app.builder.get_target_uri(docname), path)
            node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=address))


def _keep_together(app, doctree, docname):  # noqa: ARG001
    """Keep a percent sign on the line of its number."""
    for text in list(doctree.findall(nodes.Text)):
        if re.search(r"\d %", text) and not isinstance(text.parent, nodes.literal | nodes.literal_block):
            text.parent.replace(text, nodes.Text(re.sub(r"(?<=\d) %", "\u00a0%", text)))


def _copy_reports(app, exception):
    """Copy the reports to where pages link them."""
    if exception is None and app.builder.format == "html":
        for path in (app.srcdir / "results").glob("*.html"):
            shutil.copy(path, app.outdir / "results" / path.name)


_NAMES = (
    (r"<summary>(?=<span class=\"toctree-toggle\")", '<summary aria-label="Pages of this section">'),
    (r"<div role=\"list\" class=\"citation-list\">", '<div class="citation-list">'),
    (r"(<div class=\"citation\" id=\"[^\"]*\") role=\"doc-biblioentry\"", r"\1"),
    (
        r"(<p><a class=\"reference internal\" href=\"[^\"]*\")(><span class=\"doc\">([^<]*)</span>)",
        r'\1 aria-label="\3"\2',
    ),
)
"""What the theme and numpydoc write without a name or with a wrong role, and what screen readers need."""


def _name_for_screen_readers(app, exception):
    """Correct the pages as written: the theme has no template for these parts."""
    if exception is not None or app.builder.format != "html":
        return
    for path in app.outdir.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        named = text
        for pattern, replacement in _NAMES:
            named = re.sub(pattern, replacement, named)
        if named != text:
            path.write_text(named, encoding="utf-8")


def setup(app):
    """Register the module index, reports, and MathML formulas, which browsers render without a script."""
    app.connect("doctree-resolved", _link_reports)
    app.connect("doctree-resolved", _keep_together)
    app.connect("build-finished", _copy_reports)
    app.connect("build-finished", _name_for_screen_readers)
    app.connect("builder-inited", write_module_index)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _quote, priority=100)  # before numpydoc
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda self, node: _mathml(self, node, block=False), None),
        block_renderers=(lambda self, node: _mathml(self, node, block=True), None),
    )
    return {"parallel_read_safe": True}
