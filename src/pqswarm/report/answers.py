"""The answer of a study in plain sentences."""

from collections.abc import Sequence
from math import inf
from typing import Any

from pqswarm.report.subset_tables import decibel
from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.study.findings import ALL_FEATURES, ONE_STANDARD_ERROR

__all__ = ["answer", "classifier_words", "description", "how", "settings_words"]

_KINDS = {"k-nn": "k-nearest neighbours", "kernel-nb": "naive Bayes with kernel densities"}


def description(study: StudySummary) -> str:
    """Return in one paragraph what was run.

    Parameters
    ----------
    study : StudySummary
        A study.

    Returns
    -------
    str
        Sentences.
    """
    plan = study.plan
    names = [c.name for c in study.classifiers]
    swarms, sequential = [a.title for a in plan.searched], [a.title for a in plan.sequential]
    once = f" ({_listed(sequential)}: once)" if sequential else ""
    runs = f"{plan.runs} runs" if plan.runs > 1 else "one run"
    text = (
        f"{14 * plan.dataset.events_per_class} events of the 14 IEEE 1159 classes (preset {plan.dataset.preset}, seed "
        f"{plan.dataset.seed}), with {study.n_features} wavelet features each. "
        f"{_listed(swarms + sequential)} looked for the features with which {_listed(names)} "
        f"{'takes' if len(names) == 1 else 'take'} the fewest events for another class, in {plan.folds.number}-fold "
        f"cross-validation on events without noise: {runs} of {plan.max_evaluations} evaluations for each{once}."
    )
    levels = sum(level != inf for level in plan.dataset.snr)
    tests = [f"at {levels} level{'s' if levels > 1 else ''} of noise"] if levels else []
    tests.append(f"on {14 * plan.held_out.events_per_class} fresh events")
    if all(c.noise is not None for c in study.classifiers):
        text += f" The best subsets were then tested {_listed(tests)}."
    return " ".join([text, *_unfinished(study)])


def _unfinished(study: StudySummary) -> list[str]:
    plan, names = study.plan, [c.name for c in study.classifiers]
    behind = [f"{c.name}: {c.n_runs} of {plan.runs} runs" for c in study.classifiers if c.n_runs < plan.runs]
    behind += [f"{c.name}: no run" for c in plan.classifiers if c.name not in names]
    sentences = []
    if behind:
        sentences.append(
            f"The study is not finished ({'; '.join(behind)}): counted are the runs that all algorithms have finished."
        )
    untested = [c.name for c in study.classifiers if c.noise is None]
    if untested:
        sentences.append(f"The tests of the best subsets with noise are still to come for {_listed(untested)}.")
    return sentences


def how(study: StudySummary) -> str:
    """Return how a study was run: version, machine, time and seeds.

    Parameters
    ----------
    study : StudySummary
        A study.

    Returns
    -------
    str
        Sentences.
    """
    machine, plan = study.machine, study.plan
    return (
        f"pqswarm {study.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}). All searches together took {_duration(study.seconds)} of computing time. Seeds: "
        f"{plan.dataset.seed} (events), {plan.folds.seed} and {plan.folds.stage_two_seed} (folds), {plan.seed} "
        f"(searches), {plan.held_out.seed} (held-out events). The same plan gives the same numbers, whatever the "
        f"number of workers and interruptions."
    )


