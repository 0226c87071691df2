"""Try every allowed version of every dependency: ``make versions``, or ``python -m tests.versions --only typer``.

For each direct dependency, of users as of their extras, the lowest allowed version and the newest of each minor version
are installed one after the other into an environment of that dependency; the other packages are those of
constraints.txt as far as they fit. ``tests/smoke.py`` is run in each, and in environments of other Pythons. What is in
the table already is not tried again, unless it failed.
"""

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "results" / "versions.csv"
COLUMNS = ("dependency", "version", "python", "result", "digest", "with")
EXTRAS = ("app", "dask", "parquet")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
STEPS = ("help_of_all", "study", "identify", "app", "selector")
OF_EXTRA = {"distributed": ("cluster",), "pyarrow": ("identify", "parquet")}
LIMIT = 1200  # seconds of one smoke, of which most compile on a busy machine
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+?)(>=[0-9.]+.*)")
_RELEASE = re.compile(r"\d+(\.\d+)*")
_UV = Path(sys.executable).with_name("uv")


def run(*command, limit=LIMIT, **environment):
    """A finished command with its output."""
    return subprocess.run(
        [*map(str, command)], env=os.environ | environment, capture_output=True, text=True, check=False, timeout=limit
    )


def requirements():
    """The bounds of all direct dependencies, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    given = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    return {match[1]: match[2] for match in map(_REQUIREMENT.fullmatch, given)}


def number(version):
    return tuple(map(int, version.split(".")))


def in_order(place):
    name, version = place
    return name.lower(), number(version) if _RELEASE.fullmatch(version) else ()


def is_allowed(version, bounds):
    """Whether a version is within bounds such as ``>=2.0,!=2.3.*,<3``."""
    for bound in bounds.split(","):
        sign, limit = re.fullmatch(r"(>=|<|!=)([\d.]+?)(?:\.\*)?", bound).groups()
        if sign == ">=" and number(version) < number(limit):
            return False
        if sign == "<" and number(version) >= number(limit):
            return False
        if sign == "!=" and number(version)[: len(number(limit))] == number(limit):
            return False
    return True


def choose_versions(published, bounds):
    """The lowest of the allowed versions, and the newest of each minor version."""
    allowed = sorted((one for one in published if _RELEASE.fullmatch(one) and is_allowed(one, bounds)), key=number)
    newest = {number(one)[:2]: one for one in allowed}
    return list(dict.fromkeys([*allowed[:1], *newest.values()]))


def published_versions(name):
    """All versions that the package index has for this Python."""
    told = run(sys.executable, "-m", "pip", "index", "versions", name).stdout
    found = re.search(r"Available versions: (.*)", told)
    return found[1].split(", ") if found else []


def find_python(version):
    """A Python of a minor version on this machine, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    candidates = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
    for path in filter(None, candidates):
        told = run(path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
        if told.stdout.strip() == version:
            return path
    return None


def install(python, *given):
    """Install packages; return why that is impossible, or nothing."""
    index = run(sys.executable, "-m", "pip", "config", "get", "global.index-url").stdout.strip()
    settings = {"UV_DEFAULT_INDEX": index} if index else {}
    done = run(
        _UV,
        "pip",
        "install",
        "--python",
        python,
        "--only-binary",
        ":all:",
        "--no-binary",
        "pqswarm",
        *given,
        **settings,
    )
    return " ".join(done.stderr.split())[-400:] if done.returncode else ""


def make_environment(folder, python, *given):
    """A new environment with pqswarm and the extras of users: its Python, and why it could not be installed."""
    run(_UV, "venv", "--clear", "--python", python, folder)
    path = folder / "bin" / "python"
    return path, install(path, "--editable", f"{ROOT}[{','.join(EXTRAS)}]", *given)


def installed(python):
    """The versions of the direct dependencies in an environment."""
    told = json.loads(run(_UV, "pip", "list", "--format", "json", "--python", python).stdout or "[]")
    return {one["name"].lower(): one["version"] for one in told}


def smoke(python, work, steps):
    """The first step that fails, or "ok", and the digest of the results."""
    folder = work / "smoke"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "home").mkdir(parents=True)
    compiled = work / "compiled" / f"{python.parent.parent.name}-{installed(python)['numba']}"
    settings = {"HOME": str(folder / "home"), "NUMBA_CACHE_DIR": str(compiled.absolute()), "PYTHONPATH": ""}
    try:
        done = run(python, ROOT / "tests" / "smoke.py", folder, *steps, **settings)
    except subprocess.TimeoutExpired:
        return f"more than {LIMIT} s", ""
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not told or "digest" not in told[-1]:
        return f"ended: {done.stderr.strip()[-200:]}", ""
    problems = [f"{one['step']}: {one['problem']}" for one in told[:-1] if one["problem"]]
    return " ".join(problems[0].split())[:300] if problems else "ok", told[-1]["digest"]


