"""A scikit-learn feature selector based on the searches."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from pqswarm._base.checks import check_name, is_integer
from pqswarm._base.plotting import new_axes
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray
from pqswarm._kernels.compile_times import log_compiling
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.estimators import as_numbers, is_table, take_table, takes_missing
from pqswarm.search import Progress, SearchResult
from pqswarm.selector.comparison import compare_selection
from pqswarm.selector.ensemble import SubsetEnsemble, has_method
from pqswarm.selector.search_loop import Interrupts, StopReason, check_callbacks, deadline_of
from pqswarm.selector.selection import FrontPoint, SubsetSelection, score_members
from pqswarm.selector.storage import open_storage
from pqswarm.selector.task import given_estimator, make_task, read_input, scorer_of, seed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_ALGORITHM = "merit"
"""The default algorithm of a selector."""
_BARS = 25  # features in a bar chart at most
_STRONG = "tab:blue"
_FAINT = "lightsteelblue"
_MARK = "tab:orange"


class UnavailableError(PqswarmError, AttributeError):
    """An attribute of a fitted selector that is not available; the message says why."""


class SwarmSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Select features by searches for the lowest cross-validated error of an estimator, and predict by several subsets.

    Several searches, by MERIT, 2D swarms or others, each on its own partition of the samples into folds, find subsets
    of the features with a low error, the mean over the splits. `predict` averages the estimators fitted to these
    subsets: fewer errors on new samples than with any one subset, by default with no more features. `transform`
    returns the best single subset.

    k-nearest neighbors, Gaussian and kernel naive Bayes, linear discriminant analysis, and k-NN, linear and ridge
    regression have exact evaluators, tens to hundreds of times faster than fitting; any other estimator is fitted as
    usual. Ctrl-C stops the search at any time and keeps what was found. A search that will take more than a minute
    starts with a warning that estimates its time.

    The k-NN evaluator breaks ties of distances by the lower sample index, scikit-learn arbitrarily. On data with many
    equal distances, such as integers, their scores of the same subset can differ.

    Parameters
    ----------
    estimator : object, default=None
        A scikit-learn classifier or regressor; it is cloned, not fitted itself. If None, use three nearest neighbors
        by Manhattan distance, with features scaled to [0, 1].
    algorithm : str, type or tuple, default="merit"
        A name in :data:`pqswarm.search.ALGORITHMS`, such as ``"merit"``, ``"2d-upso"`` or ``"sffs"``, a subclass of
        :class:`pqswarm.search.Search`, or a pair of either and a mapping of its parameters, such as
        ``("2d-upso", {"swarm_size": 50})``. MERIT's `start_size` is 8 by default here, since features may have any
        scale; 20 finds better subsets of scaled ones.
    n_subsets : int, default=5
        Number of searches whose subsets are averaged; they share the evaluations, and are fewer if each would have
        less than 300 with an exact evaluator. 1 selects one subset, which `predict` uses too.
    max_features : "auto", int, float or None, default="auto"
        Limit on the number of features that all subsets use together, or on their fraction. ``"auto"`` is the size of
        the best single subset, None no limit: more features, and often a lower error. With a limit, half of the
        evaluations search among all features, the other half among those that the best subsets contain most often.
    transform_features : {"best", "union"}, default="best"
        What `transform`, `get_support` and `support_` hand on: the best single subset, or all features that `predict`
        uses.
    cv : int, cross-validation generator or iterable, default=None
        Cross-validation, as in scikit-learn. If None, use 10 folds with an exact evaluator, else 5. If it is not a
        plain k-fold, all searches use the same splits.
    scoring : str or callable, default=None
        As in scikit-learn. If None, use the accuracy of a classifier, R2 of a regressor.
    max_evaluations : int, default=None
        Number of subsets to evaluate, in all searches together. If None, use 1200 for each search with an exact
        evaluator, 600 without a limit on the features, 3000 for one subset; and 600 in all if the estimator is fitted.
        MERIT counts a subset that it drops after some of the fitted folds as that fraction of an evaluation.
    n_features_to_select : int, float or "1se", default=None
        Number or fraction of features of a subset, including fixed ones; a group counts as one. ``"1se"`` selects the
        smallest subset on the front of size and score within one standard error of the best. If None, the search
        decides: of the best subsets of each search, the one with the best mean score over several partitions.
    prefilter : int, str or None, default="auto"
        Search only the features ranked first by a filter:

        - ``"auto"``, by ANOVA's F, or a name in :data:`pqswarm.evaluation.FILTERS`: if there are more than 300
          features. The number kept is three times the size at which the filter alone, applied inside each split, comes
          within one standard error of its best score; at most 300.
        - An int keeps that many by ANOVA's F, None all.

        Algorithms with a parameter `order` receive the ranking.
    constraints : mapping, default=None
        Features, by name or position, under these keys:

        - ``"fixed"``: those that every subset contains, as a list.
        - ``"excluded"``: those that none contains, as a list.
        - ``"groups"``: those that are chosen together, such as the columns of one encoded category, as a list of lists
          or a mapping to lists. A group is one bit of the search.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn: None means 1, unless in a ``joblib.parallel_config`` context, -1 all
        cores. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        An int makes the selection repeatable. Estimators without random_state get one derived from it.
    callbacks : callable or list of callables, default=None
        Called with the progress after each batch: `n_evaluations`, `max_evaluations`, `score`, `size`, `features`,
        `mask` and `elapsed` [s]; it prints as a sentence. All searches stop if one returns True. See
        :class:`EarlyStopping`, also for a limit of time, and :class:`ProgressBar`. They are not pickled.
    storage : str or Path, default=None
        A file that stores the state of the searches every few seconds and at their end. `fit` resumes from it, with
        the same result as without interruption. It also resumes with a larger `max_evaluations`, until the search
        among the most frequent features has begun. Different data or parameters are an error.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        The selected features: the best single subset, or `union_` if `transform_features` is ``"union"``.
    n_features_ : int
        Their number.
    best_subset_ : ndarray of bool, shape (n_features_in_,)
        The best single subset.
    best_score_ : float
        Its mean score over the splits of `cv`. It was optimized: expect less on new data, see :func:`nested_score`.
    best_estimator_ : object
        The estimator, fitted to the best single subset of all samples.
    subsets_ : ndarray of bool, shape (n_subsets_, n_features_in_)
        The subsets that `predict` averages: the best of each search, then the second best of each, and so on.
    union_ : ndarray of bool, shape (n_features_in_,)
        The features that they use together.
    estimators_ : list
        The estimator, fitted to each of these subsets of all samples.
    subset_scores_ : ndarray
        Cross-validated score of the first one, two, ... of `subsets_` averaged, in folds that no search has seen.
        Empty if it would take more than a tenth of the evaluations, if `cv` is not a plain k-fold, or if the search
        was stopped.
    comparison_ : dict of float
        Mean scores in nested cross-validation with short searches: `selected` features, `all` and those ranked first by
        ANOVA's F, `filter`; and their numbers `n_selected`, `n_all` and `n_filter`. Those of the filter are NaN if it
        cannot rank the features. Empty if the search was stopped, had fewer than 200 evaluations, or `cv` is not a
        plain k-fold.
    comparison_text_ : str
        What follows from it, or why there is none, as a sentence.
    rule_ : str
        How the subsets were selected, as a sentence.
    front_ : list of FrontPoint
        The best subsets by size, each with `size`, `score`, `std` over the splits of `cv`, and `support`. `std` is NaN
        if the search was interrupted or ran out of time.
    cv_results_ : dict of ndarray
        Scores of the subsets on the front, as in scikit-learn: `n_features`, `mean_test_score`, `std_test_score`,
        `split0_test_score`, ... Only sizes if the search was interrupted or ran out of time.
    results_ : pandas.DataFrame
        The front, with the scores of each split, and each improvement of the search.
    classes_ : ndarray
        The labels, of a classifier.
    history_ : SearchResult
        The result of the search on the splits of `cv`, with the lowest error and its subset size after each evaluation.
    n_evaluations_ : int
        Evaluations of all searches.
    stop_reason_ : str
        Why the search ended: ``"max_evaluations"``, ``"max_time"``, ``"callback"``, ``"interrupted"``, or
        ``"finished"`` if the algorithm ended by itself, or knew all subsets.
    interrupted_ : bool
        Whether Ctrl-C ended the fit.
    evaluator_name_ : str
        The evaluator used, such as ``KNNEvaluator`` or ``GenericEvaluator``, and why, as a sentence.
    prefilter_ : str or None
        Which features were searched, as a sentence; None if all were.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True, as_frame=False)
    >>> selector = SwarmSelector(GaussianNB(), max_evaluations=1000, random_state=0).fit(X, y)
    >>> bool(selector.best_score_ > 0.95), bool(selector.n_features_ < 13), bool(selector.score(X, y) > 0.97)
    (True, True, True)
    >>> bool(selector.transform(X).shape[1] == selector.n_features_ >= selector.union_.sum())
    True
    """

    __metadata_request__fit: ClassVar = {"groups": UNUSED}  # routed, not consumed

    def __init__(
        self,
        estimator: Any = None,
        *,
        algorithm: Any = DEFAULT_ALGORITHM,
        n_subsets: int = 5,
        max_features: Any = "auto",
        transform_features: str = "best",
        cv: Any = None,
        scoring: Any = None,
        max_evaluations: int | None = None,
        n_features_to_select: Any = None,
        prefilter: Any = "auto",
        constraints: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: Callable[[Progress], object] | Sequence[Callable[[Progress], object]] | None = None,
        storage: Any = None,
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.n_subsets = n_subsets
        self.max_features = max_features
        self.transform_features = transform_features
        self.cv = cv
        self.scoring = scoring
        self.max_evaluations = max_evaluations
        self.n_features_to_select = n_features_to_select
        self.prefilter = prefilter
        self.constraints = constraints
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callbacks = callbacks
        self.storage = storage

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(given_estimator(self))
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True
        tags.target_tags = deepcopy(inner.target_tags)
        tags.target_tags.required = True
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = self.estimator is not None and takes_missing(self.estimator)
        return tags

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's router: to the estimator's `fit`, the scorer and the splitter."""
        estimator = given_estimator(self)
        router = MetadataRouter(owner=self)
        for name, callee, consumer in (
            ("estimator", "fit", estimator),
            ("splitter", "split", check_cv(5 if self.cv is None else self.cv)),
            ("scorer", "score", check_scoring(estimator, self.scoring)),
        ):
            callers = MethodMapping().add(caller="fit", callee=callee).add(caller="fit_transform", callee=callee)
            router.add(**{name: consumer}, method_mapping=callers)
        return router

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state["callbacks"] = None  # they may not be picklable
        return state

    def fit(self, X: Any, y: Any, groups: Any = None, **fit_params: Any) -> "SwarmSelector":
        """Search for the best features.

        Parameters
        ----------
        X : array_like, data frame or sparse matrix of shape (n, n_features)
            Samples. NaN is allowed if the estimator accepts it; so are columns of text or categories in a frame, which
            reaches the estimator as a frame, and a sparse matrix.
        y : array_like of shape (n,) or (n, n_targets)
            Labels, or targets of a regression; several targets, if the estimator accepts them.
        groups : array_like of shape (n,), default=None
            Groups of samples, for a `cv` that uses them.
        **fit_params
            ``sample_weight``, array_like of shape (n,), if the estimator accepts it: weights of the samples in fitting
            and scoring. Other arguments of the estimator's `fit`: those with one value per sample are split like the
            samples; the columns of ``eval_set`` and ``X_val`` are selected like the features. With scikit-learn's
            metadata routing enabled, all arguments go where they are requested.

        Returns
        -------
        SwarmSelector
            Itself.
        """
        deadline = deadline_of(check_callbacks(self.callbacks))
        data = read_input(self, X, y, groups, fit_params)
        check_name("transform_features", self.transform_features, ("best", "union"))
        log_compiling()
        with Interrupts() as interrupts:
            with open_storage(self.storage) as storage:
                saved = None if storage is None else storage.identity.get("random_state")
                seed = int(saved) if saved is not None and self.random_state is None else seed_of(self.random_state)
                task = interrupts.insist(make_task, self, data, seed)
                if storage is not None:
                    storage.check(task.identity)
                selection = SubsetSelection(self, task, data, interrupts, deadline, storage)
                selection.warn_if_slow()
                try:
                    selection.search()
                finally:
                    if storage is not None:
                        storage.save()
            self.estimators_ = interrupts.insist(selection.fit_members)
            self._remember(selection)
            self.best_estimator_ = self.estimators_[0]
            if not np.array_equal(self.best_subset_, self.subsets_[0]):
                self.best_estimator_ = interrupts.insist(data.fit, task.estimator, self.best_subset_)
            self._is_multiple = data.y.ndim > 1
            self.subset_scores_: FloatArray = score_members(selection)
            self.comparison_, self.comparison_text_ = compare_selection(selection)
        self.interrupted_ = interrupts.pressed
        self.stop_reason_: StopReason = selection.stop_reason
        if self.interrupted_:
            later = " Fit again to resume." if self.storage is not None else ""
            warnings.warn(f"interrupted: the best of {self.n_evaluations_} evaluations is kept.{later}", stacklevel=2)
        return self

    def _remember(self, selection: SubsetSelection) -> None:
        """Set the attributes of a selection."""
        self.best_subset_: BoolArray = selection.chosen.support
        self.best_score_ = selection.chosen.score
        self.subsets_: BoolArray = selection.members
        self.union_: BoolArray = np.asarray(selection.members.any(axis=0))
        self.support_: BoolArray = self.best_subset_ if self.transform_features == "best" else self.union_
        self.n_features_ = int(self.support_.sum())
        self.n_evaluations_ = selection.n_evaluations
        self.front_: list[FrontPoint] = selection.front
        self.history_: SearchResult = selection.result
        self.cv_results_: dict[str, AnyArray] = {"n_features": np.array([point.size for point in self.front_])}
        if (scores := selection.fold_scores) is not None:  # as scikit-learn's searches name them
            self.cv_results_["mean_test_score"] = scores.mean(axis=1)
            self.cv_results_["std_test_score"] = scores.std(axis=1)
            self.cv_results_ |= {f"split{number}_test_score": column for number, column in enumerate(scores.T)}
        self.evaluator_name_ = selection.task.choice.reason
        self.prefilter_ = selection.task.prefilter
        self.rule_ = selection.rule_text
        self._is_loss = bool(selection.task.choice.evaluator.is_loss)

    def select(self, size: int) -> BoolArray:
        """Return the best subset found of at most `size` features, as a mask.

        Parameters
        ----------
        size : int
            Maximum number of features.

        Returns
        -------
        ndarray of bool, shape (n_features_in_,)
            The subset on ``front_`` of that size, or the next smaller one.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> selector = SwarmSelector(max_evaluations=200, random_state=0).fit(*load_wine(return_X_y=True))
        >>> int(selector.select(4).sum()) <= 4
        True
        """
        check_is_fitted(self)
        if not is_integer(size) or size < self.front_[0].size:
            raise PqswarmError(
                f"size must be an integer of at least {self.front_[0].size}, the smallest size on the front, not "
                f"{size!r}: use n_features_to_select to search for a given size."
            )
        return next(point for point in reversed(self.front_) if point.size <= size).support.copy()

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Return the selected features of X, ``(n, n_features_)``; a frame with columns of text stays a frame."""
        check_is_fitted(self)
        if is_table(X) and as_numbers(X) is None and hasattr(X, "columns"):
            validate_data(self, X, skip_check_array=True, reset=False)
            return take_table(X, np.flatnonzero(self.support_), axis=1)
        return super().transform(X)

    @property
    def classes_(self) -> AnyArray:
        """The labels, if the estimator is a classifier."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.classes_)

    @property
    def _any_estimator(self) -> Any:
        return getattr(self, "best_estimator_", given_estimator(self))

    @property
    def _ensemble(self) -> SubsetEnsemble:
        return SubsetEnsemble(self.estimators_, self.subsets_, several=self._is_multiple)

    def _checked(self, X: Any) -> Any:
        """X with all columns, checked."""
        check_is_fitted(self)
        if is_table(X) and not issparse(X):
            validate_data(self, X, skip_check_array=True, reset=False)
            return X
        tags = get_tags(self).input_tags
        sparse = ("csr", "csc") if tags.sparse else False
        finite = "allow-nan" if tags.allow_nan else True
        return validate_data(self, X, dtype=np.float64, accept_sparse=sparse, ensure_all_finite=finite, reset=False)

    @available_if(has_method("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> AnyArray:
        """Predict labels or targets, (n,) or (n, n_targets), of samples with all features.

        The estimators of all subsets are averaged: a label is the one with the highest mean probability, else mean
        decision function, else that of most estimators; ties are broken by `classes_`. A target is the mean.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pqswarm import SwarmSelector
        >>> X, y = load_wine(return_X_y=True)
        >>> selector = SwarmSelector(max_evaluations=200, random_state=0).fit(X, y)
        >>> selector.predict(X[:3]).tolist(), selector.predict_proba(X[:3]).shape, bool(selector.score(X, y) > 0.9)
        ([0, 0, 0], (3, 3), True)
        """
        return np.asarray(self._average("predict", X))

    @available_if(has_method("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Predict the mean probabilities of the classes; see :meth:`predict`."""
        return self._average("predict_proba", X)

    @available_if(has_method("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Predict the logarithms of the mean probabilities."""
        return self._average("predict_log_proba", X)

    @available_if(has_method("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the mean decision function."""
        return self._average("decision_function", X)

    def _average(self, method: str, X: Any) -> Any:
        """What a method of the ensemble returns."""
        X = self._checked(X)
        return getattr(self._ensemble, method)(X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Return the score of :meth:`predict`: `scoring`, or accuracy or R2.

        Arguments of the scorer, such as ``sample_weight``, can be given by keyword.
        """
        X = self._checked(X)
        return float(scorer_of(self)(self._ensemble, X, y, **params))

    @property
    def results_(self) -> Any:
        """The front and all improvements of the search, as a pandas data frame.

        Columns: `kind` (front or improvement), `evaluations` (improvements), `score`, `std` over the splits (front),
        `size`, `selected` (by the rule), `features`, if known, and the scores of each split (front).
        """
        check_is_fitted(self)
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError as error:
            raise UnavailableError(
                "results_ needs pandas: pip install pandas, or use cv_results_ and history_."
            ) from error
        names = self._feature_names()

        def named(mask: BoolArray) -> tuple[Any, ...]:
            return tuple(names[place] for place in np.flatnonzero(mask).tolist())

        rows: list[dict[str, Any]] = [
            {
                "kind": "front",
                "evaluations": None,
                "score": point.score,
                "std": point.std,
                "size": point.size,
                "selected": bool(np.array_equal(point.support, self.best_subset_)),
                "features": named(point.support),
            }
            for point in self.front_
        ]
        rows += [
            {
                "kind": "improvement",
                "evaluations": int(before) + 1,
                "score": self._score_of(loss),
                "std": np.nan,
                "size": int(size),
                "selected": False,
                "features": None,
            }
            for before, loss, size in self.history_.improvements.tolist()
        ]
        rows[-1]["features"] = named(self.history_.mask)
        frame = pd.DataFrame(rows).astype({"evaluations": "Int64"})
        splits = {key: values for key, values in self.cv_results_.items() if key.startswith("split")}
        return frame.join(pd.DataFrame(splits)) if splits else frame

    def _axes(self, ax: Any) -> Any:
        """The given axes, or those of a new figure, for the plots of a fitted selector."""
        check_is_fitted(self)
        return new_axes(6.0, 3.6) if ax is None else ax

    def plot_history(self, ax: Any = None) -> "Figure":
        """Plot the best score so far against the evaluations."""
        axes = self._axes(ax)
        result = self.history_
        steps = np.vstack([result.improvements, result.improvements[-1]])
        after = np.append(result.improvements[:, 0] + 1, result.n_evaluations)
        axes.plot(after, [self._score_of(error) for error in steps[:, 1]], color=_STRONG, drawstyle="steps-post")
        axes.set_title(f"{result.algorithm}: {self._score_of(result.error):.4g} with {result.size} features")
        axes.set(xlabel="evaluations", ylabel=f"best {self._score_name()}")
        return axes.figure  # type: ignore[no-any-return]

    def plot_front(self, ax: Any = None) -> "Figure":
        """Plot the best score of each size, its standard deviation over the splits, and the selected subset."""
        axes = self._axes(ax)
        sizes, scores, stds = np.array([(point.size, point.score, point.std) for point in self.front_]).T
        stds = np.nan_to_num(stds)
        best = 0.0 if self._is_loss else 1.0  # no bar beyond the best possible score
        above = np.where(scores <= best, np.minimum(stds, best - scores), stds)
        axes.errorbar(sizes, scores, [stds, above], color=_STRONG, marker="o", ms=4, elinewidth=0.8)
        size = int(self.best_subset_.sum())
        axes.plot(size, self.best_score_, "o", ms=10, mfc="none", mec=_MARK, mew=1.8)
        axes.set_title(f"selected: {size} features")
        axes.set(xlabel="features", ylabel=self._score_name())
        axes.xaxis.get_major_locator().set_params(integer=True)
        return axes.figure  # type: ignore[no-any-return]

    def plot_subsets(self, ax: Any = None) -> "Figure":
        """Plot how the cross-validated score rises with the number of subsets averaged, in folds no search has seen."""
        axes = self._axes(ax)
        if not self.subset_scores_.size:
            raise UnavailableError(
                "there are no scores of the subsets: the search was stopped, or had fewer than ten evaluations for "
                "each, or its cv is not a plain k-fold."
            )
        axes.plot(range(1, self.subset_scores_.size + 1), self.subset_scores_, color=_STRONG, marker="o", ms=4)
        axes.set_title(f"{len(self.subsets_)} subsets of {int(self.union_.sum())} features")
        axes.set(xlabel="subsets averaged", ylabel=self._score_name())
        axes.xaxis.get_major_locator().set_params(integer=True)
        return axes.figure  # type: ignore[no-any-return]

    def plot_importance(self, ax: Any = None) -> "Figure":
        """Plot how often each feature is in a good subset: on the front, within a standard error of the best."""
        axes = self._axes(ax)
        best = self.front_[-1]
        n_splits = sum(key.startswith("split") for key in self.cv_results_) or 1
        allowed = best.score - np.nan_to_num(best.std, nan=np.inf) / np.sqrt(n_splits)
        good = [point.support for point in self.front_ if point.score >= allowed]
        fractions = np.mean(good, axis=0)
        order = np.argsort(-fractions, kind="stable")[: min(_BARS, int(np.count_nonzero(fractions)))][::-1]
        names = self._feature_names()
        colors = [_STRONG if self.best_subset_[place] else _FAINT for place in order]
        axes.barh([str(names[place]) for place in order], fractions[order], color=colors)
        axes.set(xlim=(0, 1), xlabel=f"fraction of {len(good)} good subsets with the feature")
        return axes.figure  # type: ignore[no-any-return]

    def _feature_names(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def _score_of(self, error: float) -> float:
        return -error if self._is_loss else 1.0 - error

    def _score_name(self) -> str:
        """The optimized score in words."""
        if self.scoring is None:
            return "accuracy" if is_classifier(self) else "R2"
        return self.scoring.replace("_", " ") if isinstance(self.scoring, str) else "score"

    def _front_html(self) -> str:
        """The front as a figure whose points name their features, and as a list that opens."""
        if not hasattr(self, "front_"):
            return ""
        names = self._feature_names()
        sizes = np.array([point.size for point in self.front_])
        scores = np.array([point.score for point in self.front_])
        across = 45 + 300 * (sizes - sizes[0]) / max(1, sizes[-1] - sizes[0])
        up = 105 - 90 * (scores - scores[0]) / (float(np.ptp(scores)) or 1.0)
        rows: list[str] = []
        dots: list[str] = []
        for point, x, y in zip(self.front_, across, up, strict=True):
            selected = np.array_equal(point.support, self.best_subset_)
            features = ", ".join(escape(str(names[place])) for place in np.flatnonzero(point.support).tolist())
            label = f"{point.size}: {point.score:.4g}{' (selected)' if selected else ''}"
            look = 'r="7" fill="none"' if selected else 'r="4" fill="currentColor"'
            rows.append(f"<details><summary>{label}</summary>{features}</details>")
            dots.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" {look} stroke="currentColor" pointer-events="all">'
                f"<title>{label} = {features}</title></circle>"
            )
        texts = [
            f'<text x="{across[end]:.0f}" y="125">{sizes[end]}</text>'
            f'<text x="0" y="{up[end]:.0f}">{scores[end]:.4g}</text>'
            for end in (0, -1)
        ]
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
        line = f'<polyline points="{places}" fill="none" stroke="currentColor"/>'
        figure = f'<svg width="360" height="130" font-size="11" fill="currentColor">{line}{"".join(dots + texts)}</svg>'
        title = f"{self.best_subset_.sum()} of {self.n_features_in_} features, {escape(self._score_name())}"
        summary = f"<summary>{title} {self.best_score_:.4g}: the front by size</summary>"
        return f"<details>{summary}{figure}{''.join(rows)}</details>"

    def _html_repr(self) -> str:
        return str(super()._html_repr()) + self._front_html()
