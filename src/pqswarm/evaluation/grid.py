"""The result of a grid search for hyperparameters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pqswarm._base.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class GridSearchResult:
    """The mean accuracy of all features over the folds, at each point of a grid.

    Attributes
    ----------
    names : tuple of str
        The hyperparameters.
    points : tuple of tuple
        Their values.
    accuracies : ndarray of shape (n_points,)
        Mean accuracy over the folds at each point.
    usable : tuple of bool
        Whether the classifier accepts each point; some are only for comparison, such as the cosine distance of nearest
        neighbours. Empty means all.

    Examples
    --------
    >>> found = GridSearchResult(("bandwidth",), ((0.01,), (0.1,)), np.array([0.8, 0.9]))
    >>> found.best, found.table()[0]
    ({'bandwidth': 0.1}, {'bandwidth': 0.01, 'accuracy': 0.8})
    """

    names: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...]
    accuracies: FloatArray
    usable: tuple[bool, ...] = ()

    @property
    def best(self) -> dict[str, Any]:
        """The usable hyperparameters with the highest accuracy; of equals the first."""
        return dict(zip(self.names, self.points[self._best], strict=True))

    @property
    def _best(self) -> int:
        return int(np.where(self.usable or True, self.accuracies, -np.inf).argmax())

    def table(self) -> list[dict[str, Any]]:
        """Return one row per point: the hyperparameters and the accuracy."""
        return [
            {**dict(zip(self.names, point, strict=True)), "accuracy": float(accuracy)}
            for point, accuracy in zip(self.points, self.accuracies, strict=True)
        ]

    def plot(self) -> "Figure":
        """Plot accuracy against the last hyperparameter, a line per value of the others; the best is circled."""
        import matplotlib as mpl
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.0, 4.0), layout="constrained")
        axis = figure.subplots()
        for others in dict.fromkeys(point[:-1] for point in self.points):
            chosen = [i for i, point in enumerate(self.points) if point[:-1] == others]
            x = [self.points[i][-1] for i in chosen]
            label = ", ".join(map(str, others)) or None
            axis.plot(x, 100 * self.accuracies[chosen], marker="o", ms=4, lw=1.2, label=label)
        best = self._best
        ink = mpl.rcParams["text.color"]
        axis.plot(self.points[best][-1], 100 * self.accuracies[best], "o", ms=13, mfc="none", mec=ink, label="best")
        values = sorted({point[-1] for point in self.points})
        if all(isinstance(value, int) for value in values):
            axis.set_xticks(values)
        elif values[0] > 0 and values[-1] > 100 * values[0]:
            axis.set_xscale("log")
        axis.set_xlabel(self.names[-1].removeprefix("n_").replace("_", " "))
        axis.set_ylabel("mean accuracy over the folds [%]")
        axis.legend(frameon=False)
        axis.grid(alpha=0.3)
        return figure