def _duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> _duration(12.3), _duration(600.0), _duration(36000.0)
    ('12 seconds', '10 minutes', '10.0 hours')
    """
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def classifier_words(found: ClassifierSummary) -> str:
    """Return which classifier it is, with its hyperparameters, in words."""
    return f"{_KINDS[found.kind]}, {settings_words(found.hyperparameters)}"


def settings_words(settings: dict[str, Any]) -> str:
    """Return hyperparameters in words.

    Examples
    --------
    >>> settings_words({"n_neighbors": 3, "metric": "manhattan"}), settings_words({"bandwidth": 0.004})
    ('3 neighbours by Manhattan distance', 'kernel width 0.004')
    """
    if "bandwidth" in settings:
        return f"kernel width {settings['bandwidth']:g}"
    count, metric = settings["n_neighbors"], settings["metric"]
    return f"{count} neighbour{'s' if count > 1 else ''} by {metric.capitalize()} distance"


def answer(found: ClassifierSummary) -> list[str]:
    """Return what was found with one classifier, in plain sentences.

    Parameters
    ----------
    found : ClassifierSummary
        What was found.

    Returns
    -------
    list of str
        Sentences, the most important first.
    """
    means = {title: float(found.error_of(title).mean()) for title in found.runs}
    sizes = {title: float(found.size_of(title).mean()) for title in found.runs}
    leader = min(means, key=lambda title: (means[title], sizes[title]))
    smallest = min(sizes, key=lambda title: (sizes[title], means[title]))
    average = " on average" if found.n_runs > 1 else ""
    sentences = [_first(found, leader, means[leader], sizes[leader], average)]
    if sizes[smallest] < sizes[leader]:
        sentences.append(
            f"The smallest subsets come from {smallest}: {_count(sizes[smallest])} features and "
            f"{_percent(means[smallest])} errors{average}."
        )
    if found.errors is not None:
        sentences.append(_significance(found))
    return sentences + _sffs(found) + _noise(found) + _fresh(found)


def _first(found: ClassifierSummary, leader: str, error: float, size: float, average: str) -> str:
    n, whole = found.n_features, found.all_features
    subset = f"{_count(size)} of the {n} features{average}"
    if error >= whole:
        return (
            f"No algorithm does better than all features: {leader}, the best, makes {_percent(error)} errors with "
            f"{subset}, all features make {_percent(whole)}."
        )
    verb = "makes the fewest errors" if len(found.runs) > 1 else "makes fewer errors than all features"
    return (
        f"{leader} {verb}: {_percent(error)}{average}, against {_percent(whole)} with all features "
        f"({100 * (whole - error) / whole:.0f} % fewer). It selects {subset} ({100 * (n - size) / n:.0f} % fewer)."
    )


def _significance(found: ClassifierSummary) -> str:
    assert found.errors is not None  # noqa: S101 (the caller has looked)
    test, result = found.errors.friedman, found.errors.posthoc
    if test.p_value > result.alpha:
        return (
            f"Over {found.n_runs} runs, the errors of the algorithms do not differ more than chance allows (Friedman "
            f"test, p = {test.p_value:.2g})."
        )
    level = [name for name, p in zip(result.names, result.p_hommel, strict=True) if p > result.alpha]
    if not level:
        others = "each of the others" if len(result.names) > 1 else result.names[0]
        return f"Over {found.n_runs} runs, the error of {result.control} is significantly lower than that of {others}."
    return (
        f"Over {found.n_runs} runs, {result.control} has the best average rank, but its error is not significantly "
        f"lower than that of {_listed(level)}."
    )


def _sffs(found: ClassifierSummary) -> list[str]:
    sentences = []
    best = found.best(found.reference)
    for title, record in found.sffs.items():
        word = "fewer than" if record.error < best.error else "more than" if record.error > best.error else "as many as"
        size = f"at the same {record.size}" if record.size == best.size else f"with {record.size}"
        sentences.append(
            f"{title} {size} features makes {_percent(record.error)} errors, {word} the best subset of "
            f"{found.reference} ({_percent(best.error)}{'' if record.size == best.size else f' with {best.size}'})."
        )
    return sentences


def _noise(found: ClassifierSummary) -> list[str]:
    noise = found.noise
    if noise is None or all(level == inf for level in noise.levels):
        return []
    gain = noise.gain(found.reference)
    others = [t for t in noise.accuracy if t not in (found.reference, ONE_STANDARD_ERROR)]
    robust = [title for title in others if noise.robust(title)]
    if noise.robust(found.reference):
        more = f" So is the best of {_listed(robust)}." if robust else " No other is." if others else ""
        word = "more accurate than all features" if gain.min() > 0 else "never less accurate than all features"
        return [
            f"The best subset of {found.reference} is robust: at every noise level it is {word}, by "
            f"{gain.min():.2f} to {gain.max():.2f} percentage points.{more}"
        ]
    lost = [f"{-value:.2f} at {decibel(level)}" for level, value in zip(noise.levels, gain, strict=True) if value < 0]
    more = f" Robust is the best of {_listed(robust)}." if robust else " Nor is any other." if others else ""
    return [
        f"The best subset of {found.reference} is not robust: it is less accurate than all features by "
        f"{_listed(lost)} [percentage points].{more}"
    ]


def _fresh(found: ClassifierSummary) -> list[str]:
    if found.reference not in found.fresh or ALL_FEATURES not in found.fresh:
        return []
    best, error = found.best(found.reference), found.fresh[found.reference]
    return [
        f"On fresh events that no search saw, the best subset of {found.reference} ({best.size} features) makes "
        f"{_percent(error)} errors, where the search promised {_percent(best.error)}; all features make "
        f"{_percent(found.fresh[ALL_FEATURES])}."
    ]


def _percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> _percent(0.0638), _percent(0.0)
    ('6.38 %', '0.00 %')
    """
    return f"{100 * share:.2f} %"


def _count(mean: float) -> str:
    return f"{mean:.0f}" if mean == round(mean) else f"{mean:.1f}"


def _listed(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    Examples
    --------
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
