"""The sections of a report in order; those of other packages, found by entry points, come last."""

from pqswarm._base.registry import Registry
from pqswarm.report.section import ClassifierSection, Section, StudySection
from pqswarm.report.sections import (
    algorithms,
    chance,
    confusion,
    datasets,
    events,
    features,
    held_out,
    how,
    noise,
    specifications,
    stages,
)

SECTIONS: tuple[Section, ...] = (
    ClassifierSection("algorithms", "Which algorithm finds the best subsets?", algorithms.algorithms_content),
    ClassifierSection("chance", "Are the differences significant?", chance.chance_content),
    ClassifierSection("sequential", "Does a plain sequential search do as well?", algorithms.sequential_content),
    ClassifierSection("fronts", "How few features are enough?", algorithms.fronts_content),
    ClassifierSection("features", "Which features matter?", features.features_content),
    ClassifierSection("noise", "How robust are the subsets to noise?", noise.noise_content),
    ClassifierSection("confusion", "Which classes are confused?", confusion.confusion_content),
    ClassifierSection("held-out", "What error rate can be expected on new data?", held_out.held_out_content),
    ClassifierSection("stability", "Is the selection stable?", held_out.stability_content),
    ClassifierSection("hyperparameters", "How were the hyperparameters chosen?", how.grid_content),
    StudySection("events", "The events", events.events_content),
    StudySection("run", "How the study was run", how.how_content),
)
"""The sections of the report on one data set."""

PAPER_SECTIONS: tuple[StudySection, ...] = (
    StudySection("investigation", "The investigation", stages.investigation_content),
    StudySection("stage-one", "Stage I: comparative evaluation of the searches", stages.stage_one_content),
    StudySection("stage-two", "Stage II: robustness to noise", stages.stage_two_content),
    StudySection("claims", "The claims on this data set", stages.claims_content),
    StudySection("paper", "Where the paper is inconsistent or incomplete", how.how_paper_is_inconsistent),
)
"""The paper's part of every report of a plan with ``paper = true``, before the other sections."""

SECTIONS_OVER_DATASETS: tuple[Section, ...] = (
    ClassifierSection("means", "Which algorithm is best over the data sets?", datasets.means_over_datasets),
    ClassifierSection("control", "By how much, and could it be chance?", datasets.control_over_datasets),
    ClassifierSection("noise", "How robust are the subsets to noise?", datasets.noise_over_datasets),
    ClassifierSection("held-out", "What error rate to expect on new data?", datasets.held_out_over_datasets),
    ClassifierSection("power", "What would more data sets or runs show?", datasets.power_over_datasets),
    StudySection("run", "How was the study run?", how.how_content),
)
"""The sections of the report on several data sets."""

SECTIONS_OVER_SPECIFICATIONS: tuple[Section, ...] = (
    ClassifierSection("curve", "In which specifications does the lead hold?", specifications.lead_over_specifications),
    ClassifierSection("choices", "Which choices matter?", specifications.choices_over_specifications),
    ClassifierSection(
        "closeness", "Does it hold where the events are like the paper's?", specifications.closeness_over_specifications
    ),
    StudySection("specifications", "What are the specifications?", specifications.specifications_content),
    StudySection("run", "How was the study run?", how.how_content),
)
"""The sections of the report of a multiverse."""

REGISTRY: Registry[Section] = Registry("section of the report", Section, SECTIONS)
"""The sections of the report on one data set, and those registered in this process."""
