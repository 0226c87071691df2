"""Draw the card pictures, the chart of the home page and the figures of some pages from the library and its results.

    python docs/make_pictures.py [FOLDER]

writes ``error-against-size.svg``, whose text takes the colour of the page, ``cards/*.png`` and ``FIGURES``, which are
transparent, to FOLDER (default ``docs/_static``). Everything is drawn from seeds and from ``docs/results``, so the
pictures are reproducible. ``make_screenshots.py`` takes those that need a browser.
"""

import csv
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from pqswarm.datasets import make_dataset
from pqswarm.evaluation import FILTERS, CachedEvaluator, Folds, GaussianNBEvaluator
from pqswarm.events import generate
from pqswarm.features import decompose
from pqswarm.identify import identify
from pqswarm.measure import characterize
from pqswarm.recordings import Channel, Recording
from pqswarm.report import Palette, plot_error_against_size
from pqswarm.report.style import BAND, FAINT, GREY, INK, LOSS, STYLE, WAVE, WIDE
from pqswarm.report.svg import inline_svg
from pqswarm.search import ALGORITHMS, UPSO2D, Merit, minimize
from pqswarm.search.umda import feature_frequencies
from pqswarm.statistics import friedman

DOCS = Path(__file__).resolve().parent
HOLDS = "#2d9626"
Points = dict[str, tuple[np.ndarray, np.ndarray]]
CARDS: dict[str, Callable[[Axes], None]] = {}
"""Drawing function of each card, by name."""
FIGURES: dict[str, Callable[[], Figure]] = {}
"""Drawing function of each figure of a page, by name."""


