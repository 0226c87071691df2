"""Where the paper contradicts itself: what each sentence of the report states, recomputed from the printed numbers."""

from math import inf

import numpy as np
from scipy.stats import chi2, norm

from pqswarm._base.text import noise_level_text
from pqswarm.report.paper import ALGORITHMS, PAPER_RUNS, PRINTED
from pqswarm.report.section import enumerate_words
from pqswarm.statistics import contrast_estimation, hommel

_TITLES = {"k-nn": "k-NN", "kernel-nb": "NB"}
_FEATURES = 99
_EVENTS = 3411  # see the test that counts them
_HERO = len(ALGORITHMS) - 1
_ACCURACIES = slice(1, 1 + len(ALGORITHMS))
_GAINS = slice(1 + len(ALGORITHMS), None)


def audit_paper():
    """What each inconsistency states, in the order of the report."""
    return [*_of_tests(), *_of_search(), *_of_noise()]


def _noise_rows(kind):
    """What is printed at each noise level [dB]."""
    rows = {name: row for name, row in PRINTED[kind].items() if name.startswith("noise-")}
    return {float(name.removeprefix("noise-")): np.array(row) for name, row in rows.items()}


def _friedman_statistic(ranks):
    """Friedman's statistic of mean ranks over the paper's runs."""
    k = ranks.size
    return float(12 * PAPER_RUNS / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4))


def _ranks_from_z(z):
    """The mean ranks behind printed test statistics, which compare with the last algorithm."""
    k = z.size + 1
    ahead = z * np.sqrt(k * (k + 1) / (6 * PAPER_RUNS))
    last = (k + 1) / 2 - ahead.sum() / k
    return np.append(ahead + last, last)


def _of_tests():
    cases = [(kind, measure) for kind in _TITLES for measure in ("error", "size")]
    ranks = [np.array(PRINTED[kind][f"rank-{measure}"]) for kind, measure in cases]
    degrees = len(ALGORITHMS) - 1
    true = [f"{chi2.sf(row[-2], degrees):.2g}" for row in ranks]
    yield [enumerate_words([f"{row[-1]:.3g}" for row in ranks]), f"{degrees} degrees", enumerate_words(true)]
    rounded = [f"{_friedman_statistic(row[:-2]):.1f}" for row in ranks]
    behind = [f"{_friedman_statistic(_ranks_from_z(np.array(PRINTED[k][f'z-{m}']))):.1f}" for k, m in cases]
    printed = [f"{row[-2]:.2f}" for row in ranks]
    yield [f"{ranks[0][:-2].sum():.1f} instead of 21", *map(enumerate_words, (rounded, behind, printed))]
    close = [
        f"{hommel(PRINTED[kind]['p-error'])[i]:.2g} ({ALGORITHMS[i]}, {title})"
        for kind, title in _TITLES.items()
        for i in (2, 3)
    ]
    yield ["0.05/i", enumerate_words(close)]
    yield ["No test used has this null hypothesis"]


def _of_search():
    improvements, off = [], 0
    for kind in _TITLES:
        printed = {name: np.array(row) for name, row in PRINTED[kind].items() if not name.startswith("noise")}
        gain = 100 * (1 - printed["mean_J"] / printed["all"][0])
        fewer = 100 * (1 - printed["mean_size"] / _FEATURES)
        improvements += [np.abs(gain - printed["PI"]).max(), np.abs(fewer - printed["Xi"]).max()]
        for row in _noise_rows(kind).values():
            off += int((np.abs(row[_ACCURACIES] - row[0] - row[_GAINS]) > 0.005).sum())
    n_gains = sum(len(_noise_rows(kind)) for kind in _TITLES) * len(ALGORITHMS)
    yield [f"up to {max(improvements):.1f} from", f"0.01 in {off} of {n_gains} cases"]
    knn = {name: np.array(row) for name, row in PRINTED["k-nn"].items()}
    score = knn["score"][_HERO]
    product = PAPER_RUNS * knn["mean_J"][_HERO] * knn["mean_size"][_HERO] / _FEATURES
    correlation = (score - product) * _FEATURES / PAPER_RUNS / (knn["sd_J"] * knn["sd_size"])[_HERO]
    yield [f"({score:g})", f"({product:.4f})", f"correlation of {correlation:.2f} between"]
    relative = knn["sd_J"] / knn["mean_J"]
    assert max(range(2, len(ALGORITHMS)), key=lambda i: relative[i]) == _HERO  # of the swarms
    yield [f"{knn['sd_J'][_HERO]:g} at a mean of {knn['mean_J'][_HERO]:g}", f"(BPSO: {knn['sd_J'][2]:g})"]
    sizes = PRINTED["kernel-nb"]["Xi"]
    yield [f"{min(sizes):g} to {max(sizes):g} %"]


def _of_noise():
    yield [f"multiples of 1/{_EVENTS}"]
    pairs = {}
    for kind, title in _TITLES.items():
        clean = _noise_rows(kind)[inf]
        pairs[f"all features, {title}"] = PRINTED[kind]["all"][0], clean[0]
        pairs[f"best subset, {title}"] = PRINTED[kind]["sffs"][2], clean[_ACCURACIES][_HERO]
    counts = [
        f"{round(_EVENTS * error)} and {round(_EVENTS * (1 - accuracy / 100))} ({what})"
        for what, (error, accuracy) in pairs.items()
    ]
    yield [enumerate_words(counts)]
    gaps = [
        (np.array(PRINTED[kind]["mean_J"]) - 1 + _noise_rows(kind)[inf][_ACCURACIES] / 100) / PRINTED[kind]["sd_J"]
        for kind in _TITLES
    ]
    ahead = np.round(np.concatenate(gaps), 9)
    lowest = norm.ppf((PAPER_RUNS - 0.375) / (PAPER_RUNS + 0.25))  # Blom's expectation
    yield [f"{lowest:.1f} standard", f"{ahead.min():.1f} to {ahead.max():.1f} below it, {ahead.mean():.1f} on average"]
    for kind, title in _TITLES.items():
        for level, row in _noise_rows(kind).items():
            rivals = row[_GAINS][:_HERO]
            if rivals.max() >= row[_GAINS][_HERO]:
                rival = f"{ALGORITHMS[int(rivals.argmax())]} ({row[_GAINS][_HERO]:g})"
                yield [f"at {noise_level_text(level)} with {title} it ties with {rival}"]
    levels = _noise_rows("kernel-nb")
    gains = np.array([row[_GAINS] for row in levels.values()])
    near = [
        f"{gains[i, j]:g} ({ALGORITHMS[j]}; {round(-_EVENTS * gains[i, j] / 100)} events)"
        for j in range(_HERO)
        for i in np.flatnonzero((gains[:, j] < 0) & (gains[:, j] >= -0.15))
        if ALGORITHMS[j] in ("GA", "BPSO")
    ]
    yield [enumerate_words(near)]
    noisy = [row[_ACCURACIES] for level, row in levels.items() if level != inf]
    ga, cbpso = ALGORITHMS.index("GA"), ALGORITHMS.index("CBPSO")
    every = [row[_ACCURACIES] for row in levels.values()]
    noise_only, all_levels = (contrast_estimation(np.array(rows)).matrix[ga][cbpso] for rows in (noisy, every))
    yield [f"over {len(every)} levels", f"{len(noisy)} noisy levels", f"{noise_only:.3f} instead of {all_levels:.4f}"]
