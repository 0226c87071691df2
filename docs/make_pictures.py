"""Draw the first picture of the README and the cards of the home page from the library and its reference results.

    python docs/make_pictures.py [FOLDER]

writes ``first-picture.svg`` and ``cards/*.png``, which are transparent, to FOLDER (default ``docs/_static``).
Everything is drawn from seeds and from ``docs/results``, so the pictures are reproducible. ``make_screenshots.py``
takes those that need a browser.
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
from pqswarm.evaluation import CachedEvaluator, Folds, KNNEvaluator
from pqswarm.events import generate
from pqswarm.measure import characterize
from pqswarm.recordings import Channel, Recording
from pqswarm.report import Palette
from pqswarm.report.style import BAND, FAINT, GREY, INK, STYLE, WAVE
from pqswarm.search import ALGORITHMS, minimize

DOCS = Path(__file__).resolve().parent
CARDS: dict[str, Callable[[Axes], None]] = {}
"""Drawing function of each card, by name."""
EVENTS_PER_CLASS = 50
RUNS = 8


def main() -> None:
    """Draw all pictures."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "_static"
    (out / "cards").mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({**STYLE, "svg.hashsalt": "pqswarm"}):
        first_picture().savefig(out / "first-picture.svg", facecolor="white", metadata={"Date": None})
    for name, draw in CARDS.items():
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(2.4, 1.2))
            axis = figure.add_axes((0.03, 0.06, 0.94, 0.88))
            axis.set_axis_off()
            draw(axis)
            path = out / "cards" / f"{name}.png"
            figure.savefig(path, dpi=200, transparent=True)
        shrink(path)


def shrink(path: Path, colors: int = 32) -> None:
    """Reduce the number of colors to save bytes. The octree preserves rare hues."""
    with Image.open(path) as picture:
        few = picture.convert("RGBA").quantize(colors, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def first_picture() -> Figure:
    """A recording with its sag, beside the error on new events against the number of features."""
    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    draw_sag(left)
    draw_errors(right)
    return figure


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


if __name__ == "__main__":
    main()
