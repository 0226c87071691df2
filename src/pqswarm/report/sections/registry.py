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

__all__ = ["REGISTRY", "SECTIONS"]

SECTIONS: tuple[Section, ...] = (
    ClassifierSection("algorithms", "Which algorithm finds the best subsets?", algorithms.content),
    ClassifierSection("chance", "Are the differences significant?", chance.content),
    ClassifierSection("sequential", "Does a plain sequential search do as well?", sequential.content),
    ClassifierSection("fronts", "How few features are enough?", fronts.content),
    ClassifierSection("features", "Which features matter?", features.content),
    ClassifierSection("noise", "How robust are the subsets to noise?", noise.content),
    ClassifierSection("confusion", "Which classes are confused?", confusion.content),
    ClassifierSection("held-out", "What error rate can be expected on new data?", held_out.content),
    ClassifierSection("stability", "Is the selection stable?", held_out.stability_content),
    ClassifierSection("hyperparameters", "How were the hyperparameters chosen?", hyperparameters.content),
    StudySection("events", "The events", events.content),
    StudySection("paper", "Where the paper is inconsistent or silent", inconsistencies.content),
    StudySection("run", "How the study was run", how.content),
)
"""The sections that come with pqswarm."""

REGISTRY: Registry[Section] = Registry("section of the report", "pqswarm.sections", Section, SECTIONS)
"""All sections, including those of other packages."""
