"""Draw the two pictures of the README, the cards of the home page and the figures of some pages.

    python docs/make_pictures.py [FOLDER]

writes ``sag.svg``, ``new-events.svg``, and ``FIGURES`` and ``cards/*.png``, which are transparent, to FOLDER
(default ``docs/_static``). Everything is drawn from seeds and from ``docs/results``, so the pictures are reproducible.
``make_screenshots.py`` takes those that need a browser.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import CachedEvaluator, Folds, GaussianNBEvaluator, KNNEvaluator
from pqswarm.events import generate
from pqswarm.measure import characterize
from pqswarm.recordings import Channel, Recording
from pqswarm.report import Palette
from pqswarm.report.style import BAND, FAINT, GREY, INK, STYLE, WAVE, WIDE
from pqswarm.search import ALGORITHMS, Merit, minimize
from pqswarm.search.umda import feature_frequencies

DOCS = Path(__file__).resolve().parent
CARDS: dict[str, Callable[[Axes], None]] = {}
"""Drawing function of each card, by name."""
FIGURES: dict[str, Callable[[], Figure]] = {}
"""Drawing function of each figure of a page, by name."""
EVENTS_PER_CLASS = 50
RUNS = 8


def main() -> None:
    """Draw all pictures."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "_static"
    (out / "cards").mkdir(parents=True, exist_ok=True)
    for name, draw in {"sag": draw_sag, "new-events": draw_errors}.items():
        with mpl.rc_context({**STYLE, "svg.hashsalt": "pqswarm"}):
            made = Figure(figsize=(4.8, 3.2), layout="constrained")
            draw(made.subplots())
            made.savefig(out / f"{name}.svg", facecolor="white", metadata={"Date": None})
    for name, draw in FIGURES.items():
        save(draw, out / f"{name}.svg")
    for name, draw in CARDS.items():
        with mpl.rc_context(STYLE):
            made = Figure(figsize=(2.4, 1.2))
            axis = made.add_axes((0.03, 0.06, 0.94, 0.88))
            axis.set_axis_off()
            draw(axis)
            path = out / "cards" / f"{name}.png"
            made.savefig(path, dpi=200, transparent=True)
        shrink(path)


def shrink(path: Path, colors: int = 32) -> None:
    """Reduce the number of colors to save bytes. The octree preserves rare hues."""
    with Image.open(path) as picture:
        few = picture.convert("RGBA").quantize(colors, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def draw_sag(axis: Axes) -> None:
    """Draw three voltages, and shade and name the sag that was found in them."""
    recording = disturbed()
    shown = slice(3500, 9000, 10)
    for channel, color in zip(recording.channels, (WAVE, FAINT, FAINT), strict=True):
        axis.plot(1e3 * recording.time[shown], channel.samples[shown], color=color, lw=1.0)
    (event,) = characterize(recording).events
    axis.axvspan(1e3 * event.start, 1e3 * event.end, color=BAND, alpha=0.15, lw=0)
    middle = 500 * (event.start + event.end)
    axis.annotate(event.sentence, (middle, 385), ha="center", color=INK, annotation_clip=False)
    axis.set(xlabel="time [ms]", ylabel="voltage [V]", ylim=(-360, 440))
    axis.set_title("Find events in recordings", loc="left")


def draw_errors(axis: Axes) -> None:
    """Draw the error of 3-NN on new events, of each run of three searches and of all features."""
    known, new = (make_dataset(EVENTS_PER_CLASS, snr=float("inf"), seed=seed) for seed in (1, 2))
    X, y = np.vstack([known.X(), new.X()]), np.concatenate([known.y, new.y])
    low, high = known.X().min(axis=0), known.X().max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1)
    train = np.arange(len(known.y))
    options = {"n_neighbors": 3, "metric": "manhattan"}
    search = CachedEvaluator(KNNEvaluator(X[train], known.y, Folds.stratified(known.y, n_folds=10, seed=0), **options))
    names = ("ga", "2d-upso", "merit")
    palette = Palette([ALGORITHMS[name].title for name in names], baseline="2D-UPSO")
    for name in names:
        title = ALGORITHMS[name].title
        found = [minimize(name, search, max_evaluations=6000, seed=seed).mask for seed in range(RUNS)]
        errors = [100 * error_on_new_events(X[:, mask], y, train) for mask in found]
        sizes = [mask.sum() for mask in found]
        axis.plot(sizes, errors, palette.marker(title), color=palette.color(title), ms=6, mew=0, alpha=0.8)
        place, offset = (min(errors), -16) if name == "merit" else (max(errors), 6)
        axis.annotate(title, (np.mean(sizes), place), (0, offset), textcoords="offset points", ha="center", color=INK)
    everything = 100 * error_on_new_events(X, y, train)
    axis.plot([X.shape[1]], [everything], "D", color=GREY, ms=6)
    axis.annotate("all features", (X.shape[1], everything), (0, 7), textcoords="offset points", ha="right", color=INK)
    axis.set(xlabel="number of features", ylabel="error on new events [%]", xlim=(0, 104), ylim=(0, 1.15 * everything))
    axis.set_title("Select the features that identify them", loc="left")


