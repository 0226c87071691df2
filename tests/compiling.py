"""Compile what all test processes need, once: ``python -m tests.compiling`` before they start.

Processes that start together would compile the same bytecode, each on its own, and wait for each other's kernels.
"""

import hashlib
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "pqswarm"
STAMP = Path(__file__).parent / "__pycache__" / "kernels.sha256"
"""The digest of the sources that were compiled last."""

# Two programs that together compile most of the kernels, in about the same time each. The compiler keeps nearly all
# that it makes: looking for garbage would take a fifth of the time.
IMPORTS = """
import gc
gc.disable()
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CLASSIFIERS, FILTERS, REGRESSORS, Folds
from pqswarm.search import minimize
"""
COMPILING = (
    """
X, y = load_wine(return_X_y=True)
folds, masks = Folds.stratified(y, 5), X[:2] > 1
CLASSIFIERS["k-nn"]().evaluator(X, y, folds).neighbors(masks[0].nonzero()[0])
CLASSIFIERS["k-nn"]().evaluator(X, y, folds).errors(masks)
twice = X[:, [*range(13), 0]]
CLASSIFIERS["lda"]().evaluator(twice, y, folds).errors(twice[:2] > 0)
REGRESSORS["linear"]().evaluator(X, X[:, 0], folds).errors(masks)
for name in ("mutual-information-binned", "relieff"):
    FILTERS[name].scores(X, y)
""",
    """
for preset in ("paper", "field"):
    events = make_dataset(5, (float("inf"), 30.0), preset=preset, n_jobs=1)
X, y = events.X(float("inf")), events.y
folds = Folds.stratified(y, 5)
masks = X[:2] > X[2]
for name in ("kernel-nb", "gaussian-nb"):
    CLASSIFIERS[name]().evaluator(X, y, folds).errors(masks)
CLASSIFIERS["kernel-nb"]().estimator().fit(X, y).predict(X)
for name in ("2d-upso", "bpso", "cbpso", "ga", "aco"):
    minimize(name, CLASSIFIERS["gaussian-nb"]().evaluator(X, y, folds), 200)
""",
)

# Imports all tests, which writes their bytecode and that of what they import, and collects none.
IMPORTING = """
import pytest

class Importing:
    def pytest_pycollect_makeitem(self):
        return []

raise SystemExit(pytest.main(["-q", "-p", "no:xdist", "-o", "addopts=", "--collect-only", "tests"], [Importing()]) != 5)
"""


def _digest_of_kernels():
    """Digest of all sources with compiled functions, of the compiler's version and of the place of compiled code."""
    told = hashlib.sha256(f"{version('numba')} {os.environ.get('NUMBA_CACHE_DIR')}".encode())
    for path in sorted(SOURCES.rglob("*.py")):
        if b"njit" in (source := path.read_bytes()):
            told.update(source)
    return told.hexdigest()


def compile_kernels():
    """Compile the kernels, which are cached in files; return whether all could be compiled and used."""
    digest, children = _digest_of_kernels(), []
    if STAMP.exists() and STAMP.read_text() == digest:
        return True
    for program in COMPILING:
        command = [sys.executable, "-c", f"{IMPORTS}print(flush=True){program}"]
        children.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        children[-1].stdout.readline()  # it has imported all, and written bytecode for the next
    codes = [child.communicate() and child.returncode for child in children]
    if any(codes):
        return False
    STAMP.parent.mkdir(exist_ok=True)
    STAMP.write_text(digest)
    return True


def compile_tests():
    """Begin to write the bytecode of the tests, if there is none. If that fails, the tests themselves will say why."""
    if sys.dont_write_bytecode or any(Path(__file__).parent.glob("__pycache__/test_*.pyc")):
        return None
    return subprocess.Popen([sys.executable, "-c", IMPORTING], stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(not compile_kernels())
