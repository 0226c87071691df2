"""The plan of the study, to run it again."""

import json
from math import inf
from typing import Any

from pqswarm.report.section import Content, StudySection
from pqswarm.report.summary import StudySummary
from pqswarm.study import StudyPlan

__all__ = ["SECTION"]


def _content(study: StudySummary) -> Content:
    words = "To run the study again, save this as a TOML file and give it to pqswarm study."
    return Content(words=[words], code=format_plan(study.plan))


SECTION = StudySection("plan", "The plan", _content)


def format_plan(given: StudyPlan) -> str:
    """Return a plan as TOML."""
    lines = []
    plan = given.model_dump(mode="python", exclude_none=True)
    for key, value in plan.items():
        if not isinstance(value, dict | tuple):
            lines.append(f"{key} = {_toml(value)}")
    for key, value in plan.items():
        members = [value] if isinstance(value, dict) else value if isinstance(value, tuple) else []
        for member in members:
            lines += ["", f"[{key}]" if isinstance(value, dict) else f"[[{key}]]"]
            lines += [f"{name} = {_toml(entry)}" for name, entry in member.items() if entry != {}]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(entry)}" for name, entry in value.items()) + " }"
    return "inf" if value == inf else repr(value)
