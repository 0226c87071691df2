"""A scikit-learn feature selector based on the searches."""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from pqswarm._base.checks import check_integer, check_positive, is_integer
from pqswarm._base.typing import AnyArray, BoolArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.estimators import takes_missing
from pqswarm.evaluation.tables import as_numbers, is_table, take_table
from pqswarm.selector.front import make_cv_results
from pqswarm.selector.inputs import read_input, selector_routing
from pqswarm.selector.nested import estimate_outer, outer_splits
from pqswarm.selector.predicting import PredictorMixin
from pqswarm.selector.searching import Interrupts
from pqswarm.selector.selection import Selection, check_callbacks, rank_features, select
from pqswarm.selector.showing import ShownMixin, show_selection
from pqswarm.selector.task import check_task_rule, default_estimator

if TYPE_CHECKING:
    from pqswarm.search import Progress, SearchResult
    from pqswarm.selector.front import FrontPoint

DEFAULT_ALGORITHM = "merit"
"""The default algorithm of a selector."""


class SwarmSelector(PredictorMixin, ShownMixin, SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that minimise the cross-validated error of an estimator, by MERIT, 2D swarms or others.

    The error of a subset is the mean over the splits. k-nearest neighbours, Gaussian and kernel naive Bayes, linear
    discriminant analysis, and k-NN, linear and ridge regression have exact evaluators, tens to hundreds of times faster
    than fitting; any other estimator is fitted as usual.

    After `fit`, the selector transforms, and predicts by the estimator refitted to the selected features. Ctrl-C stops
    the search at any time and keeps the best subset found. A search that will take more than a minute starts with a
    warning that estimates its time.

    Of equal distances, the k-NN evaluator takes the lower event index, scikit-learn an arbitrary one: on data with many
    equal distances, such as integers, its score of the same subset can differ.

    Parameters
    ----------
    estimator : object or None
        A scikit-learn classifier or regressor; it is cloned, not fitted itself. None is the paper's classifier: three
        nearest neighbours by Manhattan distance, with features scaled to [0, 1].
    algorithm : str or type
        A name in :data:`pqswarm.search.ALGORITHMS`, such as ``"merit"``, ``"2d-upso"`` or ``"sffs"``, or a
        subclass of :class:`pqswarm.search.Search`.
    cv : int, splitter, iterable or None
        Cross-validation, as in scikit-learn; None is 10 folds with an exact evaluator, else 5.
    scoring : str, callable, list, dict or None
        As in scikit-learn; None is the accuracy of a classifier, R2 of a regressor. Of several, `refit` names the one
        to optimise; the subsets on the front are scored by all.
    max_evaluations : int or None
        Evaluations of a run; None is 6000 with an exact evaluator, else 600. MERIT counts a classifier's subset that it
        drops after some of the folds as that fraction of an evaluation.
    n_features_to_select : int, float or None
        Number or fraction of features to select, including fixed ones; a group counts as one. None leaves it to the
        search.
    n_runs : int
        Number of independent runs; the best of their subsets is selected (of equals the smallest, then the first).
    n_jobs : int or None
        Threads, as in scikit-learn: None is 1, unless in a ``joblib.parallel_config`` context; -1 uses all cores.
        Results do not depend on it.
    random_state : int, RandomState or None
        An int makes the selection repeatable; None does not. Estimators without random_state get one derived from it.
    algorithm_params : mapping or None
        Parameters of the algorithm, such as ``{"swarm_size": 50}``. MERIT's `start_size` is 8 by default here, since
        features may have any scale; 20 finds better subsets of scaled ones.
    callback : callable, list or None
        Functions called with the progress after each batch: `n_evaluations`, `max_evaluations`, `score`, `size`,
        `features`, `mask` and `elapsed` [s]; it prints as a sentence. The search stops if one returns True. They are
        not pickled.
    verbose : int
        0 or less is silent, 1 shows a progress bar, and how the subset was selected.
    max_time : float or None
        Seconds after which `fit` stops the search, within the time of one evaluation; at least one subset is evaluated.
    patience : int or None
        Number of evaluations without improvement after which a run stops.
    rule : {"nested", "rescored", "best", "1se"} or int
        Which subset is selected. ``"rescored"``, against overfitting to the folds: of the best 20 (one per 300
        evaluations, if fewer), the one with the best mean score over the given folds and ten other partitions of the
        events; it adds a thirtieth to the evaluations. ``"nested"``: the same, but after 3000 evaluations or more, five
        short searches are repeated in training sets; if the first features by ANOVA's F score better on the test sets,
        by more than two standard errors, they are selected instead; it adds half to the evaluations. If `cv` is not a
        plain k-fold, or the search ran out of time, both are ``"best"``: the best score. ``"1se"``: the smallest on the
        front of size and score within one standard error of the best. An int: the best of at most that many features.
    outer_cv : int, splitter, iterable or None
        An outer cross-validation for an unbiased estimate: the whole selection, with its limits and callback, is
        repeated in each of its training sets and scored on its test set. See `outer_score_`.
    prefilter : "auto", int, str or None
        Search only the features ranked first by a filter, if there are more than 300: ``"auto"`` by ANOVA's F, a name
        in :data:`pqswarm.evaluation.FILTERS` by that filter. It keeps three times as many, at most 300, as the
        filter alone needs for an error within one standard error of its lowest, if it is applied inside each split. An
        int keeps exactly that many, None all. Algorithms with a parameter `order` receive the ranking.
    storage : str, Path or None
        A file that stores the state of the search every few seconds and at its end. `fit` resumes from it, also with a
        larger `max_evaluations`, with the same result as without interruption. Different data or parameters are an
        error.
    warm_start : bool
        Whether to resume from the last fit, with a larger `max_evaluations`; that fit must also have used
        ``warm_start=True``.
    refit : bool or str
        Whether to fit the estimator to the selected features of all events, for `predict`; of several scores, the name
        of the one to optimise, by default the first.
    fixed_features, excluded_features : iterable or None
        Features, by name or position, that every subset contains, and that none does.
    feature_groups : list of lists, dict of lists or None
        Features, by name or position, that are chosen together, such as the columns of one encoded category; see
        :func:`pqswarm.selector.encoded_groups`. A group is one bit of the search.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        The selected features.
    best_score_ : float
        Their mean score over the splits. It was optimised: expect less on new data, by `outer_optimism_`.
    rule_ : str
        How the subset was selected, as a sentence.
    n_features_ : int
        Number of selected features.
    ranking_ : ndarray of int, shape (n_features_in_,)
        1 for selected features; the others from 2 on, by how many runs selected them.
    selection_frequency_ : ndarray of float, shape (n_features_in_,)
        The fraction of runs whose best subset has the feature.
    front_ : list of FrontPoint
        The best subsets by size over all runs, each with `size`, `score`, `std` over the splits, and `support`. `std`
        is NaN if the search was interrupted or ran out of time.
    cv_results_ : dict of ndarray
        Scores of the subsets on the front, as in scikit-learn: `n_features`, `mean_test_score`, `std_test_score`,
        `split0_test_score`, ...; of several scores, with their names instead of ``score``. Only sizes if the search was
        interrupted or ran out of time.
    results_ : pandas.DataFrame
        The front, with the scores of each split, and each improvement of each run.
    best_estimator_ : object
        The estimator, fitted to the selected features of all events. Only with `refit`.
    classes_ : ndarray
        Its labels, of a classifier.
    history_ : list of SearchResult
        The result of each run, with the lowest error and its subset size after each evaluation.
    stop_reason_ : str
        Why the search ended: ``"max_evaluations"``, ``"max_time"``, ``"patience"``, ``"callback"``,
        ``"interrupted"``, or ``"finished"`` if the algorithm ended by itself.
    interrupted_ : bool
        Whether Ctrl-C ended the fit.
    evaluator_name_ : str
        The evaluator used, such as ``KNNEvaluator`` or ``GenericEvaluator``, and why, as a sentence.
    prefilter_ : str or None
        Which features were searched, as a sentence; None if all were.
    outer_score_, outer_scores_ : float, ndarray of shape (n_splits,)
        Mean and single scores of the test sets of `outer_cv`: an estimate of the score of the whole procedure on new
        data. Only with `outer_cv`.
    outer_interval_, outer_interval_method_ : tuple of float, str
        A 95 % interval of that score, and its method: Wilson's interval of the proportion of correct predictions if
        each event is tested once and accuracy is scored, else a t interval with the variance of Nadeau and Bengio.
    outer_optimism_, outer_optimism_interval_ : float, tuple of float
        How much better the scores of the searches in the training sets of `outer_cv` are than those of their test sets,
        on average, and a 95 % t interval with the variance of Nadeau and Bengio.
    outer_supports_ : ndarray of bool, shape (n_splits, n_features)
        The features selected in each training set of `outer_cv`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True, as_frame=False)
    >>> selector = SwarmSelector(GaussianNB(), max_evaluations=300, random_state=0).fit(X, y)
    >>> bool(selector.best_score_ > 0.97), bool(selector.n_features_ < 13), selector.stop_reason_
    (True, True, 'max_evaluations')
    >>> selector.transform(X).shape[1] == selector.n_features_
    True
    """

    __metadata_request__fit: ClassVar = {"groups": UNUSED}  # routed, not consumed

    def __init__(
        self,
        estimator: Any = None,
        algorithm: Any = DEFAULT_ALGORITHM,
        cv: Any = None,
        scoring: Any = None,
        max_evaluations: int | None = None,
        n_features_to_select: Any = None,
        n_runs: Any = 1,
        n_jobs: int | None = None,
        random_state: Any = None,
        algorithm_params: Mapping[str, Any] | None = None,
        callback: "Callable[[Progress], object] | Sequence[Callable[[Progress], object]] | None" = None,
        verbose: int = 0,
        *,
        max_time: float | None = None,
        patience: int | None = None,
        rule: Any = "nested",
        outer_cv: Any = None,
        prefilter: Any = "auto",
        storage: Any = None,
        warm_start: bool = False,
        refit: bool | str = True,
        fixed_features: Iterable[Any] | None = None,
        excluded_features: Iterable[Any] | None = None,
        feature_groups: Any = None,
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
        self.max_time = max_time
        self.patience = patience
        self.rule = rule
        self.outer_cv = outer_cv
        self.prefilter = prefilter
        self.storage = storage
        self.warm_start = warm_start
        self.refit = refit
        self.fixed_features = fixed_features
        self.excluded_features = excluded_features
        self.feature_groups = feature_groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = default_estimator() if self.estimator is None else self.estimator
        own = get_tags(estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = deepcopy(own.classifier_tags), deepcopy(own.regressor_tags)
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True
        tags.target_tags = deepcopy(own.target_tags)
        tags.target_tags.required = True
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = self.estimator is not None and takes_missing(self.estimator)
        return tags

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's router: to the estimator's `fit`, the scorer and the splitter."""
        return selector_routing(self)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state["callback"] = None  # it may not be picklable
        return state

    def fit(self, X: Any, y: Any, groups: Any = None, **fit_params: Any) -> "SwarmSelector":
        """Search for the best features.

        Parameters
        ----------
        X : array_like, data frame or sparse matrix of shape (n, n_features)
            Events. NaN is allowed if the estimator accepts it; so are columns of text or categories in a frame, which
            reaches the estimator as a frame, and a sparse matrix.
        y : array_like of shape (n,) or (n, n_targets)
            Labels, or targets of a regression; several targets, if the estimator accepts them.
        groups : array_like of shape (n,), optional
            Groups of events, for a `cv` that uses them.
        **fit_params
            ``sample_weight``, array_like of shape (n,), if the estimator accepts it: weights of the events in fitting
            and scoring. Other arguments of the estimator's `fit`: those with one value per event are split like the
            events; the columns of ``eval_set`` and ``X_val`` are selected like the features. With scikit-learn's
            metadata routing enabled, all arguments go where they are requested.

        Returns
        -------
        SwarmSelector
            Itself.
        """
        began = time.monotonic()
        data = read_input(self, X, y, groups, fit_params)
        check_integer("n_runs", self.n_runs, 1)
        if self.patience is not None:
            check_integer("patience", self.patience, 1, also=", or None")
        if self.max_time is not None:
            check_positive("max_time", self.max_time, unit="of seconds", also=", or None")
        check_task_rule(self.rule, self.n_features_to_select)
        check_callbacks(self.callback)
        splits = outer_splits(self, data)
        with Interrupts() as interrupts:
            selection = select(self, data, len(splits), began, interrupts)
            self._remember(selection)
            if self.refit is not False:
                self.best_estimator_ = interrupts.insist(data.fit, selection.task.estimator, self.support_)
            outer = estimate_outer(self, selection.task, splits, data, interrupts) if splits else None
        if outer is not None:
            self.outer_scores_, self.outer_score_ = outer.scores, outer.score
            self.outer_interval_, self.outer_interval_method_ = outer.interval, outer.method
            self.outer_supports_ = outer.supports
            self.outer_optimism_, self.outer_optimism_interval_ = outer.optimism, outer.optimism_interval
        if self.verbose > 0:
            show_selection(self)
        self.interrupted_ = interrupts.pressed
        if self.interrupted_:
            done = sum(result.n_evaluations for result in self.history_)
            without = ", without the estimate by outer_cv" if splits and outer is None else ""
            later = " Fit again to resume." if self.storage is not None or self.warm_start else ""
            warnings.warn(f"interrupted: the best of {done} evaluations is kept{without}.{later}", stacklevel=2)
        return self

    def _remember(self, selection: Selection) -> None:
        """Set all attributes of a selection, and drop those of an earlier one."""
        for name in [name for name in vars(self) if name.startswith(("outer_", "best_estimator")) and name[-1] == "_"]:
            delattr(self, name)
        chosen, task = selection.chosen, selection.task
        self.support_: BoolArray = chosen.support
        self.best_score_ = chosen.score
        self.n_features_ = chosen.size
        self.selection_frequency_ = np.mean([result.mask for result in selection.results], axis=0)
        self.ranking_: IntArray = rank_features(self.support_, self.selection_frequency_)
        self.front_: list[FrontPoint] = selection.front
        self.history_: list[SearchResult] = selection.results
        self.cv_results_: dict[str, AnyArray] = make_cv_results(selection.scores, [one.size for one in self.front_])
        self.stop_reason_ = selection.stop_reason
        self.evaluator_name_ = task.choice.reason
        self.prefilter_ = task.prefilter
        self.rule_ = selection.how
        self._is_loss = bool(task.choice.evaluator.is_loss)
        self._saved = selection.saved if self.warm_start else None

    def select(self, size: int) -> BoolArray:
        """Return the best subset found of at most `size` features, as a mask.

        Parameters
        ----------
        size : int
            Maximum number of features.

        Returns
        -------
        ndarray of bool, shape (n_features_in_,)
            The subset on ``front_`` of that size, or the next smaller one. `support_` is not changed.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> selector = SwarmSelector(max_evaluations=200, random_state=0).fit(*load_wine(return_X_y=True))
        >>> bool((selector.select(selector.n_features_) == selector.support_).all())
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
