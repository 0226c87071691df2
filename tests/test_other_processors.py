"""Results and data sets do not depend on the processor, BLAS or threads; deciding code calls no library."""

import ast
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.depth import DEPTH
from tests.golden.make import compute_golden
from tests.old_libraries import OLD_LIBRARIES
from tests.results_to_compare import compute_all, of_libraries

ROOT = Path(__file__).parents[1]
MACHINES = {
    "old libraries, two threads": (
        OLD_LIBRARIES | {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
        [],
    ),
    "any processor of the family, one thread": (
        {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_NUM_THREADS": "1"}
        | {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        [] if DEPTH > 1 else ["--quickly"],
    ),
}


@pytest.fixture(scope="module")
def here():
    return compute_all(), of_libraries()


@pytest.fixture(scope="module", params=MACHINES)
def told(request):
    """What one process computes on such a machine: the kernels are compiled once for all that is compared."""
    settings, options = MACHINES[request.param]
    run = subprocess.run(
        [sys.executable, "-m", "tests.results_to_compare", *options],
        env={**os.environ, **settings},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.mark.slow
def test_results_are_the_same_elsewhere(told, here):
    results, libraries = here
    assert len(told["results"]) > (40 if "golden" in told else 10)
    assert {name: value for name, value in told["results"].items() if value != results[name]} == {}
    if platform.machine() == "x86_64" and "Haswell" in libraries["BLAS"]:  # other libraries were at work indeed
        assert told["libraries"]["products"] != libraries["products"]


GOLDEN = json.loads((ROOT / "tests/golden/dataset.json").read_text())


def test_golden_numbers():
    """Streams and definitions stay what they were, to the last bit: seeds in papers must keep their meaning."""
    assert json.loads(json.dumps(compute_golden())) == GOLDEN


@pytest.mark.slow
def test_golden_numbers_elsewhere(told):
    assert told.get("golden", GOLDEN) == GOLDEN  # quickly, data sets are left to the tests of their source below


COMPILED = [*(ROOT / "src/pqswarm").rglob("*kernels.py"), *(ROOT / "src/pqswarm/_kernels").glob("[!_]*.py")]

# Where searches, the evaluators that decide by themselves, and what makes data sets are written, and all that is
# compiled. What they need of these functions is in pqswarm._kernels.math; products of matrices are sums; sorts that
# leave the order of equals open are stable.
DECIDING = [
    *COMPILED,
    *(
        path
        for path in (ROOT / "src/pqswarm/search").glob("*.py")
        if path not in COMPILED and path.stem != "conformance"
    ),
    *(ROOT / f"src/pqswarm/evaluation/exact/{name}.py" for name in ("knn/evaluator", "naive_bayes/estimator")),
]
LIBRARY = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "power", "float_power"} | {
    *("sin", "cos", "tan", "tanh", "arctan", "hypot", "cbrt", "dot", "vdot", "matmul", "einsum", "inner", "tensordot"),
    *("partition", "argpartition", "linalg"),
}
KNOWN = {
    "estimator.py": {"exp", "log"},  # probabilities, after the labels are decided
    "filter_kernels.py": {"**"},  # an order in which events are tried: it decides nothing
}


def library_calls(path):
    """Calls of NumPy, BLAS or the C library whose rounding or order may depend on the processor."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
            if node.attr in LIBRARY:
                yield node.attr
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            whole = [n.value for n in (node.left, node.right) if isinstance(n, ast.Constant)]
            known = re.fullmatch(r"2\.0 \*\* \(?-?\d+\)?", ast.unparse(node))  # a constant without rounding
            if not known and (not whole or not all(isinstance(value, int) for value in whole)):
                yield "**"


@pytest.mark.parametrize("path", DECIDING, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_library_decides(path):
    assert set(library_calls(path)) == KNOWN.get(path.name, set())


# Compiled functions that may be contracted or reordered: they filter, by bounds that allow for any rounding of sums.
FILTERING = {"naive_bayes/kernels": {"_add_nb_deviations"}}


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_compiled_code_that_decides_is_not_contracted(path):
    """Only filters use fast-math: those of k-NN in single precision, and those listed above."""
    loose = {
        node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and "fastmath" in "".join(map(ast.unparse, node.decorator_list))
    }
    place = f"{path.parent.name}/{path.stem}"
    assert place in ("knn/filter_kernels", "knn/kernels") or loose == FILTERING.get(place, set())
