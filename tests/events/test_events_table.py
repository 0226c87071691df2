"""The page on event classes is that of the preset `paper`."""

import csv
import re
from pathlib import Path

from pqswarm.events import PRESETS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference/events-table.md").read_text(encoding="utf-8")


def ranges_on_the_page():
    """Lower and upper end of each parameter that has a row of its own, as often as it has one."""
    ranges = set()
    with (DOCS / "reference/event-parameters.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            name = re.fullmatch(r"`(\w+)`", row["parameter"])
            ends = re.fullmatch(r"([\d.]+) to ([\d.]+) (?:pu|cycles)", row["range"])
            if name and ends:
                ranges.add((name[1], float(ends[1]), float(ends[2])))
    return ranges


def test_the_page_lists_the_classes_in_order_with_their_pictures():
    listed = re.findall(r"^\| `(\w+)` \| !\[\]\(\.\./(_static/events/\w+\.png)\) \|", PAGE, re.MULTILINE)
    assert [name for name, _ in listed] == list(PRESETS["paper"].classes)
    for name, picture in listed:
        assert picture == f"_static/events/{name}.png"
        assert (DOCS / picture).exists()


def test_the_ranges_are_those_of_the_preset():
    preset = PRESETS["paper"]
    drawn = {
        (parameter, rule.low, rule.high)
        for name in preset.classes
        for parameter, rule in preset.ranges(name).items()
        if hasattr(rule, "low")
    }
    assert len(ranges_on_the_page()) == 7
    assert ranges_on_the_page() <= drawn
