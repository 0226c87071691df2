"""Statistical tests, effect sizes and confidence intervals to compare algorithms, and stability of a selection."""

from pqswarm._base.intervals import wilson_interval
from pqswarm.statistics.comparisons import (
    Comparison,
    PairedComparison,
    SignedRankPosterior,
    compare_datasets,
    compare_runs,
    equivalence,
    mann_whitney,
    wilcoxon_signed_rank,
)
from pqswarm.statistics.intervals import Interval, bootstrap_difference, bootstrap_mean, superiority
from pqswarm.statistics.power import Variances, detectable_difference, detection_power, measure_variances
from pqswarm.statistics.ranks import (
    ContrastResult,
    FriedmanResult,
    PosthocResult,
    contrast_estimation,
    critical_difference,
    friedman,
    friedman_from_ranks,
    hommel,
    posthoc,
)
from pqswarm.statistics.results import Results, read_results
from pqswarm.statistics.stability import StabilityResult, selection_stability
from pqswarm.statistics.tables import TABLE_STYLES, table

__all__ = [
    "TABLE_STYLES",
    "Comparison",
    "ContrastResult",
    "FriedmanResult",
    "Interval",
    "PairedComparison",
    "PosthocResult",
    "Results",
    "SignedRankPosterior",
    "StabilityResult",
    "Variances",
    "bootstrap_difference",
    "bootstrap_mean",
    "compare_datasets",
    "compare_runs",
    "contrast_estimation",
    "critical_difference",
    "detectable_difference",
    "detection_power",
    "equivalence",
    "friedman",
    "friedman_from_ranks",
    "hommel",
    "mann_whitney",
    "measure_variances",
    "posthoc",
    "read_results",
    "selection_stability",
    "superiority",
    "table",
    "wilcoxon_signed_rank",
    "wilson_interval",
]
