"""The way of every algorithm stays what it was: with another order of draws, published results would be stale."""

import numpy as np
import pytest

from pqswarm.evaluation import GaussianNBEvaluator, Memo
from pqswarm.search import ALGORITHMS, minimize
from tests.evaluation.data import dataset

# After 600 evaluations with seed 1: the mask, and after how many evaluations each better subset was found.
GOLDEN = {
    "2d-upso": ("4050c790", [0, 10, 28, 54, 82, 114, 136, 243, 584]),
    "2d-gpso": ("4200df90", [0, 10, 28, 54, 82, 114, 270, 432, 471, 547]),
    "2d-lpso": ("48062f94", [0, 10, 28, 37, 52, 173, 213, 387, 401]),
    "2d-clpso": ("40700618", [0, 10, 28, 83, 141, 142, 148, 171, 358, 571]),
    "ga": ("c1caef1c", [0, 10, 28, 33, 91, 285]),
    "aco": ("68518f18", [0, 10, 28, 35, 52, 121, 338, 547]),
    "bpso": ("48929f90", [0, 10, 28, 73, 77, 91, 99, 103, 112, 192, 242, 380, 462, 506, 521]),
    "cbpso": ("4812bf90", [0, 10, 28, 73, 77, 91, 99, 103, 112, 192, 242, 380, 401, 556]),
    "chbpso": ("c2518798", [0, 10, 28, 73, 77, 115, 169, 187, 327]),
    "sffs": ("00000680", [0, 2, 7, 20, 22, 31, 51, 53, 62, 82]),
}


@pytest.fixture(scope="module")
def evaluator():
    return Memo(GaussianNBEvaluator(*dataset("breast-cancer")))


def test_every_algorithm_has_a_golden_result():
    assert set(GOLDEN) == set(ALGORITHMS)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name, evaluator):
    """Error counts are integers, so that this holds on every machine."""
    result = minimize(name, evaluator, 600, seed=1)
    found = np.packbits(result.mask).tobytes().hex(), result.improvements[:, 0].astype(int).tolist()
    assert found == GOLDEN[name]
