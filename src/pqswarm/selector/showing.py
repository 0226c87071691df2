"""Show a fitted selector: a frame of results, figures, and the front in a notebook."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.selector.front import make_frame
from pqswarm.selector.task import named_scorings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = 25  # features in a bar chart at most


class ShownMixin:
    """Tables and figures of a fitted selector. Figures are drawn into the axes `ax`, or into a new figure."""

    front_: Any
    history_: Any
    support_: BoolArray
    n_features_: int
    n_features_in_: int
    best_score_: float
    cv_results_: Any
    scoring: Any
    refit: Any
    _is_loss: bool

    @property
    def results_(self) -> Any:
        """The front and all improvements of the runs, as a pandas data frame.

        Columns: `kind` (front or improvement), `run` and `evaluations` (improvements), `score`, `std` over the splits
        (front), `size`, `selected` (by the rule), `features`, if known, and the scores of each split (front).
        """
        check_is_fitted(self)
        return make_frame(
            self.history_, self.front_, self.support_, self._feature_names(), self._score_of, self.cv_results_
        )

    def plot_history(self, ax: Any = None) -> "Figure":
        """Plot the best score so far against the evaluations, one line per run."""
        check_is_fitted(self)
        best = max(self.history_, key=lambda result: (-result.error, -result.size))

        def draw(axes: Any, look: Any) -> None:
            for result in sorted(self.history_, key=lambda result: result is best):
                steps = np.vstack([result.improvements, result.improvements[-1]])
                after = np.append(result.improvements[:, 0] + 1, result.n_evaluations)
                width, alpha = (1.8, 1.0) if result is best else (0.8, 0.4)
                scores = [self._score_of(error) for error in steps[:, 1]]
                axes.plot(after, scores, color=look.WAVE, lw=width, alpha=alpha, drawstyle="steps-post")
            axes.set_title(f"{best.algorithm}: {self._score_of(best.error):.4g} with {best.size} features", fontsize=10)
            axes.set(xlabel="evaluations", ylabel=f"best {self._score_name()}")

        return _draw_into(ax, draw)

    def plot_front(self, ax: Any = None) -> "Figure":
        """Plot the best score of each size, its standard deviation over the splits, and the selected subset."""
        check_is_fitted(self)
        sizes, scores, stds = np.array([(point.size, point.score, point.std) for point in self.front_]).T

        def draw(axes: Any, look: Any) -> None:
            axes.errorbar(sizes, scores, np.nan_to_num(stds), color=look.WAVE, marker="o", ms=4, elinewidth=0.8)
            axes.plot(self.n_features_, self.best_score_, "o", ms=10, mfc="none", mec=look.BAND, mew=1.8)
            axes.set_title(f"selected: {self.n_features_} features", fontsize=10)
            axes.set(xlabel="features", ylabel=self._score_name())
            axes.xaxis.get_major_locator().set_params(integer=True)

        return _draw_into(ax, draw)

    def plot_importance(self, ax: Any = None) -> "Figure":
        """Plot how often each feature is in a good subset: on a run's front, within a standard error of the best."""
        check_is_fitted(self)
        best, n_splits = self.front_[-1], sum(key.startswith("split") for key in self.cv_results_) or 1
        allowed = best.score - np.nan_to_num(best.std, nan=np.inf) / np.sqrt(n_splits)
        good = [
            mask
            for result in self.history_
            for mask, error in zip(result.front_masks, result.front_errors, strict=True)
            if self._score_of(error) >= allowed
        ]
        return self._plot_bars(ax, np.mean(good, axis=0), f"fraction of {len(good)} good subsets with the feature")

    def plot_stability(self, ax: Any = None) -> "Figure":
        """Plot how often each feature was selected over the training sets of `outer_cv`, or else over the runs."""
        from pqswarm.statistics import selection_stability

        check_is_fitted(self)
        masks = getattr(self, "outer_supports_", None)
        what = "outer training sets" if masks is not None else "runs"
        masks = np.array([result.mask for result in self.history_]) if masks is None else masks
        if len(masks) < 2:
            raise PqswarmError("plot_stability compares several selections: use outer_cv, or n_runs of at least 2.")
        stability = selection_stability(masks).stability
        label = f"fraction of {len(masks)} {what} that select the feature (stability {stability:.2f})"
        return self._plot_bars(ax, masks.mean(axis=0), label)

    def _plot_bars(self, ax: Any, values: FloatArray, label: str) -> "Figure":
        """Draw the largest values, the selected features in full colour."""
        order = np.argsort(-values, kind="stable")[: min(_BARS, int(np.count_nonzero(values)))][::-1]
        names = self._feature_names()

        def draw(axes: Any, look: Any) -> None:
            colours = [look.WAVE if self.support_[place] else look.FAINT for place in order]
            axes.barh([str(names[place]) for place in order], values[order], color=colours)
            axes.set(xlim=(0, 1), xlabel=label)

        return _draw_into(ax, draw)

    def _feature_names(self) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def _score_of(self, error: float) -> float:
        return -error if self._is_loss else 1.0 - error

    def _score_name(self) -> str:
        """The optimised score in words."""
        name, scoring = next(iter(named_scorings(self.scoring, self.refit).items()))
        if scoring is None:
            return "accuracy" if is_classifier(self) else "R2"
        return (scoring if isinstance(scoring, str) else name).replace("_", " ")

    def _front_html(self) -> str:
        """The front as a figure whose points name their features, and as a list that opens."""
        if not hasattr(self, "front_"):
            return ""
        names, rows, dots, places = self._feature_names(), [], [], []
        sizes, scores = (np.array([getattr(point, name) for point in self.front_]) for name in ("size", "score"))
        across = 45 + 300 * (sizes - sizes[0]) / max(1, sizes[-1] - sizes[0])
        up = 105 - 90 * (scores - scores[0]) / (float(np.ptp(scores)) or 1.0)
        for point, x, y in zip(self.front_, across, up, strict=True):
            chosen = " (selected)" if np.array_equal(point.support, self.support_) else ""
            features = ", ".join(escape(str(names[place])) for place in np.flatnonzero(point.support).tolist())
            label = f"{point.size}: {point.score:.4g}{chosen}"
            rows.append(f"<details><summary>{label}</summary>{features}</details>")
            width, fill = (7, "none") if chosen else (4, "currentColor")
            circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width}" stroke="currentColor" fill="{fill}" '
            dots.append(f'{circle}pointer-events="all"><title>{label} = {features}</title></circle>')
            places.append(f"{x:.1f},{y:.1f}")
        ends = zip(across[[0, -1]], sizes[[0, -1]], up[[0, -1]], scores[[0, -1]], strict=True)
        texts = [
            f'<text x="{x:.0f}" y="125">{size}</text><text x="0" y="{y:.0f}">{s:.4g}</text>' for x, size, y, s in ends
        ]
        line = f'<polyline points="{" ".join(places)}" fill="none" stroke="currentColor"/>'
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


