"""The sections of a report, in their order; those of other packages, found by their entry points, come after ours."""

from pqswarm._registry import Registry
from pqswarm.report.section import Section
from pqswarm.report.sections import (
    algorithms,
    chance,
    confusion,
    events,
    features,
    held_out,
    how,
    hyperparameters,
    inconsistencies,
    noise,
    sequential,
)

__all__ = ["REGISTRY", "SECTIONS"]

SECTIONS: tuple[Section, ...] = (
    algorithms.SECTION,
    chance.SECTION,
    sequential.SECTION,
    features.SECTION,
    noise.SECTION,
    confusion.SECTION,
    held_out.SECTION,
    hyperparameters.SECTION,
    events.SECTION,
    inconsistencies.SECTION,
    how.SECTION,
)
"""The sections that come with pqswarm."""

REGISTRY: Registry[Section] = Registry("section of the report", "pqswarm.sections", Section, SECTIONS)
"""They, and those of other packages: all that a report is made of."""
