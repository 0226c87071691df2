"""Where the paper contradicts itself: each sentence of the report is recomputed from the printed numbers."""

from math import inf

import numpy as np
from scipy.stats import chi2

from pqswarm.report.paper import ALGORITHMS, PAPER_RUNS, PRINTED
from pqswarm.report.section import decibel, enumerate_words
from pqswarm.statistics import contrast_estimation, hommel

_TITLES = {"k-nn": "k-NN", "kernel-nb": "NB"}
_FEATURES = 99
_STATED_EVENTS = 3500
_SEARCHED_EVENTS = range(3000, 4001)
_HERO = len(ALGORITHMS) - 1
_ACCURACIES = slice(1, 1 + len(ALGORITHMS))
_GAINS = slice(1 + len(ALGORITHMS), None)


def audit_paper():
    """The inconsistencies, computed."""
    return [*_inconsistent_tests(), *_inconsistent_search(), *_inconsistent_noise()]


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


def _inconsistent_tests():
    cases = [(kind, measure) for kind in _TITLES for measure in ("error", "size")]
    ranks = [np.array(PRINTED[kind][f"rank-{measure}"]) for kind, measure in cases]
    degrees = len(ALGORITHMS) - 1
    true = [f"{chi2.sf(row[-2], degrees):.2g}" for row in ranks]
    printed = [f"{row[-1]:.3g}" for row in ranks]
    yield (
        f"The printed p-values of the Friedman test ({enumerate_words(printed)}) cannot come from the printed "
        f"statistics: the chi-square distribution with {degrees} degrees of freedom gives {enumerate_words(true)}. "
        f"They are probably a rounding artefact of the tool used. The conclusion stands."
    )
    rounded = [f"{_friedman_statistic(row[:-2]):.1f}" for row in ranks]
    behind = [f"{_friedman_statistic(_ranks_from_z(np.array(PRINTED[k][f'z-{m}']))):.1f}" for k, m in cases]
    statistics = [f"{row[-2]:.2f}" for row in ranks]
    yield (
        f"The printed average ranks have one decimal (those of k-NN and J add up to {ranks[0][:-2].sum():.1f} instead "
        f"of 21) and give statistics of {enumerate_words(rounded)}; the ranks behind the printed z values give "
        f"{enumerate_words(behind)}, as printed ({enumerate_words(statistics)}). Tables 5 to 7 belong together."
    )
    close = [
        f"{hommel(PRINTED[kind]['p-error'])[i]:.2g} ({ALGORITHMS[i]}, {title})"
        for kind, title in _TITLES.items()
        for i in (2, 3)
    ]
    yield (
        "The column APV of the post hoc tables holds 0.05/i, the limits of the p-values, not adjusted p-values. "
        f"Hommel-adjusted, the largest are {enumerate_words(close)}: all hypotheses are still rejected."
    )
    yield (
        "The null hypothesis is stated as “the algorithm being compared is significantly better than 2D-UPSO”. No test "
        "used has this null hypothesis: it is that the average ranks are equal."
    )


def _inconsistent_search():
    improvements = []
    for kind in _TITLES:
        printed = {name: np.array(row) for name, row in PRINTED[kind].items() if not name.startswith("noise")}
        gain = 100 * (1 - printed["mean_J"] / printed["all"][0])
        fewer = 100 * (1 - printed["mean_size"] / _FEATURES)
        improvements += [np.abs(gain - printed["PI"]).max(), np.abs(fewer - printed["Xi"]).max()]
    off = 0
    for kind in _TITLES:
        for row in _noise_rows(kind).values():
            off += int((np.abs(row[_ACCURACIES] - row[0] - row[_GAINS]) > 0.005).sum())
    n_gains = sum(len(_noise_rows(kind)) for kind in _TITLES) * len(ALGORITHMS)
    yield (
        f"PI, Ξ and θ were computed from unrounded values: PI and Ξ differ by up to {max(improvements):.1f} from "
        f"values computed from the printed means, θ by 0.01 in {off} of {n_gains} cases."
    )
    knn = {name: np.array(row) for name, row in PRINTED["k-nn"].items()}
    score = knn["score"][_HERO]
    product = PAPER_RUNS * knn["mean_J"][_HERO] * knn["mean_size"][_HERO] / _FEATURES
    correlation = (score - product) * _FEATURES / PAPER_RUNS / (knn["sd_J"] * knn["sd_size"])[_HERO]
    yield (
        f"The overall score of 2D-UPSO with k-NN ({score:g}) is not that of its means ({product:.4f}): it implies a "
        f"correlation of {correlation:.2f} between the error rate and the size of its runs. Its bad runs are its large "
        f"ones."
    )
    swarms = range(2, len(ALGORITHMS))
    relative = knn["sd_J"] / knn["mean_J"]
    assert max(swarms, key=lambda i: relative[i]) == _HERO
    yield (
        f"The paper says that 2D-UPSO finds its subsets “consistently”. With k-NN its standard deviation of J, "
        f"{knn['sd_J'][_HERO]:g} at a mean of {knn['mean_J'][_HERO]:g}, is the largest of the swarms (BPSO: "
        f"{knn['sd_J'][2]:g}): it is the least consistent of them."
    )
    sizes = PRINTED["kernel-nb"]["Xi"]
    yield (
        f"The reduction Ξ with NB is given as 50–62 % in the results and as 50–63 % in the discussion; the table has "  # noqa: RUF001
        f"{min(sizes):g} to {max(sizes):g} %."
    )