def show_selection(selector: Any) -> None:
    """Print to standard error which features were searched, how the subset was selected, and the optimism if known."""
    from rich.console import Console

    score = f"{selector.n_features_} of {selector.n_features_in_} features, score {selector.best_score_:.4g}."
    lines = [selector.prefilter_, f"Selected {score} {selector.rule_}"]
    if hasattr(selector, "outer_optimism_"):
        by = "{:.3g} ({:.3g} to {:.3g}, 95 %)".format(selector.outer_optimism_, *selector.outer_optimism_interval_)
        lines.append(f"On events that the search never saw, the score is {selector.outer_score_:.4g}, lower by {by}.")
    Console(stderr=True).print(*filter(None, lines), sep="\n", highlight=False)


def _draw_into(ax: Any, draw: Callable[[Any, Any], None]) -> "Figure":
    """Draw into the given axes, or into a new figure, and return the figure; `draw` gets the axes and the style."""
    import matplotlib as mpl
    from matplotlib import figure

    from pqswarm.report import style

    if ax is not None:
        draw(ax, style)
        return ax.figure  # type: ignore[no-any-return]
    with mpl.rc_context(style.STYLE):
        new = figure.Figure(figsize=(6, 3.6), layout="constrained")
        draw(new.subplots(), style)
        return style.settle(new)
