"""Scores of the labels or probabilities that an exact evaluator predicts."""

import warnings
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.base import ClassificationEvaluator, Evaluator, ExactEvaluator, SubsetError
from pqswarm.evaluation.estimators import accepts_argument, refit_fold, take_table
from pqswarm.evaluation.exact.naive_bayes.evaluator import KernelNBEvaluator

_Formula = Callable[[AnyArray, AnyArray, AnyArray], FloatArray]
"""A score of the weights of recognized, true and guessed samples by class, (..., n_classes)."""
_EPSILON = float(np.finfo(np.float64).eps)
_ROUNDING = 1e-9  # of differences of weighted counts, below which scikit-learn decides what is zero
_ACCURATE = 1e-9  # rounding of a log probability up to which smooth scores are computed


def is_slow_score(scorer: Any, evaluator: type[Evaluator], n_classes: int, weighted: bool) -> bool:
    """Return whether a scorer needs more than :class:`ScoredEvaluator` can compute from an exact evaluator."""
    function = getattr(scorer, "_score_func", None)
    method = getattr(scorer, "_response_method", None)
    if function is None or (weighted and not accepts_argument(function, "sample_weight")):
        return True
    if method == "predict":
        return False
    kwargs = scorer._kwargs
    binary = n_classes == 2
    by_class = method == "predict_proba"
    averaged = kwargs.get("average", "macro") in ("macro", "weighted") and kwargs.get("multi_class") == "ovr"
    computable = {
        "log_loss": not kwargs and by_class,
        "brier_score_loss": not kwargs and by_class and binary,
        "roc_auc_score": kwargs.keys() <= {"average", "multi_class"} and (binary or (averaged and by_class)),
    }
    return not (hasattr(evaluator, "class_scores") and computable.get(function.__name__, False))