class Table:
    """The results, which are written after each."""

    def __init__(self, path):
        self.path = path
        self.rows = {}
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                self.rows = {(row["dependency"], row["version"]): row for row in csv.DictReader(file)}

    def is_done(self, name, version):
        return self.rows.get((name, version), {}).get("result") == "ok"

    def add(self, **row):
        self.rows[row["dependency"], row["version"]] = row
        print(f"{row['dependency']:14} {row['version']:10} {row['result']} {row['with']}", flush=True)
        with self.path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows, key=in_order))


def try_dependency(name, bounds, work, table):
    """Try the versions of one dependency in one environment."""
    left = [one for one in choose_versions(published_versions(name), bounds) if not table.is_done(name, one)]
    if not left:
        return
    python, problem = make_environment(work / "py", sys.executable, "--constraint", ROOT / "constraints.txt")
    tested = installed(python)
    steps = OF_EXTRA.get(name, STEPS)
    for version in left:
        problem = problem or install(python, "--editable", f"{ROOT}[{','.join(EXTRAS)}]", f"{name}=={version}")
        result, digest = (f"cannot be installed: {problem}", "") if problem else smoke(python, work, steps)
        now = installed(python)
        others = [f"{other} {now.get(other)}" for other in map(str.lower, requirements()) if other != name.lower()]
        changed = [other for other in others if other.split()[1] != tested.get(other.split()[0])]
        table.add(
            dependency=name, version=version, python=sys.version.split()[0], result=result, digest=digest,
            **{"with": ", ".join(changed)},
        )  # fmt: skip
        problem = ""


def try_python(version, work, table):
    """Try another Python with the newest packages that it has."""
    found = find_python(version)
    result, digest, python = "not on this machine", "", None
    if found is not None:
        python, problem = make_environment(work / f"py{version}", found)
        result = f"cannot be installed: {problem}"
        if not problem:
            result, digest = smoke(python, work, (*STEPS, "parquet", "cluster"))
    table.add(dependency="Python", version=version, python=version, result=result, digest=digest, **{"with": ""})


def try_oldest(work, table):
    """Try the lowest allowed versions of all dependencies together."""
    python, problem = make_environment(work / "oldest", sys.executable, "--resolution", "lowest-direct")
    result, digest = (f"cannot be installed: {problem}", "") if problem else smoke(python, work, (*STEPS, "cluster"))
    version = sys.version.split()[0]
    table.add(dependency="all", version="oldest", python=version, result=result, digest=digest, **{"with": ""})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", help="dependencies, python or oldest; default: all")
    parser.add_argument("--table", type=Path, default=TABLE, help="CSV file of the results")
    parser.add_argument("--again", action="store_true", help="try also what is in the table")
    parser.add_argument("--work", type=Path, default=Path(".versions"), help="folder of the environments")
    given = parser.parse_args()
    table = Table(given.table)
    if given.again:
        table.rows.clear()
    work = given.work.absolute()
    bounds = requirements()
    chosen = given.only or [*bounds, "python", "oldest"]
    for name in chosen:
        if name == "oldest":
            if not table.is_done("all", "oldest"):
                try_oldest(work, table)
        elif name == "python":
            for version in PYTHONS:
                if not table.is_done("Python", version):
                    try_python(version, work, table)
        else:
            try_dependency(name, bounds[name], work, table)
    failed = [row for row in table.rows.values() if row["result"] not in ("ok", "not on this machine")]
    sys.exit(f"{len(failed)} of {len(table.rows)} failed" if failed else 0)


if __name__ == "__main__":
    main()
