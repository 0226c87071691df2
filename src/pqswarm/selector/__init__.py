"""A scikit-learn feature selector based on the searches."""

from pqswarm.search import ProgressBar
from pqswarm.selector.nested import NestedScore, nested_score
from pqswarm.selector.search_loop import EarlyStopping
from pqswarm.selector.selection import FrontPoint
from pqswarm.selector.swarm_selector import DEFAULT_ALGORITHM, SwarmSelector

__all__ = [
    "DEFAULT_ALGORITHM",
    "EarlyStopping",
    "FrontPoint",
    "NestedScore",
    "ProgressBar",
    "SwarmSelector",
    "nested_score",
]
