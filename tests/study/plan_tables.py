"""Generate docs/reference/plan.md from the plan classes: ``python -m tests.study.plan_tables``."""

import re
from inspect import getdoc
from pathlib import Path

from pqswarm._base.toml import to_toml
from pqswarm.evaluation import CLASSIFIERS
from pqswarm.events import PRESETS
from pqswarm.features import FeatureOptions
from pqswarm.search import ALGORITHMS
from pqswarm.study import plan
from pqswarm.study.plan import MultiversePlan

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "plan.md"
HEAD = """# Keys of a study plan

A plan is a TOML file. `pqswarm plan show paper` prints one to edit, `pqswarm plan check mine.toml` validates it, and
`pqswarm study mine.toml` runs it; see [A first study](../tutorials/first-study.md). Omitted keys have their defaults,
and paths are relative to the plan. Names that other packages register by entry points can be used like the built-in
ones.
"""
PARTS = (
    ("The study", plan.StudyPlan, 'title = "My study"\nruns = 10\nmax_evaluations = 6000\nbaseline = "large swarm"\n'),
    (
        "`[dataset]`: generated events",
        plan.DatasetPlan,
        '[dataset]\npreset = "paper"\nevents_per_class = 100\nsnr = [inf, 40, 20]\nfeatures = { wavelet = "db4" }\n',
    ),
    ("`[dataset]`: your own data", plan.OwnDataPlan, '[dataset]\nfile = "events.csv"\nlabel = "class"\n'),
    ("`[held_out]`: generated events", plan.HeldOutPlan, "[held_out]\nevents_per_class = 50\nseeds = [1, 2, 3]\n"),
    ("`[held_out]`: your own data", plan.OwnHeldOutPlan, "[held_out]\nfraction = 0.25\n"),
    ("`[folds]`", plan.FoldsPlan, "[folds]\nnumber = 10\n"),
    (
        "`[subsets]`",
        plan.SubsetsPlan,
        '[subsets]\naveraged = 5\nfixed = ["D1.energy"]\ngroups = [["D1.minimum", "D1.maximum"], [7, 8]]\n',
    ),
    (
        "`[[classifiers]]`",
        plan.ClassifierPlan,
        '[[classifiers]]\nname = "5-NN"\nkind = "k-nn"\nn_neighbors = 5\nscaling = "minmax"\n',
    ),
    (
        "`[[algorithms]]`",
        plan.AlgorithmPlan,
        '[[algorithms]]\nname = "large swarm"\nalgorithm = "2d-upso"\nparameters = { swarm_size = 60 }\n',
    ),
    (
        "`[multiverse]`",
        MultiversePlan,
        '[multiverse]\ndesign = "array"\nspecifications = 16\n\n[multiverse.choices]\nfolds.number = [10, 5]\n'
        'algorithms."*".randomness = ["element", "particle"]\n\n[multiverse.choices.events]\nuniform = {}\n'
        '"in steps" = { dataset.preset = "paper-grid" }\n\n[multiverse.marked]\nours = { events = "in steps" }\n',
    ),
)
SEVERAL = """
## `[[datasets]]`: several data sets

Instead of `[dataset]`: the study runs on each, and its tests compare algorithms over data sets. Each takes the keys of
`[dataset]`, generated or your own, except `seeds`, and a `name`: at most 60 letters, digits, spaces and `.`, `_`, `+`,
`-`; by default that of the file or preset. Generated data sets that differ only in their seed are shorter in
`[dataset]`: `seeds = [1, 2, 3]`.

```toml
[[datasets]]
name = "north"
file = "north.csv"

[[datasets]]
name = "south"
file = "south.csv"
```"""
HYPERPARAMETERS = """
## Hyperparameters of the classifiers

Give them next to `kind`; if none is given, a grid search chooses them. Any other scikit-learn classifier is given by
its import path, `estimator = "sklearn.svm.LinearSVC"`, instead of `kind`, with its parameters in `parameters`.

| kind | hyperparameter | range | default | meaning |
|---|---|---|---|---|"""
OTHERS = """
## Parameters of the algorithms

Given in `parameters`; [Parameters of the searches](parameters.md) lists them.

## Feature options

Given in `dataset.features`.

| key | range | default | meaning |
|---|---|---|---|"""

