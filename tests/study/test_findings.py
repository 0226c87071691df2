"""Findings: they come back bit for bit, and nothing else passes for one."""

import dataclasses
import json
from math import inf

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.evaluation import GridSearchResult
from pqswarm.study import Store, findings
from pqswarm.study.findings import Finding

AWKWARD = {"a": (0.1 + 0.2, 0.0), "ü / ö": (1 / 3,), "edges": (5e-324, 1.7976931348623157e308, inf), "none": ()}
MASK = np.arange(99) % 3 == 0
COUNTS = np.arange(9).reshape(3, 3)
GRID = GridSearchResult(("metric", "k"), (("cosine", 1), ("l1", 2)), np.array([1 / 3, 0.1 + 0.2]), (False, True))

ALL = [
    findings.About({"title": "ü", "runs": 3, "dataset": {"snr": [inf, 30.0]}}, "1.0", 1e9 / 3, {"cores": None}),
    findings.Finished(2e9 / 3),
    findings.Events(140, "abc", ("sag", "swell"), ("D1.energy",)),
    findings.GridFinding("k-NN", GRID),
    findings.Hyperparameters("k-NN", {"metric": "l1", "k": 2, "nested": {"a": [1, None, True]}}),
    findings.AllFeatures("k-NN", 0.1 + 0.2),
    findings.AllFeatures("N/B", 5e-324),
    findings.OneStandardError("k-NN", MASK, 1 / 3, inf),
    findings.HeldOut("k-NN", AWKWARD),
    findings.HeldOut("k-NN", AWKWARD, inf, 2**63 - 1),
    findings.HeldOut("k-NN", AWKWARD, 30.0, 2),
    findings.StageTwo("k-NN", inf, AWKWARD, COUNTS, COUNTS.T),
    findings.StageTwo("k-NN", 30.0, AWKWARD),
    findings.StageTwo("k-NN", 12.5, AWKWARD),
    findings.StageTwo("NB", 30.0, {}),
]


def content(found):
    """All that a finding says, arrays with their types, so that it can be compared."""

    def plain(value):
        if isinstance(value, np.ndarray):
            return (value.dtype.str, value.shape, value.tobytes())
        if dataclasses.is_dataclass(value):
            return {name: plain(entry) for name, entry in vars(value).items()}
        return repr(value)

    return type(found), plain(found)


def test_every_kind_is_tried():
    assert {type(found) for found in ALL} == set(Finding.__subclasses__())
    kinds = {name for name, kind in vars(findings).items() if isinstance(kind, type) and issubclass(kind, Finding)}
    assert kinds == {kind.__name__ for kind in Finding.__subclasses__()} | {"Finding"}


def test_findings_come_back_bit_for_bit(tmp_path):
    with Store(tmp_path / "new" / "folder", write=True) as store:
        store.put(*ALL[:5])
        for found in ALL[5:]:
            store.put(found)
    with Store(tmp_path / "new" / "folder") as store:
        for found in ALL:
            place = (getattr(found, key, none) for key, none in (("classifier", ""), ("level", None), ("seed", None)))
            assert content(store.find(type(found), *place)) == content(found)
        assert store.find(findings.AllFeatures, "absent") is None
        assert store.find(findings.StageTwo, "k-NN", 20.0) is None
        assert store.find(findings.GridFinding, "NB") is None


def test_they_are_frozen_and_kept_once(tmp_path):
    with pytest.raises(dataclasses.FrozenInstanceError):
        ALL[-1].level = 3.0
    with Store(tmp_path, write=True) as store:
        store.put(findings.AllFeatures("NB", 0.1))
        with pytest.raises(PqswarmError, match=r"study\.sqlite already contains .* another process is running"):
            store.put(findings.Finished(1.0), findings.AllFeatures("NB", 0.2))
        assert store.find(findings.AllFeatures, "NB").error == 0.1
        assert store.find(findings.Finished) is None  # all or none


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (findings.AllFeatures, {"error": "small"}),
        (findings.AllFeatures, {"error": None}),
        (findings.AllFeatures, {"eror": 0.1}),
        (findings.OneStandardError, {"mask": "0102"}),
        (findings.StageTwo, {"before": [[1, 2], [3]]}),
        (findings.StageTwo, {"accuracy": [1.0]}),
        (findings.HeldOut, {"errors": {"a": "b"}}),
    ],
)
def test_what_cannot_be_one_is_refused(kind, change):
    found = next(found for found in ALL if type(found) is kind)
    with pytest.raises(ValueError, match=r"."):
        kind.from_json(json.dumps(json.loads(found.to_json()) | change))
