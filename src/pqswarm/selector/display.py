"""Show a fitted selector: a frame of results, figures, and the front in a notebook."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pqswarm._base.typing import BoolArray
from pqswarm.errors import PqswarmError
from pqswarm.selector.front import make_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = 25  # features in a bar chart at most
_STRONG = "tab:blue"
_FAINT = "lightsteelblue"
_MARK = "tab:orange"


def _axes_or_new(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PqswarmError("figures need matplotlib: pip install matplotlib.") from error
    return Figure(figsize=(6, 3.6), layout="constrained").subplots()


class DisplayMixin:
    """Tables and figures of a fitted selector. Figures are drawn into the axes `ax`, or into a new figure."""

    front_: Any
    history_: Any
    support_: BoolArray
    n_features_: int
    n_features_in_: int
    best_score_: float
    cv_results_: Any
    scoring: Any
    _is_loss: bool

    @property
    def results_(self) -> Any:
        """The front and all improvements of the search, as a pandas data frame.

        Columns: `kind` (front or improvement), `evaluations` (improvements), `score`, `std` over the splits (front),
        `size`, `selected` (by the rule), `features`, if known, and the scores of each split (front).
        """
        check_is_fitted(self)
        return make_frame(
            self.history_, self.front_, self.support_, self._feature_names(), self._score_of, self.cv_results_
        )

    def plot_history(self, ax: Any = None) -> "Figure":
        """Plot the best score so far against the evaluations."""
        check_is_fitted(self)
        result = self.history_
        steps = np.vstack([result.improvements, result.improvements[-1]])
        after = np.append(result.improvements[:, 0] + 1, result.n_evaluations)
        axes = _axes_or_new(ax)
        axes.plot(after, [self._score_of(error) for error in steps[:, 1]], color=_STRONG, drawstyle="steps-post")
        axes.set_title(f"{result.algorithm}: {self._score_of(result.error):.4g} with {result.size} features")
        axes.set(xlabel="evaluations", ylabel=f"best {self._score_name()}")
        return axes.figure  # type: ignore[no-any-return]

    def plot_front(self, ax: Any = None) -> "Figure":
        """Plot the best score of each size, its standard deviation over the splits, and the selected subset."""
        check_is_fitted(self)
        sizes, scores, stds = np.array([(point.size, point.score, point.std) for point in self.front_]).T
        axes = _axes_or_new(ax)
        axes.errorbar(sizes, scores, np.nan_to_num(stds), color=_STRONG, marker="o", ms=4, elinewidth=0.8)
        axes.plot(self.n_features_, self.best_score_, "o", ms=10, mfc="none", mec=_MARK, mew=1.8)
        axes.set_title(f"selected: {self.n_features_} features")
        axes.set(xlabel="features", ylabel=self._score_name())
        axes.xaxis.get_major_locator().set_params(integer=True)
        return axes.figure  # type: ignore[no-any-return]

    def plot_importance(self, ax: Any = None) -> "Figure":
        """Plot how often each feature is in a good subset: on the front, within a standard error of the best."""
        check_is_fitted(self)
        best = self.front_[-1]
        n_splits = sum(key.startswith("split") for key in self.cv_results_) or 1
        allowed = best.score - np.nan_to_num(best.std, nan=np.inf) / np.sqrt(n_splits)
        good = [point.support for point in self.front_ if point.score >= allowed]
        fractions = np.mean(good, axis=0)
        order = np.argsort(-fractions, kind="stable")[: min(_BARS, int(np.count_nonzero(fractions)))][::-1]
        names = self._feature_names()
        axes = _axes_or_new(ax)
        colors = [_STRONG if self.support_[place] else _FAINT for place in order]
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
            selected = np.array_equal(point.support, self.support_)
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
        title = f"{self.n_features_} of {self.n_features_in_} features, {escape(self._score_name())}"
        inside = figure + "".join(rows)
        return f"<details><summary>{title} {self.best_score_:.4g}: the front by size</summary>{inside}</details>"

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._front_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._front_html()
        return bundle
