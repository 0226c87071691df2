"""Print the oldest allowed dependencies as constraints for pip: ``python -m tests.oldest > oldest.txt``."""

import re
import tomllib
from pathlib import Path

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)")
EXTRAS = ("app", "dask", "parquet")
"""Extras of users; the tools of development are the newest."""


def oldest(project: dict) -> list[str]:
    """Each requirement with a lower bound, at that bound."""
    given = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    found = [_REQUIREMENT.fullmatch(one) for one in given]
    assert all(found), "a requirement of users has no lower bound, or more than that"
    return [f"{one[1]}=={one[2]}" for one in found]


if __name__ == "__main__":
    print("\n".join(oldest(tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"])))
