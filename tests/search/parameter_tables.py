"""Generate docs/reference/parameters.md from the parameter classes: ``python -m tests.search.parameter_tables``."""

from pathlib import Path

from pqswarm.search import ALGORITHMS, SearchParameters

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "parameters.md"
HEAD = """# Parameters of the searches

Every option of every algorithm, with its range and default. The defaults are those of the paper's parameter table
where it has them; [Choices the paper leaves open](../explanation/open-choices.md) explains the others. Pass them to
`minimize(..., parameters={"swarm_size": 50})` or `SwarmSelector(algorithm=("2d-upso", {"swarm_size": 50}))`, or set
them in a [study plan](plan.md).

## All searches
"""
COLUMNS = "| parameter | symbol | meaning | range | default |\n|---|---|---|---|---|"
BASES = {"cbpso": "bpso", "chbpso": "bpso"}  # algorithms whose parameters are shown by what they add


def rows_of(parameters):
    return ["| " + " | ".join((f"`{row['name']}`", *list(row.values())[1:])) + " |" for row in parameters.table()]


def page():
    shared = rows_of(SearchParameters)
    parts = [HEAD, COLUMNS, *shared]
    for name, search in ALGORITHMS.built_in.items():
        parts.append(f"\n## `{name}`: {search.title}\n\n{search.__doc__.splitlines()[0]}\n")
        rows = [row for row in rows_of(search.Parameters) if row not in shared]
        if name in BASES:
            base = ALGORITHMS[BASES[name]].Parameters.table()
            own = {row["name"] for row in search.Parameters.table()}
            missing = [f"`{row['name']}`" for row in base if row["name"] not in own]
            exception = f" except {', '.join(missing)}" if missing else ""
            parts.append(f"The parameters of `{BASES[name]}`{exception}, and\n")
            rows = [row for row in rows if row not in rows_of(ALGORITHMS[BASES[name]].Parameters)]
        parts += [COLUMNS, *rows]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
