"""The answer of a study in plain sentences."""

from math import inf

from pqswarm.report.summary import ClassifierSummary, StudySummary
from pqswarm.study.runner import ALL_FEATURES

__all__ = ["answer", "description"]


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
    noisy = sum(level != inf for level in plan.dataset.snr)
    runs = f"{plan.runs} runs of {plan.max_evaluations} evaluations each"
    text = (
        f"{14 * plan.dataset.events_per_class} events of the 14 IEEE 1159 classes (preset {plan.dataset.preset}, seed "
        f"{plan.dataset.seed}) with {study.n_features} wavelet features each. "
        f"{_listed([a.title for a in plan.algorithms])} looked for the subset with the least {plan.folds.number}-fold "
        f"error of {_listed(names)}, {runs} (SFFS: once), on events without noise. The best "
        f"subsets were then tested at {noisy} levels of noise and on {14 * plan.fresh.events_per_class} fresh events."
    )
    behind = [f"{c.name}: {c.n_runs} of {plan.runs} runs" for c in study.classifiers if c.n_runs < plan.runs]
    missing = [c.name for c in plan.classifiers if c.name not in names]
    if behind or missing:
        text += f" The study is not finished ({'; '.join(behind + [f'{name}: none' for name in missing])})."
    return text


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
    n = found.best(found.reference).mask.size
    leader, smallest = min(means, key=lambda title: means[title]), min(sizes, key=lambda title: sizes[title])
    fewer = 100 * (n - sizes[leader]) / n
    less = 100 * (found.all_features - means[leader]) / found.all_features
    sentences = [
        f"{leader} finds the best subsets: {sizes[leader]:.1f} of {n} features on average ({fewer:.0f} % fewer) with "
        f"an error of {means[leader]:.4f}, against {found.all_features:.4f} with all features ({less:.0f} % less)."
    ]
    if smallest != leader:
        sentences.append(f"The smallest subsets come from {smallest}: {sizes[smallest]:.1f} features on average.")
    if found.errors is not None:
        sentences.append(_significance(found))
    sentences += _sffs(found) + _noise(found) + _fresh(found)
    return sentences


def _significance(found: ClassifierSummary) -> str:
    assert found.errors is not None  # noqa: S101 (the caller has looked)
    result = found.errors.posthoc
    level = [name for name, p in zip(result.names, result.p_hommel, strict=True) if p > result.alpha]
    if not level:
        return f"Over {found.n_runs} runs, {result.control} has a significantly lower error than each of the others."
    return (
        f"Over {found.n_runs} runs, {result.control} has the best average rank, but its error is not significantly "
        f"lower than that of {_listed(level)}."
    )


def _sffs(found: ClassifierSummary) -> list[str]:
    sentences = []
    for title, record in found.sffs.items():
        best = found.best(found.reference).error
        word = "better than" if record.error < best else "as good as" if record.error == best else "worse than"
        sentences.append(
            f"{title} at the same {record.size} features reaches {record.error:.4f}, {word} the best of "
            f"{found.reference} ({best:.4f})."
        )
    return sentences


def _noise(found: ClassifierSummary) -> list[str]:
    noise = found.noise
    if noise is None:
        return []
    gain = noise.gain(found.reference)
    if noise.robust(found.reference):
        verdict = f"gains {gain.min():.2f} to {gain.max():.2f} percentage points over all features at every noise level"
        return [f"The best subset of {found.reference} is robust: it {verdict}."]
    lost = [f"{value:.2f} at {level:g} dB" for level, value in zip(noise.levels, gain, strict=True) if value < 0]
    return [
        f"The best subset of {found.reference} is not robust: against all features it loses accuracy with noise "
        f"({_listed(lost)} percentage points)."
    ]


def _fresh(found: ClassifierSummary) -> list[str]:
    if found.reference not in found.fresh:
        return []
    best, error = found.best(found.reference), found.fresh[found.reference]
    return [
        f"On fresh events its best subset of {best.size} features errs in {100 * error:.1f} % of cases (promised by "
        f"the search: {100 * best.error:.1f} %), all features in {100 * found.fresh[ALL_FEATURES]:.1f} %."
    ]


def _listed(words: list[str]) -> str:
    """Return words as an enumeration.

    Examples
    --------
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
