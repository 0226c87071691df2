"""The report of a study on several data sets as a document, like that of a study on one."""

from pqswarm.report.datasets.beyond import show_held_out, show_noise, show_power
from pqswarm.report.datasets.claims import claims_over_datasets
from pqswarm.report.datasets.comparison import say_leader, show_comparison, show_means
from pqswarm.report.datasets.figures import plot_over_datasets
from pqswarm.report.datasets.summary import DatasetsSummary, OverDatasets
from pqswarm.report.document import Chapter, Document, Passage, name_parts, number_contents
from pqswarm.report.section import ClassifierSection, Content, Drawing
from pqswarm.report.shared.sentences import count_runs, duration, enumerate_words
from pqswarm.study import format_plan

SECTIONS = (
    ClassifierSection("means", "Which algorithm is best over the data sets?", show_means),  # type: ignore[arg-type]
    ClassifierSection("control", "By how much, and could it be chance?", show_comparison),  # type: ignore[arg-type]
    ClassifierSection("noise", "How robust are the subsets to noise?", show_noise),  # type: ignore[arg-type]
    ClassifierSection("held-out", "What error rate to expect on new data?", show_held_out),  # type: ignore[arg-type]
    ClassifierSection("power", "What would more data sets or runs show?", show_power),  # type: ignore[arg-type]
)
"""The sections for each classifier, in order; `content` takes the summaries of the study and of the classifier."""


def compose_datasets(study: DatasetsSummary) -> Document:
    """Return the report of a study on several data sets."""
    chapters = []
    for found in study.classifiers:
        contents = [(section, section.content(study, found)) for section in SECTIONS]  # type: ignore[arg-type]
        chapters.append(
            Chapter(
                name=found.name,
                description=describe_classifier(found),
                answer=tuple(sentence for _, content in contents for sentence in content.answer),
                numbers={},
                parts=tuple(name_parts(s, content, f"{found.slug}-") for s, content in contents if content.shown),
            )
        )
    claims = claims_over_datasets(study)
    opening = Content(
        answer=[say_leader(study, found) for found in study.classifiers],
        drawings=[
            Drawing(
                "overview",
                "Error rate against number of features",
                "Lower left is better. Small markers are data sets (means over runs), large ones their means.",
                lambda: plot_over_datasets(study),
                narrow=lambda: plot_over_datasets(study, narrow=True),
            )
        ],
        tables=[] if claims is None else [claims],
        words=[_say_unit(study)],
    )
    how = Content(words=[_say_how(study)], listings={"The plan, to repeat the study": format_plan(study.plan)})
    document = Document(
        title=study.plan.title,
        opening=opening,
        description=describe_datasets(study),
        reference=study.reference,
        version=study.about.version,
        chapters=tuple(chapters),
        parts=(Passage("How was the study run?", how),),
    )
    return number_contents(document)


def describe_classifier(found: OverDatasets) -> str:
    """Return the classifier in words, with other hyperparameters on some data sets."""
    described = list(dict.fromkeys(one.classifier.describe() for one in found.members.values()))
    return (
        described[0] if len(described) == 1 else f"{described[0]}; on other data sets {enumerate_words(described[1:])}"
    )


def describe_datasets(study: DatasetsSummary) -> str:
    """Return a paragraph on what was run, and what is not finished."""
    plan, members = study.plan, study.members
    first = next(iter(members.values()))
    sizes = [one.n_events for one in members.values()]
    events = f"{sizes[0]}" if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    made = first.generated
    origin = (
        f" (preset {made.preset_name})"
        if made and len({s.generated.preset_name for s in members.values() if s.generated}) == 1
        else ""
    )
    searched, once = [a.title for a in plan.searched], [a.title for a in plan.sequential]
    names = [found.name for found in study.classifiers]
    text = (
        f"{len(members)} data sets of {events} {study.item}s each{origin}: {_say_names(list(members))}. On each, "
        f"{enumerate_words(searched + once)} searched for the features with which {enumerate_words(names)} "
        f"{'makes' if len(names) == 1 else 'make'} the fewest errors, in {plan.folds.number}-fold cross-validation: "
        f"{count_runs(plan.runs)} of {plan.max_evaluations} evaluations "
        f"each{f' ({enumerate_words(once)}: once)' if once else ''}."
    )
    if study.missing:
        verb = "is" if len(study.missing) == 1 else "are"
        text += f" The study is not finished: {_say_names(list(study.missing))} {verb} left out."
    if study.unfinished:
        text += (
            f" Runs are missing on {_say_names(study.unfinished)}: only runs that all algorithms have finished count, "
            f"and searches that have not run on every data set are left out."
        )
    return text


def _say_names(names: list[str]) -> str:
    """The names of data sets; seeds as a list of numbers."""
    if len(names) > 1 and all(name.startswith("seed ") for name in names):
        return f"seeds {enumerate_words([name.removeprefix('seed ') for name in names])}"
    return enumerate_words(names)


def _say_unit(study: DatasetsSummary) -> str:
    k = len(study.members)
    return (
        f"The unit of all tests is the data set ({k}), not the run: the results say what to expect on further data "
        f"sets of the same kind. For the report on one data set: pqswarm report DIR --dataset NAME."
    )


def _say_how(study: DatasetsSummary) -> str:
    about, machine = study.about, study.about.machine
    seconds = sum(one.seconds for one in study.members.values())
    return (
        f"pqswarm {about.version} on {machine['processor']} ({machine['cores']} cores, {machine['system']}, Python "
        f"{machine['python']}). All searches together took {duration(seconds)} of computing time. The same plan gives "
        "the same numbers, regardless of workers and interruptions; the runs on one data set are those of a study on "
        "it alone."
    )
