"""Filters: rank features without a classifier."""

from pqswarm.evaluation.filters.filter import FILTERS, Filter, Prefiltered, prefilter

__all__ = ["FILTERS", "Filter", "Prefiltered", "prefilter"]
