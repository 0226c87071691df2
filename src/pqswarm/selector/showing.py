"""Show a fitted selector: a frame of results and figures."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pqswarm.selector.front import make_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ShownMixin"]


class ShownMixin:
    """Tables and figures of a fitted selector."""

    front_: Any
    history_: Any
    support_: Any
    n_features_: int
    n_features_in_: int
    cv_results_: Any
    _is_loss: bool

    @property
    def results_(self) -> Any:
        """The front and all improvements of the runs, as a pandas data frame.

        Columns: `kind` (front or improvement), `run` and `evaluations` (improvements), `score`, `std` over the splits
        (front), `size`, `selected` (by the rule), `features`, if known, and the scores of each split (front).
        """
        check_is_fitted(self)
        names = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        is_loss = self._is_loss
        score = lambda e: -e if is_loss else 1.0 - e  # noqa: E731
        return make_frame(self.history_, self.front_, self.support_, names, score, self.cv_results_)

    def plot_history(self) -> "Figure":
        """Plot the lowest error and the size of its subset against the evaluations, one line per run."""
        from pqswarm.report import plot_searches

        check_is_fitted(self)
        return plot_searches(self.history_)

    def plot_front(self) -> "Figure":
        """Plot the best score of each size, its standard deviation over the splits, and the selected subset."""
        from pqswarm.report import plot_front

        check_is_fitted(self)
        sizes, scores, stds = np.array([(point.size, point.score, point.std) for point in self.front_]).T
        return plot_front(sizes, scores, stds, chosen=self.n_features_)
