"""Effects over the specifications of a multiverse."""

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.statistics.specifications import explain_effects, joint_permutation


def test_fractions_of_a_balanced_design_add_up():
    chosen = [{"draws": a, "border": b} for a in ("uniform", "stepped") for b in ("zero", "symmetric")]
    explained = explain_effects([[1.0, 1.5], [1.0, 1.5], [3.0, 3.5], [3.0, 3.5]], chosen)
    assert explained.choices[0].means == {"uniform": 1.25, "stepped": 3.25}
    assert [choice.fraction for choice in explained.choices] == pytest.approx([16 / 17, 0.0])
    assert (explained.datasets, explained.rest) == pytest.approx((1 / 17, 0.0))
    with pytest.raises(PqswarmError, match="one row for each specification"):
        explain_effects([[1.0]], chosen)


def test_labels_are_exchanged_within_data_sets():
    errors = np.random.default_rng(0).uniform(0.1, 0.2, (20, 4, 2))
    median, p = joint_permutation(0.7 * errors, errors)
    assert median == pytest.approx(np.log(0.7))
    assert p < 0.05
    assert joint_permutation(errors, errors)[1] > 0.5
    with pytest.raises(PqswarmError, match="must be positive"):
        joint_permutation(0 * errors, errors)