TYPES = {"array": "list", "boolean": "true or false", "integer": "integer", "number": "number", "object": "table"}
LIMITS = {
    "minimum": "at least {:,.12g}",
    "exclusiveMinimum": "above {:g}",
    "maximum": "at most {:,.12g}",
    "exclusiveMaximum": "below {:g}",
    "maxLength": "at most {:,} characters",
}
# What the types alone do not say.
NAMES = {"algorithm": ALGORITHMS, "kind": CLASSIFIERS, "preset": PRESETS}
DEFAULTS = {(plan.AlgorithmPlan, "name"): "that of the algorithm", (plan.DatasetPlan, "classes"): "all"}
TABLES = {name: f"`[{name}]`" for name in ("dataset", "held_out", "folds", "subsets", "multiverse")}
TABLES |= {name: f"`[[{name}]]`" for name in ("datasets", "classifiers", "algorithms")}


def page():
    parts = [HEAD]
    for title, part, example in PARTS:
        parts += [f"\n## {title}\n", in_words(getdoc(part).splitlines()[0]), ""]
        parts += ["| key | type | range | default | meaning |", "|---|---|---|---|---|", *key_rows(part)]
        parts += ["", f"```toml\n{example}```"]
        if part is plan.OwnDataPlan:
            parts.append(SEVERAL)
    parts.append(HYPERPARAMETERS)
    for kind in CLASSIFIERS.built_in.values():
        parts += [row(kind.name, one) for one in kind.Hyperparameters.table() if kind.name != "estimator"]
    parts += [OTHERS, *(row(None, one) for one in FeatureOptions.table())]
    return "\n".join(parts) + "\n"


def key_rows(part):
    meanings = dict(attributes(part))
    for key, schema in part.model_json_schema()["properties"].items():
        field = part.model_fields[key]
        kind, limits = (f"table, {TABLES[key]}", "") if key in TABLES else described(schema)
        if key in NAMES:
            limits = ", ".join(f"`{name}`" for name in NAMES[key].built_in)
        default = "" if key in TABLES or not field.default else f"`{to_toml(field.default)}`"
        default = "must be given" if field.is_required() else default or ("`0`" if field.default == 0 else "")
        default = "`false`" if field.default is False else DEFAULTS.get((part, key), default)
        yield f"| `{key}` | {kind} | {limits} | {default} | {meanings[key]} |".replace("|  |", "| |").replace(
            "|  |", "| |"
        )


def attributes(part):
    """Yield names and meanings of the attributes in the docstring of a class."""
    section = re.search(r"Attributes\n-+\n(.*?)(?:\n\nExamples|\Z)", getdoc(part), re.DOTALL)[1]
    for entry in re.split(r"\n(?=\S)", section):
        name, _, text = entry.partition("\n")
        yield name.partition(" : ")[0], in_words(" ".join(text.split()))


def in_words(text):
    """Convert docstring text to Markdown."""
    text = re.sub(r":\w+:`~?([^`]*)`", lambda match: f"`{match[1]}`", text.replace("``", "`"))
    return text.replace("None:", "left out:").replace("None for", "left out:")


def described(schema):
    """Return type and range of a key as text."""
    choices = [described(one) for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if choices:
        return " or ".join(kind for kind, _ in choices), "; ".join(limits for _, limits in choices if limits)
    if "enum" in schema:
        return "text", ", ".join(f"`{one}`" for one in schema["enum"])
    kind = TYPES.get(schema["type"], "text")
    limits = [text.format(schema[name]) for name, text in LIMITS.items() if schema.get(name, 2**63 - 1) != 2**63 - 1]
    if kind == "list" and "items" in schema:
        inner, of_each = described(schema["items"])
        minimum = f"at least {schema['minItems']}" if schema.get("minItems") else ""
        kind = "list of pairs of texts" if inner == "list" else f"list of {inner}s"
        limits = [one for one in (minimum, f"each {of_each}" if of_each else "") if one]
    return kind, ", ".join(limits)


def row(kind, found):
    """Return the row of a parameter; `kind` is its classifier."""
    limits = found["range"].removesuffix(", or None")
    limits = limits.replace(" or ", ", ") if limits.count(" or ") > 1 else limits
    default = "" if found["default"] == "None" else f"`{found['default']}`"
    first = "" if kind is None else f"`{kind}` | "
    return f"| {first}`{found['name']}` | {limits} | {default} | {in_words(found['meaning'])} |".replace("|  |", "| |")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
