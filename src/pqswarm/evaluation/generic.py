"""The cross-validated error of any scikit-learn estimator."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pqswarm._typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import Evaluator, Scaling, check_features
from pqswarm.evaluation.folds import Folds

__all__ = ["GenericEvaluator"]


class GenericEvaluator(Evaluator):
    """The cross-validated error of any scikit-learn estimator, at that estimator's own speed.

    A failure of the estimator is an error, never a score.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`Evaluator`.
    estimator : object
        A scikit-learn classifier or regressor; it is cloned, never fitted itself.
    scoring : str, callable or None
        None counts misclassified events, or takes 1 - R2 of a regressor. The error of a score is 1 - score
        (accuracy, F1, ...); that of a negated loss is the loss. With a scoring, and for regressors, the error of
        the empty subset is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GenericEvaluator(X, y, Folds.stratified(y), DecisionTreeClassifier(random_state=0))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.2)
    True
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        folds: Folds,
        estimator: Any,
        scoring: Any = None,
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
    ) -> None:
        from sklearn.base import is_classifier, is_regressor
        from sklearn.metrics import check_scoring

        known = hasattr(estimator, "fit") and hasattr(estimator, "get_params")
        self._classifies = known and is_classifier(estimator)
        if not (self._classifies or (known and is_regressor(estimator))):
            raise PqswarmError(f"estimator must be a scikit-learn classifier or regressor, not {estimator!r}.")
        target = np.asarray(y)
        super().__init__(
            X, target if self._classifies else _as_if_two_classes(X, target), folds, scaling=scaling, n_jobs=n_jobs
        )
        self.estimator = estimator
        self.target = self.classes[self.labels] if self._classifies else target.astype(np.float64)
        self.scoring = scoring
        if isinstance(scoring, list | tuple | set | dict):
            raise PqswarmError(f"scoring must be one score, not several: {scoring!r}.")
        self._scorer = check_scoring(estimator, scoring) if scoring is not None or not self._classifies else None
        numbers = range(folds.n_folds) if scaling == "fold" else [0]
        self._views = [self.fold_data(fold) for fold in numbers]

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss, and not one minus a score."""
        return bool(getattr(self._scorer, "_sign", 1) < 0)

    def errors(self, masks: npt.ArrayLike) -> FloatArray:
        """Return the error of each subset; see :class:`GenericEvaluator` for what an error is."""
        if self._scorer is None:
            return super().errors(masks)
        checked = self.checked_masks(masks)
        scorer = self._scorer
        errors = np.full(len(checked), np.inf)  # of an empty subset: a score of 0 may be better than others

        def work(row: int) -> None:
            scores = [scorer(model, X, self.target[test]) for model, X, test in self._fit_folds(checked[row])]
            if not np.isfinite(scores).all():
                fold = int(np.argmin(np.isfinite(scores)))
                raise PqswarmError(
                    f"scoring {self.scoring or 'R2'!r} gives {scores[fold]} on fold {fold} of "
                    f"{self.folds.sizes[fold]} events, with features {np.flatnonzero(checked[row]).tolist()}: use "
                    f"other folds or another scoring."
                )
            errors[row] = -np.mean(scores) if self.is_loss else 1.0 - np.mean(scores)

        self._in_threads(work, np.flatnonzero(checked.any(axis=1)).tolist())
        return errors

    def error_counts(self, masks: npt.ArrayLike) -> IntArray:
        """Return the misclassified events of each fold; only for classifiers without a scoring."""
        if self._scorer is not None:
            raise PqswarmError("error counts exist only for classifiers without a scoring: use errors.")
        return super().error_counts(masks)

    def predictions(self, mask: npt.ArrayLike) -> AnyArray:
        """Return what is predicted for each event when its fold is tested."""
        checked = self.checked_mask(mask)
        predicted = np.empty_like(self.target)
        for model, X, test in self._fit_folds(checked):
            predicted[test] = model.predict(X)
        return predicted

    def _fit_folds(self, mask: BoolArray) -> Any:
        """Yield for each fold the fitted model, the features of its test events, and their indices."""
        from sklearn.base import clone

        for number, (train, test) in enumerate(self.folds.split()):
            data = self._views[number if len(self._views) > 1 else 0][:, mask]
            yield clone(self.estimator).fit(data[train], self.target[train]), data[test], test

    def _predict(self, masks: BoolArray) -> IntArray:
        predicted = np.empty((len(masks), len(self.data)), dtype=np.int64)

        def work(row: int) -> None:
            for model, X, test in self._fit_folds(masks[row]):
                predicted[row, test] = np.searchsorted(self.classes, model.predict(X))

        self._in_threads(work, list(range(len(masks))))
        return predicted


def _as_if_two_classes(X: npt.ArrayLike, target: AnyArray) -> IntArray:
    """Stand-in labels for a regression, whose targets are checked here."""
    n = len(check_features(X))
    if target.shape != (n,) or target.dtype.kind not in "iufb" or not np.isfinite(target.astype(np.float64)).all():
        raise PqswarmError(f"y must hold one finite number for each of the {n} events of X.")
    return np.arange(n, dtype=np.int64) % 2