def _events_behind_accuracies():
    """How many accuracies are printed; of how many events most are multiples, how many; and of the stated number."""
    printed = np.concatenate([row[: 1 + len(ALGORITHMS)] for kind in _TITLES for row in _noise_rows(kind).values()])

    def n_multiples(n_events):
        return int((np.abs(np.round(100 * np.round(printed * n_events / 100) / n_events, 2) - printed) < 0.001).sum())

    best = max(_SEARCHED_EVENTS, key=n_multiples)
    return printed.size, best, n_multiples(best), n_multiples(_STATED_EVENTS)


def _deviations_below_mean():
    """How far the errors of stage II without noise are below the mean of the runs [standard deviations]."""
    gaps = [
        (np.array(PRINTED[kind]["mean_J"]) - 1 + _noise_rows(kind)[inf][_ACCURACIES] / 100) / PRINTED[kind]["sd_J"]
        for kind in _TITLES
    ]
    return np.asarray(np.round(np.concatenate(gaps), 9))


def _inconsistent_noise():
    from scipy.stats import norm

    n_printed, n_events, n_best, n_stated = _events_behind_accuracies()
    yield (
        f"The printed accuracies do not match the {_STATED_EVENTS} events stated in the paper. Of the {n_printed} "
        f"accuracies at the eight noise levels, {n_stated} are multiples of 1/{_STATED_EVENTS} to the printed digit, "
        f"as expected by chance; {n_best} are multiples of 1/{n_events}, more than of 1/N for any other N from "
        f"{_SEARCHED_EVENTS.start} to {_SEARCHED_EVENTS.stop - 1}. About {n_events} events seem to have been "
        f"classified; the paper does not say which are missing."
    )
    pairs = {}
    for kind, title in _TITLES.items():
        clean = _noise_rows(kind)[inf]
        pairs[f"all features, {title}"] = PRINTED[kind]["all"][0], clean[0]
        pairs[f"best subset, {title}"] = PRINTED[kind]["sffs"][2], clean[_ACCURACIES][_HERO]
    counts = [
        f"{round(n_events * error)} and {round(n_events * (1 - accuracy / 100))} ({what})"
        for what, (error, accuracy) in pairs.items()
    ]
    yield (
        f"Both stages probably used the same folds. Misclassified events of {n_events} in stage I and, without noise, "
        f"in stage II: {enumerate_words(counts)}. Three of four counts agree to the event, which other folds would "
        f"hardly give; the fourth differs by one."
    )
    ahead = _deviations_below_mean()
    lowest = norm.ppf((PAPER_RUNS - 0.375) / (PAPER_RUNS + 0.25))  # Blom's expectation
    yield (
        f"The subsets of stage II are said to be those with the lowest error of {PAPER_RUNS} runs, which is about "
        f"{lowest:.1f} standard deviations below the mean of normally distributed errors. Without noise theirs lie "
        f"{ahead.min():.1f} to {ahead.max():.1f} below it, {ahead.mean():.1f} on average. With the folds of stage I, "
        f"most were not the best subsets; with others, the counts above agree by chance."
    )
    for kind, title in _TITLES.items():
        for level, row in _noise_rows(kind).items():
            rivals = row[_GAINS][:_HERO]
            if rivals.max() >= row[_GAINS][_HERO]:
                yield (
                    f"2D-UPSO is said to have the highest gain at every level; at {decibel(level)} with {title} it "
                    f"ties with {ALGORITHMS[int(rivals.argmax())]} ({row[_GAINS][_HERO]:g})."
                )
    gains = np.array([row[_GAINS] for row in _noise_rows("kernel-nb").values()])
    near = [
        f"{gains[i, j]:g} ({ALGORITHMS[j]}; {round(-n_events * gains[i, j] / 100)} events)"
        for j in range(_HERO)
        for i in np.flatnonzero((gains[:, j] < 0) & (gains[:, j] >= -0.15))
        if ALGORITHMS[j] in ("GA", "BPSO")
    ]
    yield (
        f"That only 2D-UPSO is robust with NB rests, for GA and BPSO, on gains of {enumerate_words(near)}: one subset "
        f"of each algorithm, without a test."
    )
    levels = _noise_rows("kernel-nb")
    table = np.array([row[_ACCURACIES] for row in levels.values()])
    noisy = np.array([row[_ACCURACIES] for level, row in levels.items() if level != inf])
    ga, cbpso = ALGORITHMS.index("GA"), ALGORITHMS.index("CBPSO")
    all_levels, noise_only = (contrast_estimation(each).matrix[ga][cbpso] for each in (table, noisy))
    yield (
        "Contrast estimation is said to determine the statistical significance of the results. It has no level of "
        f"significance. The printed estimates are over {len(table)} levels, of which one is without noise: the data "
        f"that the subsets were chosen on. Over the {len(noisy)} noisy levels that of GA against CBPSO with NB is "
        f"{noise_only:.3f} instead of {all_levels:.4f}."
    )
