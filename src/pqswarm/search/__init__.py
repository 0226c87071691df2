"""Search algorithms for feature subsets: 2D particle swarms, MERIT and others."""

from pqswarm._base.parameters import parameter
from pqswarm.search.aco import ACO, ACOParameters
from pqswarm.search.base import Search, SearchParameters
from pqswarm.search.bpso import BPSO, BPSOParameters
from pqswarm.search.catfish import CatfishBPSO, CatfishParameters
from pqswarm.search.chaotic import ChaoticBPSO, ChaoticParameters
from pqswarm.search.distinct import DistinctSearch, VisitedSubsets
from pqswarm.search.driver import Progress, ProgressBar, advance_runs, minimize, minimize_many
from pqswarm.search.ga import GA, GAParameters
from pqswarm.search.ga_sparse import SparseGA, SparseGAParameters
from pqswarm.search.merit import Merit, MeritParameters
from pqswarm.search.ranking import Ranking, RankingParameters
from pqswarm.search.registry import ALGORITHMS
from pqswarm.search.run import Run, SearchResult
from pqswarm.search.sffs import SFFS, SFFSParameters
from pqswarm.search.swarm import Swarm, SwarmParameters, VelocityParameters, VelocitySwarm
from pqswarm.search.umda import UMDA, UMDAParameters
from pqswarm.search.upso2d import UPSO2D, Swarm2D, Swarm2DParameters, UPSO2DParameters

__all__ = [
    "ACO",
    "ALGORITHMS",
    "BPSO",
    "GA",
    "SFFS",
    "UMDA",
    "UPSO2D",
    "ACOParameters",
    "BPSOParameters",
    "CatfishBPSO",
    "CatfishParameters",
    "ChaoticBPSO",
    "ChaoticParameters",
    "DistinctSearch",
    "GAParameters",
    "Merit",
    "MeritParameters",
    "Progress",
    "ProgressBar",
    "Ranking",
    "RankingParameters",
    "Run",
    "SFFSParameters",
    "Search",
    "SearchParameters",
    "SearchResult",
    "SparseGA",
    "SparseGAParameters",
    "Swarm",
    "Swarm2D",
    "Swarm2DParameters",
    "SwarmParameters",
    "UMDAParameters",
    "UPSO2DParameters",
    "VelocityParameters",
    "VelocitySwarm",
    "VisitedSubsets",
    "advance_runs",
    "minimize",
    "minimize_many",
    "parameter",
]
