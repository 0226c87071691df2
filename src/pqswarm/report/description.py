"""What was run, in a paragraph, and what is not finished."""

from math import inf

from pqswarm.events import get_preset
from pqswarm.report.shared.sentences import count_runs, enumerate_words
from pqswarm.report.summary import DatasetSummary, MultiverseSummary, StudySummary
from pqswarm.study import StudyPlan
from pqswarm.study.plan import held_out_seeds


def describe_dataset(study: DatasetSummary) -> str:
    """Return a paragraph on a study on one data set."""
    return " ".join(
        [
            _say_data(study),
            _say_searches(study.plan, [classifier.name for classifier in study.classifiers], study.item, study),
            *_say_tests(study),
            *_say_unfinished(study),
        ]
    )


def _say_data(study: DatasetSummary) -> str:
    generated = study.generated
    wavelet = "" if study.wavelet_level is None else "wavelet "
    data = f"{study.n_events} {study.item}s of {len(study.class_names)} classes"
    features = f"{len(study.feature_names)} {wavelet}features each"
    if generated is None:
        return f"{data}, with {features}."
    standard = " after IEEE 1159" if set(study.class_names) <= set(get_preset("paper").classes) else ""
    options = f" ({generated.feature_options.describe()})" if generated.features else ""
    return f"{data}{standard} (preset {generated.preset_name}, seed {generated.seed}), with {features}{options}."


def _say_searches(plan: StudyPlan, classifiers: list[str], item: str, dataset: DatasetSummary | None = None) -> str:
    """Who searched for what, and with which budget."""
    once = [algorithm.title for algorithm in plan.sequential]
    titles = enumerate_words([algorithm.title for algorithm in plan.searched] + once)
    verb = "misclassifies" if len(classifiers) == 1 else "misclassify"
    rows = f" on {dataset.searched_on}" if dataset is not None and dataset.generated else ""
    return (
        f"{titles} searched for the features with which {enumerate_words(classifiers)} {verb} the fewest {item}s, in "
        f"{plan.folds.number}-fold cross-validation{rows}: {count_runs(plan.runs)} of {plan.max_evaluations} "
        f"evaluations each{f' ({enumerate_words(once)}: once)' if once else ''}."
    )


def _say_tests(study: DatasetSummary) -> list[str]:
    """How the best subsets were tested, if all were."""
    n_levels = sum(level != inf for level in study.plan.dataset.snr)
    n_sets = len(held_out_seeds(study.plan))
    tests = []
    if n_levels:
        tests.append(f"at {n_levels} noise level{'s' if n_levels > 1 else ''}")
    if n_sets:
        sets = f"{n_sets} sets of " if n_sets > 1 else ""
        tests.append(f"on {sets}{study.n_held_out} held-out {study.item}s")
    is_tested = all(each.noise is not None and bool(each.held_out) == bool(n_sets) for each in study.classifiers)
    return [f"The best subsets were then tested {enumerate_words(tests)}."] if tests and is_tested else []


def _say_unfinished(study: DatasetSummary) -> list[str]:
    plan = study.plan
    names = [classifier.name for classifier in study.classifiers]
    behind = [f"{c.name}: {c.n_runs} of {plan.runs} runs" for c in study.classifiers if c.n_runs < plan.runs]
    behind += [f"{c.name}: no run" for c in plan.classifiers if c.name not in names]
    sentences = []
    if behind:
        sentences.append(
            f"The study is not finished ({'; '.join(behind)}): only runs that all algorithms have finished count."
        )
    untested = [classifier.name for classifier in study.classifiers if classifier.noise is None]
    if untested:
        noise = " with noise" if study.generated else ""
        sentences.append(f"The tests of the best subsets{noise} are still pending for {enumerate_words(untested)}.")
    return sentences


def describe_study(study: StudySummary) -> str:
    """Return a paragraph on a study, on one or several data sets."""
    if study.only is not None:
        return describe_dataset(study.only)
    sizes = [dataset.n_events for dataset in study.datasets.values()]
    events = f"{sizes[0]}" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    presets = {each.generated.preset_name for each in study.datasets.values() if each.generated}
    origin = f" (preset {presets.pop()})" if study.first.generated and len(presets) == 1 else ""
    sentences = [
        f"{len(study.datasets)} data sets of {events} {study.item}s each{origin}: {_say_names(list(study.datasets))}. "
        f"On each, {_say_searches(study.plan, [classifier.name for classifier in study.classifiers], study.item)}"
    ]
    if study.missing:
        verb = "is" if len(study.missing) == 1 else "are"
        sentences.append(f"The study is not finished: {_say_names(list(study.missing))} {verb} left out.")
    if study.unfinished:
        sentences.append(
            f"Runs are missing on {_say_names(study.unfinished)}: only runs that all algorithms have finished count, "
            f"and searches that have not run on every data set are left out."
        )
    return " ".join(sentences)


def _say_names(names: list[str]) -> str:
    """The names of data sets; seeds as a list of numbers."""
    if len(names) > 1 and all(name.startswith("seed ") for name in names):
        return f"seeds {enumerate_words([name.removeprefix('seed ') for name in names])}"
    return enumerate_words(names)


def describe_multiverse(study: MultiverseSummary) -> str:
    """Return a paragraph on a multiverse."""
    plan = study.plan
    assert plan.multiverse is not None  # noqa: S101
    choices = enumerate_words([choice.rpartition(".")[2] for choice in plan.multiverse.choices])
    n_marked = len(study.specifications) - study.n_counted
    marked = f", and {n_marked} marked" if n_marked else ""
    sentences = [
        f"{study.n_counted} specifications{study.restriction} of a plan ({plan.multiverse.design} design{marked}) vary "
        f"{choices}. In each, on {enumerate_words(study.datasets)}, "
        f"{_say_searches(plan, [classifier.name for classifier in study.classifiers], 'event')}"
    ]
    if study.missing:
        sentences.append(f"The study is not finished: {study.missing} specifications are left out.")
    return " ".join(sentences)
