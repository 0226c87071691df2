"""Linear discriminant analysis and linear regression by definition: plain NumPy, for features that are not collinear.

Where features are nearly collinear, or rounding could decide, the result is that of scikit-learn, which then fits
the fold.
"""

import numpy as np

from pqswarm._base.typing import FloatArray, IntArray


def lda_labels(
    train: FloatArray, labels: IntArray, test: FloatArray, shrinkage: float = 0.0, ddof: int = 0
) -> IntArray:
    """Return the class of each test sample by linear discriminant analysis.

    All classes share one covariance, that of the deviations from their class means; a fraction `shrinkage` of it is
    replaced by its mean variance. `ddof` degrees of freedom are subtracted per class: 1 for the svd solver of
    scikit-learn before 1.8.
    """
    classes, positions, counts = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.stack([train[labels == label].mean(axis=0) for label in classes])
    deviations = train - means[positions]
    covariance = deviations.T @ deviations / (len(train) - ddof * len(classes))
    uniform = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
    slopes = np.linalg.solve((1 - shrinkage) * covariance + shrinkage * uniform, means.T)
    constants = np.log(counts / len(train)) - 0.5 * (means.T * slopes).sum(axis=0)
    return np.asarray(classes[np.argmax(test @ slopes + constants, axis=1)])


def linear_predictions(
    train: FloatArray, target: FloatArray, test: FloatArray, alpha: float = 0.0, *, fit_intercept: bool = True
) -> FloatArray:
    """Return what linear regression predicts, or ridge regression with a penalty `alpha` on the squared coefficients.

    Examples
    --------
    >>> train, target = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> linear_predictions(train, target, np.array([[3.0]])).round(9).tolist()
    [7.0]
    """
    middle = train.mean(axis=0) if fit_intercept else np.zeros(train.shape[1])
    center = float(target.mean()) if fit_intercept else 0.0
    centered = train - middle
    penalized = np.vstack([centered, np.sqrt(alpha) * np.eye(train.shape[1])])
    right = np.concatenate([target - center, np.zeros(train.shape[1])])
    slopes = np.linalg.lstsq(penalized, right, rcond=None)[0]
    return np.asarray((test - middle) @ slopes + center)
