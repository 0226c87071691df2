"""The cross-validated error of any scikit-learn estimator."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np

from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import (
    ClassificationEvaluator,
    Evaluator,
    SubsetError,
    check_features,
    check_target,
    first_error_line,
)
from pqswarm.evaluation.estimators import (
    accepts_argument,
    as_numbers,
    check_estimator_classes,
    check_estimator_kind,
    check_estimator_weights,
    check_missing_for_estimator,
    fit_estimator,
    is_table,
    take_params,
    take_table,
    weights_key,
)
from pqswarm.evaluation.folds import CrossValidation, Folds
from pqswarm.evaluation.scaling import Scaling


class GenericEvaluator(ClassificationEvaluator):
    """The cross-validated error of any scikit-learn estimator, fitted as usual.

    A failure of the estimator, or a predicted label that is not in `y`, is an error. If the estimator works with all
    features or with a single one, a subset that it refuses is as bad as the empty one.

    Parameters
    ----------
    X : array_like, data frame or sparse matrix of shape (n_samples, n_features)
        Features. It may hold NaN if the estimator accepts it. Frames and sparse matrices reach the estimator as such,
        unscaled.
    y : array_like of shape (n_samples,) or (n_samples, n_targets)
        Labels, or targets of a regression; several, if the estimator accepts them.
    scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    folds : Folds or Splits
        Any cross-validation; the estimator is fitted to exactly these training sets.
    estimator : object
        A scikit-learn classifier or regressor; it is cloned, not fitted itself.
    scoring : str, callable or None, default=None
        None counts misclassified samples, or uses 1 - R2 for a regressor. The error of a score is 1 - score (accuracy,
        F1, ...), that of a negated loss the loss. With a scoring, and for regressors, the error of the empty subset is
        infinite.
    sample_weight : array_like of shape (n_samples,), default=None
        Weights of the samples in fitting and scoring.
    fit_params, score_params : mapping, default=None
        Other arguments of the estimator's `fit` and of the scorer. An array with one value per sample is split like
        the samples; the columns of `eval_set` and `X_val` are selected like the features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> evaluator = GenericEvaluator(X, y, Folds.stratified(y), DecisionTreeClassifier(random_state=0))
    >>> bool(evaluator.errors(np.ones((1, 13), dtype=bool))[0] < 0.2)
    True
    """

    takes_splits = True
    folds: Any

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: CrossValidation,
        estimator: Any,
        scoring: Any = None,
        *,
        scaling: Scaling = "once",
        n_jobs: int | None = None,
        sample_weight: ArrayLike | None = None,
        fit_params: Mapping[str, Any] | None = None,
        score_params: Mapping[str, Any] | None = None,
    ) -> None:
        self._classifies = check_estimator_kind(estimator)
        self._has_classes = self._classifies and np.ndim(y) != 2
        self._is_table = is_table(X)
        data = X if self._is_table else check_features(X, takes_nan=True)
        self._names = list(data.columns) if hasattr(data, "columns") else None
        numbers = as_numbers(data)
        if numbers is not None and np.isnan(numbers).any():
            check_missing_for_estimator(numbers, estimator, "none" if self._is_table else scaling, self._names)
            self.takes_nan = True
        self._tried = range(folds.n_folds if self._names and numbers is None else 1)
        if self._has_classes:
            super().__init__(data, y, cast("Folds", folds), scaling=scaling, n_jobs=n_jobs)
            self.target = self.classes[self.labels]
            check_estimator_classes(self.target)
        else:
            Evaluator.__init__(self, data, folds, scaling=scaling, n_jobs=n_jobs)
            self.target = np.asarray(y) if self._classifies else check_target(y, self.n_samples)
        self.estimator = estimator
        self.scoring = scoring
        self._fit_params = dict(fit_params or {})
        self._score_params = dict(score_params or {})
        self._set_scorer(sample_weight)
        self._views = self.fold_views()
        if self.counts_errors and folds.n_folds > 2:  # tests in part of the folds save fits
            edges = [round(part * folds.n_folds) for part in (0.0, 0.3, 0.6, 1.0)]
            self.blocks = tuple(int(size) for size in np.diff(edges))
        self._is_usable: bool | None = None  # determined when a subset is first refused

    def _set_scorer(self, sample_weight: ArrayLike | None) -> None:
        """Find the scorer, unless errors are counted, and pass the weights to it and to `fit`."""
        from sklearn.metrics import check_scoring

        if isinstance(self.scoring, list | tuple | set | dict):
            raise PqswarmError(f"scoring must be one score, not several: {self.scoring!r}.")
        is_rate = self._has_classes and self.scoring is None
        self.counts_errors = is_rate and sample_weight is None and not self._score_params
        self._scorer: Any = None
        if not self.counts_errors:
            self._scorer = check_scoring(self.estimator, "accuracy" if is_rate else self.scoring)
            self.is_loss = bool(getattr(self._scorer, "_sign", 1) < 0)
        if sample_weight is not None:
            weights = check_estimator_weights(sample_weight, self.n_samples)
            self._fit_params[weights_key(self.estimator)] = self._score_params["sample_weight"] = weights
            if not accepts_argument(getattr(self._scorer, "_score_func", self._scorer), "sample_weight"):
                raise PqswarmError(
                    f"scoring {self.scoring!r} does not accept sample_weight: leave it out, or use another score."
                )

    def _checked_data(self, X: Any) -> Any:
        return X if self._is_table else super()._checked_data(X)

    def fold_views(self, copies: int = 1) -> list[Any]:
        """Return the features scaled for each fold; a table as it is."""
        return [self.data] if self._is_table else super().fold_views(copies)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset, as :class:`GenericEvaluator` defines it."""
        if self.counts_errors:
            return super().errors(masks)

        def mean_errors(some: BoolArray) -> FloatArray:
            return self._as_errors(np.array([np.mean(row) for row in self._score(some)]))

        return self._evaluate(masks, self._empty_error, mean_errors)

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, shape (m, n_folds)."""
        if self.counts_errors:
            return super().fold_errors(masks)

        empty = np.full(self.folds.n_folds, self._empty_error)
        return self._evaluate(masks, empty, lambda some: self._as_errors(self._score(some)))

    def _as_errors(self, scores: FloatArray) -> FloatArray:
        return -scores if self.is_loss else 1.0 - scores

    @property
    def _empty_error(self) -> float:
        """The error of the empty subset, worse than all others; a score of 0 may not be."""
        return 1.0 if self._classifies and self.scoring is None else np.inf

    def _score(self, masks: BoolArray) -> FloatArray:
        """Scores of each fold for each non-empty mask: shape (m, n_folds)."""
        scores_of_folds = np.empty((len(masks), self.folds.n_folds))

        def score(model: Any, X: Any, test: IntArray) -> Any:
            return self._scorer(model, X, self.target[test], **take_params(self._score_params, self.n_samples, test))

        def work(row: int) -> None:
            scores = self._attempt(lambda mask: list(self._fit_folds(mask, score)), masks[row])
            if scores is None:
                scores_of_folds[row] = -np.inf if self.is_loss else 1.0 - self._empty_error
                return
            scores_of_folds[row] = scores
            if not np.isfinite(scores).all():
                fold = int(np.argmin(np.isfinite(scores)))
                raise PqswarmError(
                    f"scoring {self.scoring or ('accuracy' if self._classifies else 'R2')!r} gives {scores[fold]} on "
                    f"fold {fold} of {self.folds.sizes[fold]} samples, with features "
                    f"{self._named(masks[row])}: use other folds or another scoring."
                )

        self.in_threads(work, range(len(masks)))
        return scores_of_folds

    def error_counts(self, masks: ArrayLike) -> IntArray:
        """Return the misclassified samples of each fold; only for classifiers without scoring and weights."""
        if not self.counts_errors:
            raise PqswarmError("error counts exist only for classifiers without scoring: use errors.")
        counts = super().error_counts(masks)
        return np.where(counts < 0, self.folds.sizes, counts)

    def raced(self, masks: ArrayLike, first: IntArray, limits: FloatArray) -> FloatArray:
        """Test subsets in one block of folds after the other, and drop each that exceeds a limit.

        Parameters
        ----------
        masks : array_like of shape (m, n_features)
            Subsets.
        first : ndarray of int, shape (m,)
            The block in which each is tested first; the next ones follow, after the last the first.
        limits : ndarray of shape (m, 2)
            The largest sums of the parts of the error in the first and in the first two of these blocks.

        Returns
        -------
        ndarray of shape (m, 4)
            The part of the error in each block, the sum of its fold errors over the number of all folds, and the error
            as :meth:`errors` returns it; NaN where a subset was not tested.
        """
        checked = self.checked_masks(masks)
        edges = np.cumsum((0, *self.blocks))
        counts = np.zeros((len(checked), self.folds.n_folds), dtype=np.int64)
        parts = np.full((len(checked), 4), np.nan)
        racing = np.ones(len(checked), dtype=np.bool_)
        sums = np.zeros(len(checked))
        for stage in range(3):
            for block, folds in enumerate(range(*pair) for pair in pairwise(edges.tolist())):
                rows = np.flatnonzero(racing & ((first + stage) % 3 == block))
                if not rows.size:
                    continue
                sizes = self.folds.sizes[folds.start : folds.stop]
                counted = self._evaluate(checked[rows], sizes, partial(self._counts, folds=folds))
                counts[rows, folds.start : folds.stop] = counted
                # Added one by one: the same sum for any number of subsets.
                rates = np.cumsum(counted / sizes, axis=1)[:, -1]
                parts[rows, block] = rates / self.folds.n_folds
                sums[rows] += parts[rows, block]
                refused = rows[(counted < 0).any(axis=1)]  # wrong in every fold
                parts[refused] = 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0
                racing[refused] = False
            if stage < 2:
                racing &= ~(sums > limits[:, stage])
        parts[racing, 3] = self.folds.mean_rates(counts[racing])
        return parts

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the prediction for each sample when its fold is tested; only if each is tested once."""
        if self._classifies:
            return super().predictions(mask)
        predicted = np.empty((self.folds.n_rows, *self.target.shape[1:]))
        folds = self._fit_folds(self.checked_mask(mask), lambda model, X, _: model.predict(X))
        for fold, values in enumerate(folds):
            predicted[self.folds.rows(fold)] = values
        return self._by_sample(predicted)

    def _fit_folds(
        self, mask: BoolArray, use: Callable[[Any, FloatArray, IntArray], Any], folds: range | None = None
    ) -> Iterator[Any]:
        """Yield `use` of each fold's fitted model, the features of its test samples, and their indices."""
        from sklearn.base import clone

        data = None
        for number in range(self.folds.n_folds) if folds is None else folds:
            train = self.folds.train(number)
            test = self.folds.test(number)
            if data is None or number < len(self._views):
                data = take_table(self.fold_view(number), np.flatnonzero(mask), axis=1)
            params = take_params(self._fit_params, self.n_samples, train, mask)
            try:
                model = fit_estimator(clone(self.estimator), take_table(data, train), self.target[train], **params)
                result = use(model, take_table(data, test), test)
            except Exception as error:  # third-party code may raise anything
                raise SubsetError.of(self.estimator, mask, error, self._names) from error
            yield result

    def _named(self, mask: BoolArray) -> list[Any]:
        """The features of a mask, by name if they have names."""
        return [place if self._names is None else self._names[place] for place in np.flatnonzero(mask).tolist()]

    def refusal(self, mask: BoolArray) -> str:
        """Return why the estimator refuses a subset, as a sentence; empty if it does not.

        Numbers are tried in the first fold, other columns in all, since a fold may lack a category.
        """
        try:
            list(self._fit_folds(mask, lambda model, X, _: model.predict(X), self._tried))
        except SubsetError as error:
            return first_error_line(error.__cause__ or error)
        return ""

    def _attempt(self, evaluate: Callable[[BoolArray], list[Any]], mask: BoolArray) -> list[Any] | None:
        """Evaluate a mask; None if the estimator refuses it, but not every mask."""
        try:
            return evaluate(mask)
        except SubsetError:
            if self._is_usable is None:
                all_features = np.ones(self.n_features, dtype=np.bool_)
                masks = (all_features, *np.eye(self.n_features, dtype=np.bool_))
                self._is_usable = any(self._is_taken(evaluate, other) for other in masks)
            if not self._is_usable:
                raise
            return None

    def _is_taken(self, evaluate: Callable[[BoolArray], list[Any]], mask: BoolArray) -> bool:
        try:
            evaluate(mask)
        except SubsetError:
            return False
        return True

    def _labels_of_folds(self, mask: BoolArray, folds: range | None = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the test samples of each fold and their predicted positions in `classes`."""

        def predict(model: Any, X: FloatArray, test: IntArray) -> tuple[IntArray, IntArray]:
            labels = np.asarray(model.predict(X))
            places = np.searchsorted(self.classes, labels).clip(max=self.classes.size - 1)
            unknown = labels[self.classes[places] != labels]
            if unknown.size:
                raise PqswarmError(f"it predicts {unknown.tolist()[0]!r}, which is not a label of y.")
            return test, places

        return self._fit_folds(mask, predict, folds)

    def _counts(self, masks: BoolArray, folds: range | None = None) -> IntArray:
        """Misclassified samples of all folds, or of consecutive ones; -1 if the estimator refuses the subset there."""
        n_tested = self.folds.n_folds if folds is None else len(folds)
        counts = np.empty((len(masks), n_tested), dtype=np.int64)

        def work(row: int) -> None:
            labels = self._attempt(lambda mask: list(self._labels_of_folds(mask, folds)), masks[row])
            wrong = (np.count_nonzero(places != self.labels[test]) for test, places in labels or ())
            counts[row] = -1 if labels is None else list(wrong)

        self.in_threads(work, range(len(masks)))
        return counts

    def _predict(self, masks: BoolArray) -> IntArray:
        predicted = np.empty((len(masks), self.folds.n_rows), dtype=np.int64)

        def work(row: int) -> None:
            for fold, (_, places) in enumerate(self._labels_of_folds(masks[row])):
                predicted[row, self.folds.rows(fold)] = places

        self.in_threads(work, range(len(masks)))
        return predicted
