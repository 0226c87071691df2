"""The best subset along a ranking of the features."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pqswarm._base.parameters import parameter
from pqswarm._base.typing import BoolArray, FloatArray
from pqswarm.errors import PqswarmError
from pqswarm.evaluation.filters import FILTERS, Filter
from pqswarm.search.base import Search, SearchParameters


class RankingParameters(SearchParameters):
    """Parameters of the search along a ranking."""

    filter: str = parameter(
        "the filter that ranks the features, in a study and in SwarmSelector", default="mutual-information"
    )
    order: tuple[int, ...] = parameter(
        "indices of the features, best first; empty keeps their order", default=(), low=0
    )


class Ranking(Search):
    """Evaluate the first feature of a ranking, the first two, and so on, up to all features."""

    name = "ranking"
    title = "Ranking"
    Parameters = RankingParameters
    parameters: RankingParameters
    deterministic = runs_once = needs_order = True
    state_fields = ("asked",)

    def _start(self) -> None:
        self.asked = np.array(False)
        if sorted(self.parameters.order or range(self.n_features)) != list(range(self.n_features)):
            raise PqswarmError(f"order must hold each of the {self.n_features} features once.")

    @property
    def done(self) -> bool:
        """Whether all sizes, or the required one, were evaluated."""
        return bool(self.asked)

    def _next(self) -> BoolArray:
        place = np.argsort(self.parameters.order or range(self.n_features))
        sizes = np.arange(1, self.n_features + 1) if self.size is None else np.array([self.size])
        return place < sizes[:, np.newaxis]

    def _learn(self, masks: BoolArray, errors: FloatArray) -> None:  # noqa: ARG002 (there is nothing to learn)
        self.asked = np.array(True)


def required_filter(search: type[Search], given: Mapping[str, Any]) -> Filter | None:
    """Return the filter whose ranking an algorithm needs as `order`; None if it needs none, or one is given."""
    if not search.needs_order or "order" in given:
        return None
    return FILTERS.find(getattr(search.Parameters.of(given), "filter", None))
