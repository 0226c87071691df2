"""The searches as a scikit-learn feature selector."""

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import check_cv
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pqswarm._random import derived_seed
from pqswarm._typing import AnyArray, BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import ClassificationEvaluator, Folds, GenericEvaluator, Memo, find_classifier
from pqswarm.evaluation.classifiers.sklearn import seed_estimator
from pqswarm.search import ProgressBar, SearchResult, filter_of, minimize_many
from pqswarm.search.registry import search_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pqswarm.search import Progress

__all__ = ["SwarmSelector"]


class SwarmSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features with which an estimator makes the fewest errors, by 2D particle swarms or other searches.

    The error of a subset is the mean over the folds of a cross-validation. For k-nearest neighbours, Gaussian and
    kernel naive Bayes it comes from an exact evaluator that is tens to hundreds of times faster than fitting and
    predicting; any other estimator, also a regressor, is fitted as usual.

    The k-nearest-neighbour evaluator takes the lower event index where distances are equal. scikit-learn takes any
    of them, so on data with many equal distances (integers, say) its own score of the same subset can differ.

    Parameters
    ----------
    estimator : object or None
        A scikit-learn classifier or regressor; it is cloned, never fitted itself. None is the classifier of the
        paper: three nearest neighbours by Manhattan distance, after scaling each feature to [0, 1].
    algorithm : str or type
        A name in :data:`pqswarm.search.ALGORITHMS`, such as ``"2d-upso"``, ``"bpso"`` or ``"sffs"``, or a class
        derived from :class:`pqswarm.search.Search`.
    cv : int, splitter or iterable
        Cross-validation, as in scikit-learn; its test sets must be a partition of the events.
    scoring : str, callable or None
        As in scikit-learn; None is the accuracy of a classifier, R2 of a regressor.
    max_evaluations : int
        Subsets that a run evaluates.
    n_features_to_select : int, float or None
        How many features, or which share of them, to select; None leaves it to the search.
    n_runs : int
        Independent runs; the best of their subsets is selected (of equals the smallest, then the first).
    n_jobs : int or None
        Threads; None or -1 uses all cores. Results do not depend on it.
    random_state : int, RandomState or None
        The same int gives the same selection; None gives another one each time. An estimator whose own
        random_state is None is given one that follows from it.
    algorithm_params : mapping or None
        Parameters of the algorithm, such as ``{"swarm_size": 50}``.
    callback : callable or None
        Called with :class:`pqswarm.search.Progress` after each batch; when it returns True, the search stops.
    verbose : int
        0 is silent, 1 shows a progress bar.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        The selected features.
    best_score_ : float
        Their mean score over the folds. It was optimised: on new data expect less.
    n_features_ : int
        How many are selected.
    ranking_ : ndarray of int, shape (n_features_in_,)
        1 for the selected features; the others from 2 on, first those that most runs selected.
    selection_counts_ : ndarray of int, shape (n_features_in_,)
        In how many runs each feature was selected.
    history_ : list of SearchResult
        What each run found, with the least error and its subset's size after each evaluation.
    evaluator_name_ : str
        Which evaluator was used: ``"KNNEvaluator"``, ``"GaussianNBEvaluator"``, ``"KernelNBEvaluator"``, that of a
        classifier of another package, or ``"GenericEvaluator"``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_wine(return_X_y=True, as_frame=False)
    >>> selector = SwarmSelector(GaussianNB(), max_evaluations=300, random_state=0).fit(X, y)
    >>> selector.evaluator_name_, bool(selector.best_score_ > 0.97), bool(selector.n_features_ < 13)
    ('GaussianNBEvaluator', True, True)
    >>> selector.transform(X).shape[1] == selector.n_features_
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        algorithm: Any = "2d-upso",
        cv: Any = 10,
        scoring: Any = None,
        max_evaluations: int = 6000,
        n_features_to_select: Any = None,
        n_runs: Any = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        algorithm_params: Mapping[str, Any] | None = None,
        callback: "Callable[[Progress], object] | None" = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.cv = cv
        self.scoring = scoring
        self.max_evaluations = max_evaluations
        self.n_features_to_select = n_features_to_select
        self.n_runs = n_runs
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.algorithm_params = algorithm_params
        self.callback = callback
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any, groups: Any = None) -> "SwarmSelector":
        """Search for the best features.

        Parameters
        ----------
        X : array_like of shape (n, n_features)
            Events.
        y : array_like of shape (n,)
            Labels, or targets of a regression.
        groups : array_like of shape (n,), optional
            Groups of events, for a `cv` that wants them.

        Returns
        -------
        SwarmSelector
            Itself.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        if not _is_whole(self.n_runs) or self.n_runs < 1:
            raise PqswarmError(f"n_runs must be an integer of at least 1, not {self.n_runs!r}.")
        seed = _seed(self.random_state)
        evaluator = self._evaluator(X, y, groups, seed)
        seeds = [derived_seed(seed, (run,)) for run in range(self.n_runs)]
        parameters = self._search_parameters(X.shape[1])
        if (ranking := filter_of(search_class(self.algorithm), parameters)) is not None:
            parameters["order"] = ranking.rank(X, y)
        results = self._search(Memo(evaluator), seeds, parameters)
        best = min(results, key=lambda result: (result.error, result.size))
        loss = isinstance(evaluator, GenericEvaluator) and evaluator.is_loss
        self.support_: BoolArray = best.mask
        self.best_score_ = -best.error if loss else 1.0 - best.error
        self.n_features_ = best.size
        self.selection_counts_ = np.sum([result.mask for result in results], axis=0)
        self.ranking_ = _ranking(self.support_, self.selection_counts_)
        self.history_: list[SearchResult] = results
        self.evaluator_name_ = type(evaluator).__name__
        return self

    @property
    def evaluator_(self) -> str:
        """The evaluator's name, as `evaluator_name_` was called in earlier versions."""
        warnings.warn("evaluator_ is called evaluator_name_ now.", DeprecationWarning, stacklevel=2)
        return self.evaluator_name_

    def _search(self, evaluator: Memo, seeds: list[int], parameters: dict[str, Any]) -> list[SearchResult]:
        """Run all searches, with a progress bar if one is wanted."""
        bar = ProgressBar(str(getattr(self.algorithm, "name", self.algorithm))) if self.verbose else None

        def callback(progress: "Progress") -> object:
            if bar is not None:
                bar(progress)
            return None if self.callback is None else self.callback(progress)

        try:
            return minimize_many(
                self.algorithm, evaluator, seeds, self.max_evaluations, callback, parameters=parameters
            )
        finally:
            if bar is not None:
                bar.close()

    def _search_parameters(self, n_features: int) -> dict[str, Any]:
        """Parameters of the algorithm, with the number of features to select."""
        if self.algorithm_params is not None and not isinstance(self.algorithm_params, Mapping):
            raise PqswarmError(f"algorithm_params must be a mapping of names to values, not {self.algorithm_params!r}.")
        given, wanted = dict(self.algorithm_params or {}), self.n_features_to_select
        if wanted is None:
            return given
        whole = _is_whole(wanted) and 1 <= wanted <= n_features
        share = isinstance(wanted, float | np.floating) and 0 < wanted < 1
        if not (whole or share):
            raise PqswarmError(
                f"n_features_to_select must be an integer from 1 to {n_features}, a share between 0 and 1, or "
                f"None, not {wanted!r}."
            )
        if "size" in given:
            raise PqswarmError("give n_features_to_select or the size in algorithm_params, not both.")
        return given | {"size": int(wanted) if whole else max(1, int(wanted * n_features))}

    def _evaluator(self, X: Any, y: Any, groups: Any, seed: int) -> ClassificationEvaluator:
        """The fast evaluator of the estimator if there is one, else the generic one."""
        default = make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=3, metric="manhattan"))
        estimator = seed_estimator(default if self.estimator is None else self.estimator, seed)
        known = hasattr(estimator, "fit") and hasattr(estimator, "get_params")
        classifies = known and is_classifier(estimator)
        if classifies:
            check_classification_targets(y)
        folds = _folds(self.cv, X, y, groups, classifies)
        if classifies and self.scoring in (None, "accuracy"):
            fast = _fast_evaluator(estimator, X, y, folds, self.n_jobs)
            if fast is not None:
                return fast
        return GenericEvaluator(X, y, folds, estimator, self.scoring, scaling="none", n_jobs=self.n_jobs)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def plot_history(self) -> "Figure":
        """Draw the least error and the size of its subset against the evaluations, one line for each run."""
        from pqswarm.report import plot_searches

        check_is_fitted(self)
        return plot_searches(self.history_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _ranking(support: BoolArray, counts: AnyArray) -> AnyArray:
    """1 for selected features, then 2, 3 ... by falling counts, equal for equal counts."""
    ranking = np.ones(support.size, dtype=np.int64)
    ranking[~support] = 2 + np.unique(-counts[~support], return_inverse=True)[1]
    return ranking


def _folds(cv: Any, X: AnyArray, y: AnyArray, groups: Any, classifies: bool) -> Folds:
    """The folds of scikit-learn's `cv`; of a number of folds no more than the events allow."""
    if _is_whole(cv):
        most = int(np.unique(y, return_counts=True)[1].max()) if classifies else len(y)
        if 2 <= most < cv:
            warnings.warn(
                f"cv={cv} folds are too many for {'classes of at most ' if classifies else ''}{most} events: "
                f"{most} folds are used.",
                stacklevel=4,
            )
            cv = most
    return Folds.from_splitter(check_cv(cv, y, classifier=classifies), X, y, groups)


def _seed(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state; the global one is left alone."""
    if random_state is None:
        return derived_seed(np.random.SeedSequence().entropy, ())  # type: ignore[arg-type]
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if _is_whole(random_state) and random_state >= 0:
        return int(random_state)
    raise PqswarmError(f"random_state must be a non-negative integer, a RandomState or None, not {random_state!r}.")


def _fast_evaluator(
    estimator: Any, X: AnyArray, y: AnyArray, folds: Folds, n_jobs: int | None
) -> ClassificationEvaluator | None:
    """The evaluator of the registered classifier that equals the estimator, or None."""
    scaling: Any = "none"
    if type(estimator) is Pipeline and len(estimator.steps) == 2 and _scales_to_unit(estimator.steps[0][1]):
        scaling, estimator = "fold", estimator.steps[1][1]
    found = find_classifier(estimator)
    return None if found is None else found.evaluator(X, y, folds, scaling=scaling, n_jobs=n_jobs)


def _scales_to_unit(step: Any) -> bool:
    """Whether a step of a pipeline scales each feature to [0, 1] and does nothing else."""
    return type(step) is MinMaxScaler and tuple(step.feature_range) == (0, 1) and not step.clip
