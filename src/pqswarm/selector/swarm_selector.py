"""A scikit-learn feature selector based on the searches."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from pqswarm._base.checks import is_integer
from pqswarm._base.typing import AnyArray, BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.estimators import takes_missing
from pqswarm.evaluation.tables import as_numbers, is_table, take_table
from pqswarm.selector.callbacks import check_callbacks, deadline_of
from pqswarm.selector.display import DisplayMixin
from pqswarm.selector.front import make_cv_results
from pqswarm.selector.inputs import given_estimator, read_input, selector_routing
from pqswarm.selector.prediction import PredictorMixin
from pqswarm.selector.search_loop import Interrupts
from pqswarm.selector.selection import SubsetSelection
from pqswarm.selector.storage import Saver, lock_storage_file, read_saved, storage_path
from pqswarm.selector.task import check_selection_rule, make_task, seed_of

if TYPE_CHECKING:
    from pqswarm.search import Progress, SearchResult
    from pqswarm.selector.front import FrontPoint

DEFAULT_ALGORITHM = "merit"
"""The default algorithm of a selector."""


class SwarmSelector(PredictorMixin, DisplayMixin, SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that minimize the cross-validated error of an estimator, by MERIT, 2D swarms or others.

    The error of a subset is the mean over the splits. k-nearest neighbours, Gaussian and kernel naive Bayes, linear
    discriminant analysis, and k-NN, linear and ridge regression have exact evaluators, tens to hundreds of times faster
    than fitting; any other estimator is fitted as usual.

    After `fit`, the selector transforms, and predicts by the estimator refitted to the selected features. Ctrl-C stops
    the search at any time and keeps the best subset found. A search that will take more than a minute starts with a
    warning that estimates its time.

    Of equal distances, the k-NN evaluator takes the lower sample index, scikit-learn an arbitrary one: on data with
    many equal distances, such as integers, its score of the same subset can differ.

    Parameters
    ----------
    estimator : object, default=None
        A scikit-learn classifier or regressor; it is cloned, not fitted itself. If None, use three nearest neighbours
        by Manhattan distance, with features scaled to [0, 1].
    algorithm : str, type or tuple, default="merit"
        A name in :data:`pqswarm.search.ALGORITHMS`, such as ``"merit"``, ``"2d-upso"`` or ``"sffs"``, a subclass of
        :class:`pqswarm.search.Search`, or a pair of either and a mapping of its parameters, such as
        ``("2d-upso", {"swarm_size": 50})``. MERIT's `start_size` is 8 by default here, since features may have any
        scale; 20 finds better subsets of scaled ones.
    cv : int, cross-validation generator or iterable, default=None
        Cross-validation, as in scikit-learn. If None, use 10 folds with an exact evaluator, else 5.
    scoring : str or callable, default=None
        As in scikit-learn. If None, use the accuracy of a classifier, R2 of a regressor.
    max_evaluations : int, default=None
        Number of subsets to evaluate. If None, use 6000 with an exact evaluator, else 600. MERIT counts a classifier's
        subset that it drops after some of the folds as that fraction of an evaluation.
    n_features_to_select : int or float, default=None
        Number or fraction of features to select, including fixed ones; a group counts as one. If None, the search
        decides.
    selection_rule : {"filter-check", "rescored", "best", "1se"}, default="filter-check"
        Which subset is selected, against overfitting to the folds:

        - ``"best"``: the subset with the best score.
        - ``"1se"``: the smallest on the front of size and score within one standard error of the best.
        - ``"rescored"``: of the best 20 (one per 300 evaluations, if fewer), the one with the best mean score over the
          given folds and ten other partitions of the samples. It adds a thirtieth to the evaluations.
        - ``"filter-check"``: the same, but after 3000 evaluations or more, five short searches are repeated in training
          sets. If the first features by ANOVA's F score better on the test sets, by more than two standard errors,
          they are selected instead. It adds half to the evaluations.

        If `cv` is not a plain k-fold, or the search ran out of time, the last two are ``"best"``.
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
        `mask` and `elapsed` [s]; it prints as a sentence. The search stops if one returns True. See
        :class:`EarlyStopping`, also for a limit of time, and :class:`ProgressBar`. They are not pickled.
    storage : str or Path, default=None
        A file that stores the state of the search every few seconds and at its end. `fit` resumes from it, also with a
        larger `max_evaluations`, with the same result as without interruption. Different data or parameters are an
        error.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        The selected features.
    best_score_ : float
        Their mean score over the splits. It was optimized: expect less on new data, see :func:`nested_score`.
    rule_ : str
        How the subset was selected, as a sentence.
    n_features_ : int
        Number of selected features.
    front_ : list of FrontPoint
        The best subsets by size, each with `size`, `score`, `std` over the splits, and `support`. `std` is NaN if the
        search was interrupted or ran out of time.
    cv_results_ : dict of ndarray
        Scores of the subsets on the front, as in scikit-learn: `n_features`, `mean_test_score`, `std_test_score`,
        `split0_test_score`, ... Only sizes if the search was interrupted or ran out of time.
    results_ : pandas.DataFrame
        The front, with the scores of each split, and each improvement of the search.
    best_estimator_ : object
        The estimator, fitted to the selected features of all samples.
    classes_ : ndarray
        Its labels, of a classifier.
    history_ : SearchResult
        The result of the search, with the lowest error and its subset size after each evaluation.
    stop_reason_ : str
        Why the search ended: ``"max_evaluations"``, ``"max_time"``, ``"callback"``, ``"interrupted"``, or
        ``"finished"`` if the algorithm ended by itself.
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
        *,
        algorithm: Any = DEFAULT_ALGORITHM,
        cv: Any = None,
        scoring: Any = None,
        max_evaluations: int | None = None,
        n_features_to_select: Any = None,
        selection_rule: str = "filter-check",
        prefilter: Any = "auto",
        constraints: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        callbacks: "Callable[[Progress], object] | Sequence[Callable[[Progress], object]] | None" = None,
        storage: Any = None,
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.cv = cv
        self.scoring = scoring
        self.max_evaluations = max_evaluations
        self.n_features_to_select = n_features_to_select
        self.selection_rule = selection_rule
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
        return selector_routing(self)

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
        check_selection_rule(self.selection_rule)
        path = storage_path(self.storage)
        with Interrupts() as interrupts:
            with nullcontext() if path is None else lock_storage_file(path):
                saved = None if path is None else read_saved(path)
                if saved is not None and self.random_state is None:
                    seed = int(saved.identity["random_state"])
                else:
                    seed = seed_of(self.random_state)
                task = interrupts.insist(make_task, self, data, seed)
                selection = SubsetSelection(self, task, data, interrupts, deadline)
                if saved is not None and path is not None:
                    selection.restore(saved, path)
                selection.warn_if_slow()
                saver = None if path is None else Saver(path, task.identity, selection.run, selection.pool)
                try:
                    selection.search(saver)
                finally:
                    if saver is not None:
                        saver.save()
            selection.choose()
            self._remember(selection)
            self.best_estimator_ = interrupts.insist(data.fit, task.estimator, self.support_)
        self.interrupted_ = interrupts.pressed
        if self.interrupted_:
            later = " Fit again to resume." if path is not None else ""
            done = self.history_.n_evaluations
            warnings.warn(f"interrupted: the best of {done} evaluations is kept.{later}", stacklevel=2)
        return self

    def _remember(self, selection: SubsetSelection) -> None:
        """Set the attributes of a selection."""
        self.support_: BoolArray = selection.chosen.support
        self.best_score_ = selection.chosen.score
        self.n_features_ = selection.chosen.size
        self.front_: list[FrontPoint] = selection.front
        self.history_: SearchResult = selection.result
        self.cv_results_: dict[str, AnyArray] = make_cv_results(selection.fold_scores, self.front_)
        self.stop_reason_ = selection.stop_reason
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
