"""The first ten minutes: time the pages of docs/start in a fresh clone and a fresh environment.

    python research/first_ten_minutes.py
    python research/first_ten_minutes.py --environment .venv    # do not install: use this environment

All commands of a page are run in its order; the Python blocks of a page are one program. Only the first way to install
is used, and its time counts for each of the three users. The exit code is 1 if a command fails, a user needs more than
ten minutes, or a file that the page ends in was not written.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
START = ROOT / "docs" / "start.md"
PAGES = {name: START.parent / "start" / f"{name}.md" for name in ("researcher", "engineer", "data-scientist")}
LIMIT = 600.0  # seconds

_BLOCK = re.compile(r"^```(?P<language>console|python)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A shell command or a block of Python."""

    code: str
    is_python: bool = False

    @property
    def title(self) -> str:
        """Name in the output."""
        lines = self.code.strip().splitlines()
        return lines[0] if not self.is_python else f"Python: {lines[0]} ... ({len(lines)} lines)"


def read_pages(start: str, pages: dict[str, str]) -> tuple[Step, dict[str, tuple[list[Step], list[str]]]]:
    """Return the first installation step, and the steps of each page with the files that it ends with."""
    found = {}
    for text in pages.values():
        shared = re.search(r"^\*\*To share:\*\* (.*)$", text, re.MULTILINE)
        files = re.findall(r"`([^`]+)`", shared[1]) if shared else []
        found[text.partition("\n")[0].removeprefix("# ")] = (_steps(text), files)
    return _steps(start)[0], found


def _steps(text: str) -> list[Step]:
    steps, program = [], ""
    for block in _BLOCK.finditer(text):
        if block["language"] == "python":
            program += block["code"]
        else:
            steps += [Step(line[2:]) for line in block["code"].splitlines() if line.startswith("$ ")]
    return [*steps, Step(program, is_python=True)] if program else steps


def run(step: Step, folder: Path, environment: Path) -> float:
    """Run one step in the activated environment and return its seconds."""
    hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")  # unset for a new user
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    variables["PATH"] = f"{environment / 'bin'}{os.pathsep}{variables['PATH']}"
    command = ["python", "-c", step.code] if step.is_python else ["bash", "-c", step.code]
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    print(f"{seconds:8.1f} s  {step.title}", flush=True)
    if done.returncode:
        sys.exit(f"failed with exit code {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return seconds


def main() -> None:
    """Clone, install, run the steps of each user and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", type=Path, help="an environment with pqswarm, instead of a fresh one")
    chosen = parser.parse_args().environment
    texts = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
    installing, users = read_pages(START.read_text(encoding="utf-8"), texts)
    rows, missing = [], []
    with tempfile.TemporaryDirectory() as home:
        clone = Path(home) / "pqswarm"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)  # noqa: S607
        environment = clone / ".venv" if chosen is None else chosen.absolute()
        waited = 0.0
        if chosen is None:
            print("Install")
            waited = run(installing, clone, environment)
        for user, (steps, files) in users.items():
            print(user)
            taken = sum(run(step, clone, environment) for step in steps)
            rows.append((user, len(steps), taken, waited + taken, ", ".join(files)))
            missing += [name for name in files if not (clone / name).is_file()]
    print("\n| user | steps | seconds | with the installation | ends with |\n|---|---|---|---|---|")
    for user, number, taken, total, files in rows:
        print(f"| {user} | {number} | {taken:.0f} | {total:.0f} | {files} |")
    if missing:
        sys.exit(f"not written: {', '.join(missing)}")
    sys.exit(any(total > LIMIT for _, _, _, total, _ in rows))


if __name__ == "__main__":
    main()