def error_on_new_events(X: np.ndarray, y: np.ndarray, train: np.ndarray) -> float:
    """Return the error of 3-NN, trained on some events, on the others."""
    from sklearn.neighbors import KNeighborsClassifier

    rest = np.setdiff1d(np.arange(len(y)), train)
    knn = KNeighborsClassifier(3, metric="manhattan").fit(X[train], y[train])
    return 1 - float(knn.score(X[rest], y[rest]))


def disturbed() -> Recording:
    """Return a three-phase recording with a sag on one phase."""
    sag = generate("sag", seed=3, depth=0.5, start=0.2, duration=0.1)
    steady = generate("pure_sinusoid", seed=3, amplitude=1.0)
    third = round(sag.sampling_rate / sag.frequency / 3)
    signals = (sag.signal, np.roll(steady.signal, third), np.roll(steady.signal, 2 * third))
    channels = tuple(Channel(f"U{p}", "V", p, 325.0 * signal) for p, signal in zip("ABC", signals, strict=True))
    return Recording(channels, sag.sampling_rate, sag.frequency)


def card(draw: Callable[[Axes], None]) -> Callable[[Axes], None]:
    """Register a card under the name of its function."""
    CARDS[draw.__name__] = draw
    return draw


def figure(name: str) -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
    """Register a figure of a page under a name."""

    def register(draw: Callable[[], Figure]) -> Callable[[], Figure]:
        FIGURES[name] = draw
        return draw

    return register


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Write a figure as SVG: transparent, with text as text, the same bytes each time."""
    with mpl.rc_context({**STYLE, "svg.fonttype": "none"}):
        draw().savefig(path, transparent=True, metadata={"Date": None})


def published_runs() -> list[dict[str, str]]:
    """Return the k-NN runs of the published study `paper`."""
    with (DOCS / "results/paper-runs.csv").open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["classifier"] == "k-NN"]


@card
def paper(axis: Axes) -> None:
    """Error against size of all runs."""
    rows = published_runs()
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    palette = Palette(names, baseline="2D-UPSO")
    for name in palette.drawn(names):
        points = [(int(row["size"]), float(row["error"])) for row in rows if row["algorithm"] == name]
        axis.plot(*zip(*points, strict=True), palette.marker(name), color=palette.color(name), ms=2.2, mew=0)


@card
def selection(axis: Axes) -> None:
    """The 99 features, and those of the best run of 2D-UPSO."""
    rows = [row for row in published_runs() if row["algorithm"] == "2D-UPSO"]
    best = min(rows, key=lambda row: (float(row["error"]), int(row["size"])))
    chosen = {int(feature) for feature in best["features"].split()}
    for i in range(99):
        look = {"color": WAVE if i in chosen else FAINT, "alpha": 1.0 if i in chosen else 0.3, "lw": 0}
        axis.add_patch(mpl.patches.Rectangle((i % 18 + 0.08, -(i // 18) + 0.08), 0.84, 0.84, **look))
    axis.set(xlim=(0, 18), ylim=(-5, 1))


@card
def recording(axis: Axes) -> None:
    """Voltages of three phases."""
    made = disturbed()
    for channel, color in zip(made.channels, (WAVE, BAND, GREY), strict=True):
        axis.plot(made.time[4200:6800], channel.samples[4200:6800], color=color, lw=0.9)


class WatchedMerit(Merit):
    """MERIT that notes the draws of its last batch."""

    def _first_new(self, masks, found, order, count):  # type: ignore[no-untyped-def]
        self.draws = masks
        return super()._first_new(masks, found, order, count)

    @property
    def frequencies(self) -> np.ndarray:
        """How often the best subsets of the population contain each feature."""
        return feature_frequencies(self._masks(self._best_of_population()))


def merit_problem() -> tuple[GaussianNBEvaluator, WatchedMerit]:
    """Return a small data set of 99 features, and a search that has not begun."""
    dataset = make_dataset(events_per_class=20, snr=float("inf"), seed=0)
    evaluator = GaussianNBEvaluator(dataset.X(), dataset.y, Folds.stratified(dataset.y, n_folds=5, seed=0))
    return evaluator, WatchedMerit(evaluator.n_features, seed=0)


@figure("merit-batch")
def merit_batch() -> Figure:
    """One batch of MERIT: the frequencies, and the draws by predicted and true error."""
    evaluator, search = merit_problem()
    for _ in range(12):
        masks = search.ask()
        search.tell(masks, evaluator.errors(masks))
    frequencies = search.frequencies
    batch = search.ask()
    evaluated = (search.draws[:, np.newaxis] == batch).all(axis=2).any(axis=1)
    errors = 100 * evaluator.errors(search.draws)
    predicted = 100 * (search.draws @ search.slopes)
    made = Figure(figsize=(WIDE, 2.7), layout="constrained")
    left, right = made.subplots(1, 2)
    left.bar(np.arange(1, 100), np.sort(frequencies)[::-1], 0.8, color=WAVE)
    left.set(xlabel="features, most frequent first", ylabel="frequency in the best subsets", title="1. Frequencies")
    right.plot(predicted[~evaluated], errors[~evaluated], "o", ms=2.6, mew=0, color=FAINT, label="draws")
    right.plot(predicted[evaluated], errors[evaluated], "o", ms=3.6, mew=0, color=BAND, label="evaluated")
    right.legend(frameon=False, loc="upper left", handletextpad=0.1, borderaxespad=0)
    right.set(xlabel="predicted error, relative [points]", ylabel="true error [%]", title="2. Draws and model")
    return made


@figure("merit-search")
def merit_search() -> Figure:
    """A whole search by MERIT: feature frequencies, and the errors of all subsets."""
    evaluator, search = merit_problem()
    frequencies, errors = [], []
    while len(search.seen) < 2000:
        masks = search.ask()
        errors.append(100 * evaluator.errors(masks))
        search.tell(masks, errors[-1] / 100)
        frequencies.append(search.frequencies)
    order = np.argsort(-np.mean(frequencies, axis=0), kind="stable")
    every = np.concatenate(errors)
    made = Figure(figsize=(WIDE, 4.2), layout="constrained")
    above, below = made.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    image = above.imshow(
        np.array(frequencies)[:, order].T, aspect="auto", cmap="Blues", vmin=0, vmax=1, interpolation="nearest",
        extent=(0, every.size, 99.5, 0.5),
    )  # fmt: skip
    made.colorbar(image, ax=above, label="frequency", pad=0.01)
    above.set(ylabel="feature")
    ends = np.cumsum([batch.size for batch in errors])
    below.fill_between(ends, [b.min() for b in errors], [b.max() for b in errors], color=FAINT, alpha=0.35, lw=0)
    below.plot(ends, np.minimum.accumulate([batch.min() for batch in errors]), color=BAND)
    below.set(xlabel="evaluations", ylabel="error [%]", ylim=(0, 40))
    return made


@figure("search-budget")
def search_budget() -> Figure:
    """Error on new data and cross-validated error against the budget, mean over the problems of the fresh suite."""
    with (DOCS / "results/fresh-suite.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    titles = {"merit": "MERIT", "umda": "UMDA", "ga-sparse": "GA-sparse"}
    palette = Palette(["2D-UPSO", *titles.values()], baseline="2D-UPSO")
    budgets = (300, 1000, 3000)
    made = Figure(figsize=(WIDE, 2.7), layout="constrained")
    for axis, column, title in zip(
        made.subplots(1, 2, sharey=True), ("held_out", "J"), ("error on new data", "cross-validated error"), strict=True
    ):
        for name, label in titles.items():
            means = [mean_by_problem(rows, name, budget, column) for budget in budgets]
            axis.plot(budgets, means, palette.marker(label), ls="-", color=palette.color(label), label=label)
        axis.set(title=title, xlabel="evaluations", xscale="log", ylim=(0.1, 0.31))
        axis.set_xticks(budgets, map(str, budgets), minor=False)
        axis.set_xticks([], minor=True)
    made.axes[0].set_ylabel("error")
    made.axes[0].legend(frameon=False, loc="lower left")
    return made


def mean_by_problem(rows: list[dict[str, str]], algorithm: str, budget: int, column: str) -> float:
    """Return the mean over the problems of a suite, of each over its estimators."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if (row["algorithm"], row["mark"]) == (algorithm, str(budget)):
            found.setdefault(row["problem"], []).append(float(row[column]))
    return float(np.mean([np.mean(values) for values in found.values()]))


if __name__ == "__main__":
    main()