class ScoredEvaluator(Evaluator):
    """The cross-validated score of a classifier with an exact evaluator, from its predicted labels or probabilities.

    Accuracy, balanced accuracy, precision, recall, F1, Jaccard, the Matthews correlation and Cohen's kappa are computed
    for all subsets of a batch at once; scikit-learn computes any other score of labels, fold by fold. Log loss, Brier
    loss and the area under the ROC curve follow from the evaluator's `class_scores`; where rounding could change the
    order of two samples, scikit-learn fits the fold. Scores agree with scikit-learn's to rounding.
    """

    takes_splits = True

    def __init__(
        self, evaluator: ClassificationEvaluator, scorer: Any, sample_weight: FloatArray | None = None
    ) -> None:
        e = evaluator
        if is_slow_score(scorer, type(e), e.classes.size, sample_weight is not None):
            raise PqswarmError(
                f"scorer must be a scorer of scikit-learn that can be computed from labels, not {scorer!r}."
            )
        super().__init__(e.data, e.folds, scaling=e.scaling, n_jobs=e.n_jobs)
        self.evaluator = e
        self._function = scorer._score_func
        self.is_loss = bool(scorer._sign < 0)
        self._kwargs = dict(scorer._kwargs)
        self._method = scorer._response_method
        samples = self.folds.row_samples
        self._folds = self.folds.row_folds
        self._given = None if sample_weight is None else sample_weight[samples]
        self._weights = np.ones(samples.size, dtype=np.int64) if self._given is None else self._given
        self._sizes = np.bincount(self._folds, self._weights, self.folds.n_folds)
        cells = self._folds * e.classes.size + e.row_labels
        true = np.bincount(cells, self._weights, self.folds.n_folds * e.classes.size).astype(self._weights.dtype)
        self._true = true.reshape(-1, e.classes.size)
        self._score = None
        if self._method == "predict" and (self._weights > 0).all():  # of a class without weight, scikit-learn decides
            self._score = _find_score_formula(
                self._function.__name__, self._kwargs, e.classes, sample_weight is not None
            )

    def _checked_data(self, X: Any) -> Any:
        return X

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, shape (m, n_folds); infinite for an empty one."""
        return self._evaluate(masks, np.full(self.folds.n_folds, np.inf), self._fold_errors)

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the predicted label of each sample when its fold is tested."""
        return self.evaluator.predictions(mask)

    def _fold_errors(self, masks: BoolArray) -> FloatArray:
        refused = np.zeros(len(masks), dtype=np.bool_)
        if self._method == "predict":
            scores = self._counted_scores(masks)
            if not isfinite(np.add.reduce(scores, axis=None)):
                predicted = self.evaluator._predict(masks)
                refused = predicted[:, 0] < 0
                predicted[refused] = 0
                scores = self._scores(predicted)
        else:
            scores = np.empty((len(masks), self.folds.n_folds))

            def work(row: int) -> None:
                try:
                    scores[row] = self._response_scores(np.flatnonzero(masks[row]))
                except SubsetError:
                    refused[row] = True

            self.in_threads(work, range(len(masks)))
        if not np.isfinite(scores[~refused]).all():
            row, fold = np.argwhere(~np.isfinite(scores) & ~refused[:, np.newaxis])[0]
            raise PqswarmError(
                f"{self._function.__name__} gives {scores[row, fold]} on fold {fold} of {self.folds.sizes[fold]} "
                f"samples, with features {np.flatnonzero(masks[row]).tolist()}: use other folds or another scoring."
            )
        errors = scores if self.is_loss else 1.0 - scores
        errors[refused] = np.inf
        return errors

    def _counted_scores(self, masks: BoolArray) -> FloatArray:
        """The scores of each fold by a backend that counts errors, or by class, without labels; else NaN."""
        e: Any = self.evaluator
        scores = np.full((len(masks), self.folds.n_folds), np.nan)
        if self._score is None or self._given is not None or not isinstance(e, ExactEvaluator):
            return scores
        if self._score is _accuracy_score:
            return np.asarray((self._sizes - e._counts(masks)) / self._sizes)
        if isinstance(e, KernelNBEvaluator) and e.device == "cpu":
            for rows, hits in e.hits(masks, self._true, self._score is not _balanced_accuracy_score):
                scores[rows] = self._score(hits[0], self._true, hits[-1])
        return scores

    def _scores(self, predicted: IntArray) -> FloatArray:
        """The scores of each fold for predicted positions in the classes, (m, n): shape (m, n_folds)."""
        from pqswarm.evaluation._kernels import count_class_hits

        e = self.evaluator
        scores = np.full((len(predicted), e.folds.n_folds), np.nan)
        if self._score is not None:
            right, guessed = np.zeros((2, *scores.shape, e.classes.size), dtype=self._weights.dtype)
            count_class_hits(predicted, e.row_labels, self._folds, self._weights, right, guessed)
            scores = self._score(right, self._true, guessed)
        for row, fold in np.argwhere(np.isnan(scores)):  # undefined, or a score without a formula here
            rows = self.folds.rows(int(fold))
            true = e.classes[e.row_labels[rows]]
            labels = e.classes[predicted[row, rows]]
            more = {} if self._given is None else {"sample_weight": self._given[rows]}
            with warnings.catch_warnings(action="ignore"):  # such as those of classes that are not predicted
                scores[row, fold] = self._function(true, labels, **self._kwargs, **more)
        return scores

    def _response_scores(self, selected: IntArray) -> FloatArray:
        """The scores of probabilities or decisions in each fold."""
        e: Any = self.evaluator
        scores, errors = e.class_scores(selected)
        ranks = self._function.__name__ == "roc_auc_score"
        responses, slack = self._respond(scores, errors)
        self._refit(np.unique(self._folds[~(errors < np.inf)]), selected, responses, slack)
        score = self._mean_areas if ranks else self._smooth_scores
        values, doubtful = score(responses, slack, selected)
        if doubtful.size:
            self._refit(doubtful, selected, responses, slack)
            values, _ = score(responses, slack, selected)
        return values

    def _respond(self, scores: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The probabilities, or decisions, (n, n_classes), as scikit-learn computes them, and their rounding."""
        from scipy.special import expit, logsumexp, softmax

        e: Any = self.evaluator
        with np.errstate(all="ignore"):
            if not hasattr(e.estimator(), "decision_function"):
                responses = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
            elif e.classes.size > 2:
                responses = softmax(scores, axis=1)
            else:
                responses = scores - scores[:, ::-1]
                if "decision_function" in self._method:
                    return responses, np.tile(errors[:, np.newaxis], 2)
                responses = expit(responses)
            slack = np.where(errors > 0, 2.0 * errors + 8.0 * _EPSILON, 0.0)[:, np.newaxis]
            slack = responses * slack + np.where(slack > 0, 5e-324, 0.0)
            return _two_class_probabilities(responses, slack) if e.classes.size == 2 else (responses, slack)

    def _refit(self, folds: IntArray, selected: IntArray, responses: FloatArray, slack: FloatArray) -> None:
        """Replace the responses in some folds by those of scikit-learn, which have no rounding to allow for."""
        for fold in folds.tolist():
            values = refit_fold(self.evaluator, fold, selected, methods=self._method)
            rows = self.folds.rows(fold)
            if values.ndim == 1:
                values = np.column_stack([-values, values])
            elif values.shape[1] == 2:
                values, _ = _two_class_probabilities(values, values)
            responses[rows] = values
            slack[rows] = 0.0

    def _smooth_scores(
        self,
        responses: FloatArray,
        slack: FloatArray,
        selected: IntArray,  # noqa: ARG002
    ) -> tuple[FloatArray, IntArray]:
        """The log loss or, of two classes, the Brier loss of each fold, and folds in which rounding matters."""
        own, doubt = (each[np.arange(len(responses)), self.evaluator.row_labels] for each in (responses, slack))
        if self._function.__name__ == "log_loss":
            losses = -np.log(np.clip(own, _EPSILON, 1.0 - _EPSILON))
        else:
            losses = np.square(1.0 - own)
        doubtful = np.unique(self._folds[doubt > _ACCURATE * np.maximum(own, _EPSILON)])
        return np.bincount(self._folds, self._weights * losses) / self._sizes, doubtful

    def _mean_areas(self, responses: FloatArray, slack: FloatArray, selected: IntArray) -> tuple[FloatArray, IntArray]:
        """The area under the ROC curve in each fold, and folds in which rounding could change it."""
        labels = self.evaluator.row_labels
        n_classes = self.evaluator.classes.size
        classes = range(n_classes) if n_classes > 2 else [1]
        of_classes = [self._areas(responses[:, c], slack[:, c], labels == c, selected) for c in classes]
        areas, doubtful = zip(*of_classes, strict=True)
        weights = self._true.T if self._kwargs.get("average") == "weighted" and n_classes > 2 else None
        return np.average(areas, axis=0, weights=weights), np.unique(np.concatenate(doubtful))

    def _areas(
        self, values: FloatArray, slack: FloatArray, positive: BoolArray, selected: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """The area of each fold by the ranks of one class, and folds with ties that may be rounding."""
        rows = np.lexsort((values, self._folds))
        folds = self._folds[rows]
        is_positive = positive[rows]
        weights = self._weights[rows]
        near = (np.diff(values[rows]) <= slack[rows[1:]] + slack[rows[:-1]]) & (np.diff(folds) == 0)
        group = np.append(0, np.cumsum(~near))
        mixed = (np.bincount(group, is_positive) > 0) & (np.bincount(group, ~is_positive) > 0)
        linked = np.flatnonzero(near & mixed[group[1:]] & (slack[rows[1:]] > 0))
        pairs = (take_table(self.data, self.folds.row_samples[rows[linked + shift]]) for shift in (0, 1))
        lower_rows, upper_rows = (take_table(table, selected, axis=1) for table in pairs)
        differ = (
            np.asarray(abs(lower_rows - upper_rows).sum(axis=1)).ravel() > 0
            if linked.size
            else np.empty(0, dtype=np.bool_)
        )
        above, below = (np.bincount(group, weights * part) for part in (is_positive, ~is_positive))
        of_group = folds[np.append(True, ~near)]
        lower = np.cumsum(below) - below
        lower -= lower[np.searchsorted(of_group, of_group)]  # within the fold
        n_folds = self.folds.n_folds
        whole = np.bincount(of_group, above, n_folds) * np.bincount(of_group, below, n_folds)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.bincount(of_group, above * (lower + 0.5 * below), n_folds) / whole, folds[linked[differ]]


def _two_class_probabilities(probabilities: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities and their rounding as scikit-learn scores two classes: by the second, and what is left."""
    second = probabilities[:, 1]
    return np.column_stack([1.0 - second, second]), np.column_stack([slack[:, 1], slack[:, 1]])


def _find_score_formula(name: str, kwargs: Mapping[str, Any], classes: AnyArray, weighted: bool) -> _Formula | None:
    """The formula of a score; None if scikit-learn must compute it."""
    plain = {
        "accuracy_score": _accuracy_score,
        "balanced_accuracy_score": _balanced_accuracy_score,
        "matthews_corrcoef": _matthews_score,
        "cohen_kappa_score": _kappa_score,
    }
    if name in plain:
        return None if kwargs else plain[name]
    ratios = {"precision_score": (0, 1), "recall_score": (1, 0), "f1_score": (0.5, 0.5), "jaccard_score": (1, 1)}
    average = kwargs.get("average", "binary")
    positive = kwargs.get("pos_label", 1)
    is_binary = classes.size == 2 and positive in classes.tolist()
    averages = ("macro", "micro", "weighted", *(["binary"] if is_binary else []))
    if name not in ratios or average not in averages or not kwargs.keys() <= {"average", "pos_label"}:
        return None
    if average == "micro" and name != "jaccard_score" and not weighted:  # every sample has one label
        return _accuracy_score

    from pqswarm.evaluation._kernels import mean_class_ratios

    def score(right: AnyArray, true: AnyArray, guessed: AnyArray) -> FloatArray:
        if average == "binary":
            right, true, guessed = (part[..., classes == positive].copy() for part in (right, true, guessed))
        elif average == "micro":
            right, true, guessed = (part.sum(axis=-1, keepdims=True) for part in (right, true, guessed))
        by_true, by_guessed = ratios[name]
        totals = true.sum(axis=-1) if average == "weighted" else true[0, :0]
        return np.asarray(mean_class_ratios(right, true, guessed, float(by_true), float(by_guessed), totals))

    return score


@np.errstate(invalid="ignore")
def _accuracy_score(right: AnyArray, true: AnyArray, guessed: AnyArray) -> FloatArray:  # noqa: ARG001
    return np.asarray(right.sum(axis=-1) / true.sum(axis=-1))


def _balanced_accuracy_score(right: AnyArray, true: AnyArray, guessed: AnyArray) -> FloatArray:  # noqa: ARG001
    """The mean recall of the classes that occur."""
    from pqswarm.evaluation._kernels import mean_class_ratios

    return np.asarray(mean_class_ratios(right, true, right, 1.0, 0.0, true[0, :0]))


@np.errstate(divide="ignore", invalid="ignore")
def _matthews_score(right: AnyArray, true: AnyArray, guessed: AnyArray) -> FloatArray:
    n = true.sum(axis=-1)
    between = right.sum(axis=-1) * n - (true * guessed).sum(axis=-1)
    product = (n**2 - (true**2).sum(axis=-1)) * (n**2 - np.square(guessed.astype(np.float64)).sum(axis=-1))
    least, otherwise = (_ROUNDING, np.nan) if right.dtype.kind == "f" else (0.0, 0.0)
    return np.where(product > least * n**4, between / np.sqrt(np.maximum(product, 0.0)), otherwise)


@np.errstate(divide="ignore", invalid="ignore")
def _kappa_score(right: AnyArray, true: AnyArray, guessed: AnyArray) -> FloatArray:
    n = true.sum(axis=-1)
    by_chance = n**2 - (true * guessed).sum(axis=-1)
    least = _ROUNDING if right.dtype.kind == "f" else 0.0
    return np.where(by_chance > least * n**2, 1.0 - (n - right.sum(axis=-1)) * n / by_chance, np.nan)
