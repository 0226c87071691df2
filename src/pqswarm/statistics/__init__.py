"""Statistics of a comparison: who is better, by how much, and whether the same features are found again."""

from pqswarm.statistics.agreement import StabilityResult, stability
from pqswarm.statistics.contrast import ContrastResult, contrast_estimation
from pqswarm.statistics.control_tests import PosthocResult, hommel, posthoc
from pqswarm.statistics.ranks import FriedmanResult, critical_difference, friedman, friedman_from_ranks
from pqswarm.statistics.results import Results, read_results
from pqswarm.statistics.tables import TABLE_STYLES, table

__all__ = [
    "TABLE_STYLES",
    "ContrastResult",
    "FriedmanResult",
    "PosthocResult",
    "Results",
    "StabilityResult",
    "contrast_estimation",
    "critical_difference",
    "friedman",
    "friedman_from_ranks",
    "hommel",
    "posthoc",
    "read_results",
    "stability",
    "table",
]
