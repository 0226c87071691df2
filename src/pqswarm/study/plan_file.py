"""Plans as TOML files: the built-in ones and your own."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pqswarm._base.checks import check_name
from pqswarm._base.toml import explain_mistakes, parse_toml, read_toml_text, to_toml, toml_key
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.events.preset_file import preset_lines
from pqswarm.study.plan import (
    DatasetPlan,
    HeldOutPlan,
    MultiversePlan,
    OwnDataPlan,
    StudyPlan,
    change_plan,
)

PLANS: tuple[str, ...] = ("quick", "paper", "as-printed", "paper-grid", "replication", "multiverse", "smoke")
"""The built-in plans."""

COPY = "dataset.npz"
"""Name of the data file in the folder of a study."""

_WORDS = {
    "string_pattern_mismatch": "must be 1 to 40 letters, digits, spaces and . _ + -, starting with a letter or digit"
}


def plan_text(name: str) -> str:
    """Return the text of a built-in plan, one of :data:`PLANS`, as TOML.

    Examples
    --------
    >>> "runs = 40" in plan_text("paper")
    True
    """
    check_name("plan", name, PLANS)
    return (files("pqswarm.study") / "plans" / f"{name}.toml").read_text(encoding="utf-8")


def read_plan(
    text: str, source: str = "the plan", folder: str | Path = ".", changes: Mapping[str, Any] | None = None
) -> StudyPlan:
    """Read a plan from TOML.

    Parameters
    ----------
    text : str
        TOML.
    source : str, default="the plan"
        Its source, for messages.
    folder : str or Path, default="."
        Folder of relative paths in the plan.
    changes : mapping of str to object, default=None
        New values of keys, by dotted name; see :func:`pqswarm.study.plan.change_plan`.

    Returns
    -------
    StudyPlan
        The plan.

    Examples
    --------
    >>> read_plan(plan_text("paper")).max_evaluations
    6000
    """
    try:
        tree = change_plan(parse_toml(text, source), changes or {})
        if tree.get("datasets") == []:
            raise PqswarmError(f"{source}: datasets is empty: name at least one data set, or remove it.")
        return StudyPlan.model_validate(tree, context={"folder": Path(folder)})
    except ValidationError as error:
        raise _plan_error(f"{source} cannot be used:", error) from None


def _plan_error(heading: str, error: ValidationError) -> PqswarmError:
    """The error with one line for each mistake: the key and what is wrong with it."""
    lines = explain_mistakes(error, StudyPlan, tags=("generated", "own"), words=_WORDS)
    return PqswarmError("\n  ".join([heading, *lines]))


def load_plan(given: str | Path, changes: Mapping[str, Any] | None = None) -> StudyPlan:
    """Return a built-in plan by name, one of :data:`PLANS`, or read a TOML file.

    `changes` are new values of keys, by dotted name, such as ``{"runs": 5}``.
    """
    if str(given) in PLANS:
        return read_plan(plan_text(str(given)), f"plan {given!s}", changes=changes)
    path = Path(given)
    try:
        text = read_toml_text(path, "the plan ")
    except FileNotFoundError:
        if path.suffix.lower() == ".toml":
            raise PqswarmError(f"there is no plan file {path}: check its name and folder.") from None
        raise unknown_name("plan", str(given), (*PLANS, "a TOML file")) from None
    return read_plan(text, str(path), path.parent, changes)


def restore_plan(kept: Mapping[str, Any]) -> StudyPlan:
    """Make a plan from what a study stores; see :class:`findings.About`."""
    try:
        return StudyPlan.model_validate(kept)
    except ValidationError as error:
        raise _plan_error(
            "the stored plan of the study is invalid, or of another version: then run it again:", error
        ) from None


def plan_for_given_data(plan: StudyPlan) -> StudyPlan:
    """Return a plan for data given in Python, which replace its file."""
    if isinstance(plan.dataset, OwnDataPlan) and not plan.datasets:
        return plan
    given = plan.model_dump(exclude_unset=True)
    try:
        return StudyPlan.model_validate(given | {"dataset": given.get("dataset", {}) | {"file": COPY}})
    except ValidationError as error:
        raise _plan_error("data are given, but the plan describes others:", error) from None


def format_plan(plan: StudyPlan) -> str:
    """Return a plan as TOML, which :func:`read_plan` reads as the same plan.

    Examples
    --------
    >>> format_plan(read_plan(plan_text("smoke"))).splitlines()[:2]
    ['title = "A smoke test"', 'runs = 3']
    """
    left_out = {
        "paper": not plan.paper,
        "stage_two": plan.stage_two,
        "dataset": bool(plan.datasets),
        "datasets": not plan.datasets,
        "multiverse": True,
    }
    parts = plan.model_dump(exclude_none=True, exclude={key for key, is_left_out in left_out.items() if is_left_out})
    if plan.dataset_seeds:
        del parts["dataset"]["seed"]
    if isinstance(plan.held_out, HeldOutPlan):
        unused = ("events_per_class", "seeds") if plan.held_out.cross_dataset else ("cross_dataset",)
        parts["held_out"] = {key: value for key, value in parts["held_out"].items() if key not in unused}
    lines = []
    tables = []
    if plan.held_out is None and plan.multiverse is None and isinstance(plan.dataset, DatasetPlan):
        parts["held_out"] = False
    for key, value in parts.items():
        if isinstance(value, dict):
            tables += _plan_table_lines(key, f"[{key}]", value)
        elif isinstance(value, tuple) and any(isinstance(member, dict) for member in value):
            for member in value:
                tables += _plan_table_lines(key, f"[[{key}]]", member)
        else:
            lines.append(f"{key} = {to_toml(value)}")
    return "\n".join([*lines, *tables, *_plan_multiverse_lines(plan.multiverse)])


def _plan_table_lines(key: str, heading: str, table: Mapping[str, Any]) -> list[str]:
    """The lines of a table; a preset that is not a name has tables of its own."""
    lines = ["", heading]
    below = []
    for name, value in table.items():
        if name == "preset" and isinstance(value, dict):
            below = ["", f"[{key}.preset]", *preset_lines(value, f"{key}.preset.")]
        elif value != {}:
            lines.append(f"{name} = {to_toml(value)}")
    return lines + below


def _plan_multiverse_lines(plan: MultiversePlan | None) -> list[str]:
    if plan is None:
        return []
    parts = plan.model_dump(exclude_none=True)
    tables = {f"multiverse.choices.{toml_key(choice)}": each for choice, each in parts.pop("choices").items()}
    marked = parts.pop("marked")
    tables |= {"multiverse.marked": marked} if marked else {}
    lines = []
    for name, table in {"multiverse": parts, **tables}.items():
        lines += ["", f"[{name}]", *(f"{toml_key(key)} = {to_toml(value)}" for key, value in table.items())]
    return lines
