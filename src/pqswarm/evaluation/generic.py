"""The cross-validated error of any scikit-learn estimator."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pqswarm._typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator, Scaling
from pqswarm.evaluation.folds import Folds

__all__ = ["GenericEvaluator", "first_line"]


class GenericEvaluator(ClassificationEvaluator):
    """The cross-validated error of any scikit-learn estimator, at that estimator's own speed.

    A failure of the estimator, or a label that `y` does not hold, is an error, never a score.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
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
        if self._classifies:
            super().__init__(X, y, folds, scaling=scaling, n_jobs=n_jobs)
            self.target = self.classes[self.labels]
        else:
            Evaluator.__init__(self, X, folds, scaling=scaling, n_jobs=n_jobs)
            self.target = check_target(y, len(self.data))
        self.estimator = estimator
        self.scoring = scoring
        if isinstance(scoring, list | tuple | set | dict):
            raise PqswarmError(f"scoring must be one score, not several: {scoring!r}.")
        self._scorer = check_scoring(estimator, scoring) if scoring is not None or not self._classifies else None
        self._views = self.fold_views()

    @property
    def is_loss(self) -> bool:
        """Whether the error is a loss, and not one minus a score."""
        return bool(getattr(self._scorer, "_sign", 1) < 0)

    def errors(self, masks: npt.ArrayLike) -> FloatArray:
        """Return the error of each subset; see :class:`GenericEvaluator` for what an error is."""
        if self._scorer is None:
            return super().errors(masks)
        # A score of 0 may be better than others: the empty subset is worse than all.
        return self._evaluate(masks, np.inf, self._score)

    def _score(self, masks: BoolArray) -> FloatArray:
        errors = np.empty(len(masks))
        scorer: Any = self._scorer

        def work(row: int) -> None:
            scores = list(self._fit_folds(masks[row], lambda model, X, test: scorer(model, X, self.target[test])))
            if not np.isfinite(scores).all():
                fold = int(np.argmin(np.isfinite(scores)))
                raise PqswarmError(
                    f"scoring {self.scoring or 'R2'!r} gives {scores[fold]} on fold {fold} of "
                    f"{self.folds.sizes[fold]} events, with features {np.flatnonzero(masks[row]).tolist()}: use "
                    f"other folds or another scoring."
                )
            errors[row] = -np.mean(scores) if self.is_loss else 1.0 - np.mean(scores)

        self.in_threads(work, list(range(len(masks))))
        return errors

    def error_counts(self, masks: npt.ArrayLike) -> IntArray:
        """Return the misclassified events of each fold; only for classifiers without a scoring."""
        if self._scorer is not None:
            raise PqswarmError("error counts exist only for classifiers without a scoring: use errors.")
        return super().error_counts(masks)

    def predictions(self, mask: npt.ArrayLike) -> AnyArray:
        """Return what is predicted for each event when its fold is tested."""
        if self._classifies:
            return super().predictions(mask)
        predicted = np.empty_like(self.target)
        for found, test in self._fit_folds(self.checked_mask(mask), lambda model, X, test: (model.predict(X), test)):
            predicted[test] = found
        return predicted

    def _fit_folds(self, mask: BoolArray, use: Callable[[Any, FloatArray, IntArray], Any]) -> Iterator[Any]:
        """Yield what is made of each fold's fitted model, the features of its test events, and their indices."""
        from sklearn.base import clone

        for number, (train, test) in enumerate(self.folds.split()):
            data = self._views[number % len(self._views)][:, mask]
            try:
                found = use(clone(self.estimator).fit(data[train], self.target[train]), data[test], test)
            except Exception as error:  # the code of others may fail in any way
                what = f"{type(self.estimator).__name__} cannot be used with features {np.flatnonzero(mask).tolist()}"
                raise PqswarmError(f"{what}: {first_line(error)}") from error
            yield found

    def _predict(self, masks: BoolArray) -> IntArray:
        predicted = np.empty((len(masks), len(self.data)), dtype=np.int64)

        def work(row: int) -> None:
            def predict(model: Any, X: FloatArray, test: IntArray) -> None:
                labels = np.asarray(model.predict(X))
                places = np.searchsorted(self.classes, labels).clip(max=self.classes.size - 1)
                unknown = labels[self.classes[places] != labels]
                if unknown.size:
                    raise PqswarmError(f"it predicts {unknown.tolist()[0]!r}, which is not a label of y.")
                predicted[row, test] = places

            list(self._fit_folds(masks[row], predict))

        self.in_threads(work, list(range(len(masks))))
        return predicted


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its kind, as a sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"{lines[0].rstrip('.')}."


def check_target(y: npt.ArrayLike, n: int) -> FloatArray:
    """Return the targets of a regression as floats, or raise an error that says what they must be."""
    target = np.asarray(y)
    if target.shape != (n,) or target.dtype.kind not in "iufb" or not np.isfinite(target.astype(np.float64)).all():
        raise PqswarmError(f"y must hold one finite number for each of the {n} events of X.")
    return target.astype(np.float64)
