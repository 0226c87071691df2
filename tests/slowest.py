"""List the slowest tenth of the tests, which ``make fast`` leaves out: ``python -m tests.slowest JUNIT.xml``.

``pytest --junitxml JUNIT.xml`` writes the file.
"""

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

LIST = Path(__file__).with_name("slowest.txt")
COSTLY = {"smoke_command", "paper_events", "browser"}
"""Fixtures that take long: the first test that needs one pays for all."""


def is_slow(item, listed):
    """Whether a test is among the slowest, or needs a costly fixture."""
    return item.nodeid in listed or bool(COSTLY & set(getattr(item, "fixturenames", ())))


def read_list():
    return set(LIST.read_text(encoding="utf-8").splitlines())


def node_name(place, name):
    """The name of a test as pytest has it, from a junit file, where dots separate folders, file and class."""
    module, _, group = re.fullmatch(r"([^A-Z]*?)(\.?)([A-Z].*)?", place).groups()
    return f"{module.replace('.', '/')}.py::{group + '::' if group else ''}{name}"


if __name__ == "__main__":
    cases = ET.parse(sys.argv[1]).getroot().iter("testcase")
    times = [(float(one.get("time")), node_name(one.get("classname"), one.get("name"))) for one in cases]
    slowest = sorted(times, reverse=True)[: len(times) // 16]
    LIST.write_text("\n".join(sorted(name for _, name in slowest)) + "\n", encoding="utf-8")
