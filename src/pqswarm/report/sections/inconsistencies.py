"""Inconsistencies of the paper, for studies that are compared with it."""

from pqswarm.report.paper_values import INCONSISTENCIES
from pqswarm.report.section import Content
from pqswarm.report.summary import DatasetSummary


def inconsistencies_content(study: DatasetSummary) -> Content:
    """List the inconsistencies of the paper, if the plan asks for it."""
    if not study.plan.paper:
        return Content()
    words = (
        "The study follows F. Hafiz, A. Swain, C. Naik, N. Patel, “Efficient feature selection of power quality events "
        "using two dimensional (2D) particle swarms”, Applied Soft Computing 81 (2019). Its values are marked “paper” "
        "in the tables. What to know about them:"
    )
    return Content(words=[words], points=INCONSISTENCIES)
