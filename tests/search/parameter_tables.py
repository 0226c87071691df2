"""Generate docs/reference/parameters.md from the parameter classes: ``python -m tests.search.parameter_tables``."""

from pathlib import Path

from pqswarm.search import ALGORITHMS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "parameters.md"
HEAD = """# Parameters of the searches

Every option of every algorithm, with its range and default. The defaults are those of the paper's parameter table
or our choice, as explained in [Where the paper is silent](where-the-paper-is-silent.md). Pass them to
`minimize(..., parameters={"swarm_size": 50})` or `SwarmSelector(algorithm=("2d-upso", {"swarm_size": 50}))`, or set
them in a study plan.
"""


def page():
    parts = [HEAD]
    for name, search in ALGORITHMS.built_in.items():
        parts.append(f"\n## `{name}`: {search.title}\n\n{search.__doc__.splitlines()[0]}\n")
        parts.append("| parameter | symbol | meaning | range | default |\n|---|---|---|---|---|")
        for row in search.Parameters.table():
            cells = (f"`{row['name']}`", row["symbol"], row["meaning"], row["range"], row["default"])
            parts.append("| " + " | ".join(cells) + " |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
