"""What does not fit together in the paper, for studies that are laid beside it."""

from pqswarm.report.paper_values import INCONSISTENCIES
from pqswarm.report.section import Content
from pqswarm.report.summary import StudySummary

__all__ = ["content"]


def content(study: StudySummary) -> Content:
    """List what to know about the paper, if the plan asks for it."""
    if not study.plan.paper:
        return Content()
    words = (
        "The study follows F. Hafiz, A. Swain, C. Naik, N. Patel, “Efficient feature selection of power quality events "
        "using two dimensional (2D) particle swarms”, Applied Soft Computing 81 (2019). Its values are marked “paper” "
        "in the tables. Know this about them:"
    )
    return Content(words=[words], points=INCONSISTENCIES)