def main() -> None:
    """Draw all pictures."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "_static"
    (out / "cards").mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        save(draw, out / f"{name}.svg")
    (out / "error-against-size.svg").write_text(chart(), encoding="utf-8")
    lines = {name: partial(words, lines=text) for name, text in WORDS.items()}
    for name, draw in (CARDS | lines).items():
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(2.4, 1.2))
            axis = figure.add_axes((0.03, 0.06, 0.94, 0.88))
            axis.set_axis_off()
            draw(axis)
            path = out / "cards" / f"{name}.png"
            figure.savefig(path, dpi=200, transparent=True)
        shrink(path)
    for name, (page, box) in SCREENS.items():
        path = out / "cards" / f"{name}.png"
        with Image.open(DOCS / "_static" / page) as picture:
            picture.convert("RGBA").crop(box).resize((480, 240), Image.Resampling.LANCZOS).save(path)
        shrink(path)


def shrink(path: Path, colours: int = 32) -> None:
    """Reduce the number of colours to save bytes. The octree preserves rare hues."""
    with Image.open(path) as picture:
        few = picture.convert("RGBA").quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


WORDS = {
    "own_algorithm": [
        "class Annealing(Search):",
        "    def ask(self):",
        "        ...",
        "    def tell(self, masks,",
        "             errors):",
    ],
    "plan": ["runs = 40", "max_evaluations = 6000", "[dataset]", 'preset = "paper"', "events_per_class = 250"],
    "commands": [
        "$ pqswarm study quick",
        "$ pqswarm report mine",
        "$ pqswarm identify fault.cfg",
        "$ pqswarm app samples",
    ],
    "cluster": [
        "$ dask scheduler",
        "$ dask worker tcp://...",
        "$ pqswarm study mine.toml \\",
        "    --cluster tcp://...",
    ],
    "gpu": ["$ make gpu", "$ pqswarm study paper \\", "    --device cuda"],
    "errors": ["try:", "    load_plan(path)", "except PqswarmError as error:", "    print(error)"],
}
"""Cards with a few lines of code, of a file or of a terminal."""

SCREENS = {
    "workbench": ("workbench/recording.png", (0, 405, 940, 875)),
    "verdicts": ("workbench/recordings.png", (325, 240, 925, 540)),
    "report": ("report.png", (0, 0, 1100, 550)),
}
"""Cards cropped from screenshots: the file, and left, upper, right and lower edge [pixels]."""


def chart() -> str:
    """Draw error against size of all runs of the study `paper` with k-NN, as in its report."""
    points, whole = runs("paper")
    figure = plot_error_against_size(points, (99, whole), Palette(points, baseline="2D-UPSO"), narrow=True)
    title = "Error rate against number of features: 40 runs of six algorithms, and SFFS"
    return inline_svg(figure, title, "home-")


def runs(study: str) -> tuple[Points, float]:
    """Return sizes and errors of each algorithm's k-NN runs in a published study, and the error with all features."""
    found: dict[str, list[tuple[int, float]]] = {}
    with (DOCS / f"results/{study}-runs.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["classifier"] == "k-NN":
                found.setdefault(row["algorithm"], []).append((int(row["size"]), float(row["error"])))
    text = (DOCS / f"results/{study}.html").read_text(encoding="utf-8")
    whole = number(r"all 99 features have J\(U\) = (0\.\d+)", text)
    return {
        name: (np.array([s for s, _ in all_]), np.array([e for _, e in all_])) for name, all_ in found.items()
    }, whole


def number(pattern: str, text: str) -> float:
    """Return the number that a pattern captures in a text."""
    found = re.search(pattern, text)
    if found is None:
        raise SystemExit(f"no match for {pattern}")
    return float(found[1])


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


def words(axis: Axes, lines: list[str]) -> None:
    """Draw lines of a file or a terminal."""
    for place, line in enumerate(lines):
        strong = line.startswith(("$", "["))
        look = {"family": "monospace", "fontsize": 6.4, "color": WAVE if strong else INK, "va": "top"}
        axis.text(0.02, 0.94 - 0.165 * place, line, transform=axis.transAxes, parse_math=False, **look)


def scatter(axis: Axes, study: str) -> None:
    """Plot the runs of a study by error and size."""
    points, _ = runs(study)
    palette = Palette(points, baseline="2D-UPSO")
    for name in palette.drawn(points):
        sizes, errors = points[name]
        axis.plot(sizes, errors, palette.marker(name), color=palette.color(name), ms=2.2, mew=0)


def disturbed() -> Recording:
    """Return a three-phase recording with a sag on one phase."""
    sag = generate("sag", seed=3, depth=0.5, start=0.2, duration=0.1)
    steady = generate("pure_sinusoid", seed=3, amplitude=1.0)
    third = round(sag.sampling_rate / sag.frequency / 3)
    signals = (sag.signal, np.roll(steady.signal, third), np.roll(steady.signal, 2 * third))
    channels = tuple(Channel(f"U{p}", "V", p, 325.0 * signal) for p, signal in zip("ABC", signals, strict=True))
    return Recording(channels, sag.sampling_rate, sag.frequency)


@card
def paper(axis: Axes) -> None:
    """Error against size in the study `paper`."""
    scatter(axis, "paper")


@card
def paper_stepped(axis: Axes) -> None:
    """The same in the published study `paper-stepped`, of the plan `paper-grid`."""
    scatter(axis, "paper-stepped")


@card
def claims(axis: Axes) -> None:
    """Which claims hold, in the table of the reference results."""
    text = (DOCS / "results/replication.md").read_text(encoding="utf-8")
    table = text.split("| claim of the paper |")[1].split("\n\n")[0]
    colours = {"holds": HOLDS, "does not": LOSS}
    for i, line in enumerate(table.splitlines()[2:]):
        for j, cell in enumerate(line.strip("|").split("|")[1:5]):
            colour = next((colour for word, colour in colours.items() if cell.strip().startswith(word)), FAINT)
            axis.add_patch(mpl.patches.Rectangle((j + 0.05, -i + 0.08), 0.9, 0.84, color=colour, lw=0, alpha=0.85))
    axis.set(xlim=(0, 4), ylim=(-len(table.splitlines()[2:]) + 1, 1))


@card
def readings(axis: Axes) -> None:
    """Error of 2D-UPSO relative to BPSO with k-NN in 64 readings of the paper, sorted."""
    with (DOCS / "results/multiverse-runs.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["classifier"] == "k-NN" and row["reading"][1:].isdigit()]
    errors: dict[str, dict[str, float]] = {"2D-UPSO": {}, "BPSO": {}}  # sums over runs
    for row in (row for row in rows if row["algorithm"] in errors):
        sums = errors[row["algorithm"]]
        sums[row["reading"]] = sums.get(row["reading"], 0.0) + float(row["error"])
    effects = sorted(errors["2D-UPSO"][name] / errors["BPSO"][name] - 1 for name in errors["BPSO"])
    axis.axhline(0, color=GREY, lw=1)
    axis.scatter(range(len(effects)), effects, s=9, lw=0, color=[WAVE if one < 0 else BAND for one in effects])


@card
def selection(axis: Axes) -> None:
    """The 99 features, and those of the best run of 2D-UPSO with k-NN."""
    with (DOCS / "results/paper-runs.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if (row["classifier"], row["algorithm"]) == ("k-NN", "2D-UPSO")]
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
    for channel, colour in zip(made.channels, (WAVE, BAND, GREY), strict=True):
        axis.plot(made.time[4200:6800], channel.samples[4200:6800], color=colour, lw=0.9)


@card
def urms(axis: Axes) -> None:
    """Urms(1/2) of a sag, the threshold, and the time below it."""
    found = characterize(disturbed())
    axis.plot(found.series.time, found.series.urms[0], color=WAVE, lw=1.4)
    axis.axhline(found.thresholds.sag, color=FAINT, lw=0.8, ls="--")
    for event in found.events:
        axis.axvspan(event.start, event.end, color=BAND, alpha=0.25, lw=0)
    axis.set(xlim=(0.1, 0.42), ylim=(0.4, 1.1))


@card
def probabilities(axis: Axes) -> None:
    """Class probabilities by the bundled model."""
    classes = identify(disturbed()).main.probabilities
    for place, (name, value) in enumerate(list(classes.items())[:4]):
        axis.barh(-place, value, 0.6, color=WAVE if place == 0 else FAINT)
        axis.text(max(value, 0.0) + 0.03, -place, f"{name.replace('_', ' ')}", fontsize=6.4, va="center_baseline")
    axis.set(xlim=(0, 1.6), ylim=(-3.6, 0.6))


@card
def events(axis: Axes) -> None:
    """Some of the 14 classes."""
    for place, name in enumerate(("sag", "oscillatory_transient", "harmonics", "swell", "flicker", "notching")):
        event = generate(name, seed=4)
        part = event.signal[3000:9000:6]
        x = np.linspace(0, 0.9, part.size) + place % 3
        axis.plot(x, part / 1.8 - 2.2 * (place // 3), color=WAVE, lw=0.6)


@card
def bands(axis: Axes) -> None:
    """The wavelet bands of a transient."""
    event = generate("oscillatory_transient", seed=3, transient_frequency=2000, transient_onset=0.3)
    for place, values in enumerate(decompose(event.signal, 8)[:5]):
        row = np.ravel(values)
        x = np.linspace(0, 1, row.size)
        axis.plot(x, 0.45 * row / np.abs(row).max() - place, color=WAVE if place < 4 else GREY, lw=0.6)


@card
def matrix(axis: Axes) -> None:
    """Features, one row per event."""
    dataset = make_dataset(events_per_class=3, snr=float("inf"), seed=0)
    scaled = dataset.X()
    order = np.argsort(np.argsort(scaled, axis=0), axis=0)
    axis.imshow(order, cmap="Blues", aspect="auto", interpolation="nearest")


@card
def folds(axis: Axes) -> None:
    """The test events of ten folds."""
    for i, j in np.ndindex(6, 10):
        look = {"color": WAVE if i == j else FAINT, "alpha": 1.0 if i == j else 0.3, "lw": 0}
        axis.add_patch(mpl.patches.Rectangle((j + 0.06, -i + 0.1), 0.88, 0.8, **look))
    axis.set(xlim=(0, 10), ylim=(-5, 1))


@card
def bits(axis: Axes) -> None:
    """A number, identical to the last bit."""
    number = np.unpackbits(np.array([runs("paper")[1]]).view(np.uint8)).reshape(4, 16)
    for copy in range(2):
        for (i, j), bit in np.ndenumerate(number):
            look = {"color": (WAVE, BAND)[copy], "alpha": 1.0 if bit else 0.2, "lw": 0}
            axis.add_patch(mpl.patches.Rectangle((j + 18.5 * copy + 0.1, -i + 0.1), 0.8, 0.8, **look))
    axis.text(17.25, -1.0, "=", ha="center", va="center", fontsize=12)
    axis.set(xlim=(0, 34.5), ylim=(-4, 2))


@card
def ranking(axis: Axes) -> None:
    """Filter scores of the features, best first."""
    dataset = make_dataset(events_per_class=10, snr=float("inf"), seed=0)
    scores = np.sort(FILTERS["anova"].scores(dataset.X(), dataset.y))[::-1][:40]
    axis.bar(np.arange(scores.size), scores, 0.75, color=[WAVE] * 12 + [FAINT] * (scores.size - 12))


@card
def ranks(axis: Axes) -> None:
    """Mean ranks by error in the study `paper`."""
    points, _ = runs("paper")
    names = [name for name in points if len(points[name][1]) > 1]
    result = friedman(np.column_stack([points[name][1] for name in names]), names=names)
    palette = Palette(points, baseline="2D-UPSO")
    axis.axhline(0, color=INK, lw=0.8)
    for place, (name, rank) in enumerate(sorted(zip(names, result.mean_ranks, strict=True), key=lambda one: one[1])):
        height = (0.45, -0.45, 0.9, -0.9, 0.45, -0.45)[place]
        axis.plot([rank, rank], [0, height], color=palette.color(name), lw=1.2)
        axis.plot([rank], [0], palette.marker(name), color=palette.color(name), ms=4)
        axis.text(rank, height * 1.1, name, ha="center", va="bottom" if height > 0 else "top", fontsize=6)
    axis.set(xlim=(0.3, 6.7), ylim=(-1.5, 1.5))


@card
def draws(axis: Axes) -> None:
    """Amplitudes of sinusoids, drawn uniformly and in steps."""
    for place, (preset, colour) in enumerate((("paper", WAVE), ("paper-grid", BAND))):
        drawn = [generate("pure_sinusoid", seed=seed, preset=preset).parameters["amplitude"] for seed in range(80)]
        axis.vlines(drawn, 1.2 * -place, 1.2 * -place + 0.9, color=colour, lw=0.8, alpha=0.6)


@card
def harmonics(axis: Axes) -> None:
    """The spectrum of harmonics."""
    event = generate("harmonics", seed=4)
    spectrum = np.abs(np.fft.rfft(event.signal))[round(event.cycles) :: round(event.cycles)][:15]
    axis.bar(np.arange(15), np.sqrt(spectrum / spectrum[0]), 0.7, color=[GREY] + [WAVE] * 14)


@card
def convergence(axis: Axes) -> None:
    """Searches on a small data set."""
    dataset = make_dataset(events_per_class=10, snr=float("inf"), seed=0)
    folds = Folds.stratified(dataset.y, n_folds=5, seed=0)
    evaluator = CachedEvaluator(GaussianNBEvaluator(dataset.X(), dataset.y, folds))
    names = ("ga", "chbpso", "bpso", "2d-upso")
    palette = Palette([ALGORITHMS[name].title for name in names], baseline="2D-UPSO")
    for name in names:
        found = minimize(name, evaluator, max_evaluations=1500, seed=0)
        axis.step(np.arange(len(found.errors)), found.errors, where="post", **palette.line(ALGORITHMS[name].title))
    axis.set(xscale="log")


@card
def learning(axis: Axes) -> None:
    """The velocity in the example of the paper's appendix: sizes and features."""
    velocity = np.array([[0.82, 2.53, 2.22, 0.28, 0.95], [1.61, 1.88, 0.80, 1.33, 2.88]])
    for (i, j), value in np.ndenumerate(velocity):
        look = {"color": (WAVE, BAND)[i], "alpha": 0.12 + 0.2 * value, "lw": 0}
        axis.add_patch(mpl.patches.Rectangle((j + 0.04, -i + 0.06), 0.92, 0.88, **look))
        axis.text(j + 0.5, -i + 0.5, f"{value:.2f}", ha="center", va="center_baseline", fontsize=7)
    axis.set(xlim=(0, 5), ylim=(-1, 1))


@card
def silent(axis: Axes) -> None:
    """The error with all features: in the paper, and with two ways of drawing events."""
    rates = {
        "the paper": 3.43,
        "draws in steps": 100 * runs("paper-stepped")[1],
        "uniform draws": 100 * runs("paper")[1],
    }
    for place, (name, rate) in enumerate(rates.items()):
        axis.barh(-place, rate, 0.6, color=(GREY, BAND, WAVE)[place])
        axis.text(rate + 0.4, -place, f"{name}, {rate:.1f} %", fontsize=6.4, va="center_baseline")
    axis.set(xlim=(0, 36), ylim=(-2.6, 0.6))


@card
def speed(axis: Axes) -> None:
    """k-NN time for a subset of 20 features, from the performance page."""
    table = (DOCS / "performance.md").read_text(encoding="utf-8").split("3-NN, Manhattan distance:")[1]
    times = number(r"\| 3500 \|(?:[^|]*\|){4} \S+ \((\d+)x\)", table)
    for place, (name, value) in enumerate((("pqswarm", 1), ("scikit-learn", times))):
        axis.barh(-place, value, 0.6, color=(WAVE, FAINT)[place])
        axis.text(2, -place, name, fontsize=6.4, va="center_baseline")
    axis.set(xlim=(0, times), ylim=(-1.7, 0.5))


@card
def symbols(axis: Axes) -> None:
    """Some symbols of the paper."""
    for place, symbol in enumerate((r"$\xi$", r"$J(U)$", r"$\rho,\,\sigma$", r"$\omega$")):
        axis.text(
            0.03 + 0.28 * place, 0.45, symbol, transform=axis.transAxes, fontsize=15, color=(WAVE, INK)[place % 2]
        )


@card
def parameters(axis: Axes) -> None:
    """The first parameters of 2D-UPSO."""
    defaults = UPSO2D(99, seed=0).parameters
    lines = [f"{field.name} = {getattr(defaults, field.name)}" for field in fields(defaults)]
    words(axis, ["[2d-upso]", *[line for line in lines if len(line) < 28][:4]])


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
