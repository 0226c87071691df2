"""A scikit-learn feature selector based on the searches."""

from pqswarm.search import ProgressBar
from pqswarm.selector.callbacks import CsvLog, EarlyStopping
from pqswarm.selector.encoded import encoded_groups
from pqswarm.selector.front import FrontPoint
from pqswarm.selector.swarm_selector import DEFAULT_ALGORITHM, SwarmSelector

__all__ = [
    "DEFAULT_ALGORITHM",
    "CsvLog",
    "EarlyStopping",
    "FrontPoint",
    "ProgressBar",
    "SwarmSelector",
    "encoded_groups",
]
