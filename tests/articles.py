"""Compile LaTeX in the classes of two-column journals, where they are installed."""

import shutil
import subprocess

import pytest

CLASSES = {"IEEEtran": "journal", "elsarticle": "5p,twocolumn"}
_NEEDED = ("IEEEtran.cls", "elsarticle.cls", "booktabs.sty", "ptmr7t.tfm")


def _is_installed():
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    return all(subprocess.run(["kpsewhich", name], stdout=subprocess.DEVNULL).returncode == 0 for name in _NEEDED)


needs_latex = pytest.mark.skipif(
    not _is_installed(), reason="pdflatex, IEEEtran, elsarticle, booktabs or Times are not installed"
)


def compile_article(folder, body, name, options):
    """Return the number of pages of a document of this class; errors and boxes that are too large are refused."""
    lines = [
        rf"\documentclass[{options}]{{{name}}}",
        r"\usepackage{array,booktabs,graphicx}",
        r"\extrafloats{500}\maxdeadcycles=1000",
        r"\begin{document}",
        body,
        r"\end{document}",
    ]
    path = folder / f"{name}.tex"
    path.write_text("\n".join(lines), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", path.name]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    log = path.with_suffix(".log").read_text(encoding="utf-8", errors="replace")
    faults = [line for line in log.splitlines() if line.startswith(("!", "Overfull")) or "too large" in line]
    assert not faults, faults
    return int(log.partition("Output written on")[2].partition("(")[2].partition(" page")[0])
