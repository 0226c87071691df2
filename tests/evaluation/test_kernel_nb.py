"""The classifier KernelNB."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

import pqswarm
from tests.reference import classifiers as slow


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks():
    results = check_estimator(pqswarm.KernelNB(), on_fail=None)
    assert len(results) > 40
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


def test_predictions_and_probabilities():
    X, y = load_iris(return_X_y=True)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = pqswarm.KernelNB(0.2).fit(X[train], y[train])
    expected = slow.kernel_nb_predictions(X, y, [(train, test)], 0.2)[test]
    assert np.array_equal(model.predict(X[test]), expected)
    probabilities = model.predict_proba(X[test])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.log(probabilities), model.predict_log_proba(X[test]), atol=1e-9)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], expected)


@pytest.mark.parametrize("width", [1e-4, 0.004, 1.0])
@pytest.mark.parametrize("far", [1e3, 3e6, 1e8, 1e12, 1e20, 1e160])
def test_however_far_the_nearer_class_wins(width, far):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 1)), np.arange(200) % 2
    low, high = (int(y[X[:, 0].argmin()]), int(y[X[:, 0].argmax()]))
    model = pqswarm.KernelNB(width).fit(X, y)
    probabilities = model.predict_proba([[-far], [far], [0.5]])
    assert np.isfinite(model.predict_log_proba([[-far], [far]])).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    if far <= 1e8:  # further out the distances to all training samples are the same number
        assert model.predict([[-far], [far]]).tolist() == [low, high]


@pytest.mark.parametrize(("place", "width"), [(1.0, 1e-18), (1e6, 1e-12), (3.7, 1e-15), (0.3, 1e-10)])
def test_kernels_narrower_than_the_spacing_of_numbers_count_equal_values(place, width):
    """All training samples of the nearest value count, not just one, even if adding the bandwidth changes nothing."""
    X = np.array([[place]] * 5 + [[2 * place]] * 3 + [[place]] * 2 + [[3 * place]] * 7)
    model = pqswarm.KernelNB(width).fit(X, [0] * 8 + [1] * 9)
    scores = model.predict_joint_log_proba([[place], [2 * place], [3 * place]])
    peak = -np.log(width * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(scores[0], np.log([5 / 17, 2 / 17]) + peak, rtol=1e-14)
    np.testing.assert_allclose([scores[1, 0], scores[2, 1]], np.log([3 / 17, 7 / 17]) + peak, rtol=1e-14)


@pytest.mark.parametrize("wrong", [{"bandwidth": 0}, {"bandwidth": "wide"}, {"floor": -0.1}, {"floor": 0.6}])
def test_bad_hyperparameters(wrong):
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))} must be a number from"):
        pqswarm.KernelNB(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_the_floor_is_a_fraction_of_a_uniform_density():
    X, y = load_iris(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    model = pqswarm.KernelNB(0.05, floor=0.1).fit(X[train], y[train])
    joint = np.log(np.bincount(y[train]) / train.size)[np.newaxis].repeat(test.size, axis=0)
    for label in range(3):
        members = X[train][y[train] == label]
        for feature in range(4):
            z = (X[test, feature, np.newaxis] - members[:, feature]) / 0.05
            density = np.exp(-0.5 * z**2).mean(axis=1) / (0.05 * np.sqrt(2 * np.pi))
            joint[:, label] += np.log(0.9 * density + 0.1)
    np.testing.assert_allclose(model.predict_joint_log_proba(X[test]), joint, rtol=1e-12)
    expected = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X[test]), expected, rtol=1e-9)
    assert model.predict_joint_log_proba([[9.0] * 4]).min() > np.log(0.1**4 / 3) - 0.2


def test_underflow_rules_out_classes_as_plain_densities_do():
    X, y = np.array([[0.0], [0.01], [1.0], [0.99]]), np.array([0, 0, 1, 1])
    new = np.array([[0.6], [0.3], [0.16], [0.9]])  # 0.39 from the nearest of class 1, 0.29 from that of class 0, ...
    in_logarithms = pqswarm.KernelNB(0.004).fit(X, y).predict(new)
    assert in_logarithms.tolist() == [1, 0, 0, 1]
    plain = np.exp(-0.5 * ((new - X.T) / 0.004) ** 2).reshape(4, 2, 2).sum(axis=2)
    assert plain[:2].max() == 0 < plain[2:].max()
    assert pqswarm.KernelNB(0.004, underflow=True).fit(X, y).predict(new).tolist() == plain.argmax(axis=1).tolist()
