"""Public recordings with what is true of them; the files are not part of this project."""

from corpus.causes import compare_causes
from corpus.compare import Comparison, check_corpus
from corpus.expectations import EXPECTED, Expected, Find

__all__ = ["EXPECTED", "Comparison", "Expected", "Find", "check_corpus", "compare_causes"]
