"""Which versions of dependencies are tried, and that the table has no failure."""

import csv

from tests.versions import TABLE, choose_versions, is_allowed, requirements


def test_the_lowest_and_the_newest_of_each_minor_version_are_tried():
    published = ["1.9", "2.0.0", "2.0.1", "2.1.0rc1", "2.1.0", "2.1.4", "2.2.0", "2.10.3", "3.0"]
    assert choose_versions(published, ">=2.0,!=2.2.*,<3") == ["2.0.0", "2.0.1", "2.1.4", "2.10.3"]


def test_every_version_in_the_table_is_allowed_and_works():
    bounds = requirements()
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert bounds.keys() <= {row["dependency"] for row in rows}, "python -m tests.versions --only NAME tries the rest"
    for row in rows:
        assert row["result"] in ("ok", "not on this machine"), row
        if row["dependency"] in bounds:
            assert is_allowed(row["version"], bounds[row["dependency"]]), row
    for name in {row["dependency"] for row in rows}:  # each is tried on one tree; the digest of another may differ
        digests = {row["digest"] for row in rows if row["dependency"] == name and len(row["digest"].split()) == 3}
        assert len(digests) <= 1, f"results differ by the version of {name}"
