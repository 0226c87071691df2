"""A scikit-learn feature selector based on the searches."""

from pqswarm.search import ProgressBar
from pqswarm.selector.callbacks import EarlyStopping
from pqswarm.selector.front import FrontPoint
from pqswarm.selector.nested import NestedScore, nested_score
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
