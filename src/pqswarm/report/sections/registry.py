"""The sections of a report in order; those of other packages, found by entry points, come last."""

from pqswarm._base.registry import Registry
from pqswarm.report.section import ClassifierSection, Section, StudySection
from pqswarm.report.sections import (
    algorithms,
    chance,
    confusion,
    events,
    features,
    fronts,
    held_out,
    how,
    hyperparameters,
    inconsistencies,
    noise,
    sequential,
)

SECTIONS: tuple[Section, ...] = (
    ClassifierSection("algorithms", "Which algorithm finds the best subsets?", algorithms.algorithms_content),
    ClassifierSection("chance", "Are the differences significant?", chance.chance_content),
    ClassifierSection("sequential", "Does a plain sequential search do as well?", sequential.sequential_content),
    ClassifierSection("fronts", "How few features are enough?", fronts.fronts_content),
    ClassifierSection("features", "Which features matter?", features.features_content),
    ClassifierSection("noise", "How robust are the subsets to noise?", noise.noise_content),
    ClassifierSection("confusion", "Which classes are confused?", confusion.confusion_content),
    ClassifierSection("held-out", "What error rate can be expected on new data?", held_out.held_out_content),
    ClassifierSection("stability", "Is the selection stable?", held_out.stability_content),
    ClassifierSection(
        "hyperparameters", "How were the hyperparameters chosen?", hyperparameters.hyperparameters_content
    ),
    StudySection("events", "The events", events.events_content),
    StudySection("paper", "Where the paper is inconsistent or silent", inconsistencies.inconsistencies_content),
    StudySection("run", "How the study was run", how.how_content),
)
"""The sections that come with pqswarm."""

REGISTRY: Registry[Section] = Registry("section of the report", Section, SECTIONS)
"""All sections by name."""
