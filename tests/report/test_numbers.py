"""The numbers of a report: each is computed again, plainly, from what the study has kept."""

import sqlite3
from contextlib import closing
from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from tests.report.studies import tables
from tests.statistics import reference

from pqswarm.events import class_title
from pqswarm.study import Store
from pqswarm.study.findings import AllFeatures, HeldOut, OneStandardError, StageTwo

NAMES = {"ga": "GA", "aco": "ACO", "bpso": "BPSO", "cbpso": "CBPSO", "chbpso": "chBPSO", "2d-upso": "2D-UPSO"}
BANDS = ("D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "A8")
FUNCTIONS = (
    *("minimum", "maximum", "median", "energy", "mean", "entropy"),
    *("skewness", "deviation", "mean_deviation", "variance", "kurtosis"),
)


@pytest.fixture
def kept(smoke_study, found):
    """Errors and masks of each algorithm's runs, as SQLite has them."""
    query = "SELECT algorithm, error, mask FROM runs WHERE classifier = ? ORDER BY run"
    with closing(sqlite3.connect(smoke_study / "study.sqlite")) as db:
        rows = db.execute(query, (found.name,)).fetchall()
    groups = {}
    for algorithm, error, mask in rows:
        groups.setdefault(algorithm, []).append((error, [int(letter) for letter in mask]))
    return {name: (np.array([e for e, _ in g]), np.array([m for _, m in g])) for name, g in groups.items()}


@pytest.fixture
def find(smoke_study, found):
    """Findings about the classifier."""

    def read(kind, level=None, seed=None):
        with Store(smoke_study) as store:
            return store.find(kind, found.name, level, seed)

    return read


@pytest.fixture
def rows_of(study, found):
    """Rows of a table that are not the paper's."""
    shown = tables(study, found)
    return lambda name: [row for row in shown[name].rows if row.get("source") != "paper"]


def test_performance(rows_of, kept, find):
    whole = find(AllFeatures).error
    keys = ("mean_J", "sd_J", "PI", "mean_size", "sd_size", "Xi", "score")
    table = dict(zip(keys, rows_of("performance"), strict=True))
    rows = {title: {key: table[key][title] for key in keys} for title in NAMES.values()}
    for name, title in NAMES.items():
        errors, masks = kept[name]
        sizes = masks.sum(axis=1)
        assert len(errors) == 3
        expected = {
            "mean_J": sum(errors) / 3,
            "sd_J": sqrt(sum((e - sum(errors) / 3) ** 2 for e in errors) / 2),
            "PI": 100 * (whole - np.mean(errors)) / whole,
            "mean_size": np.mean(sizes),
            "sd_size": stats.tstd(sizes),
            "Xi": 100 * (99 - np.mean(sizes)) / 99,
            "score": 40 / 3 * sum(size / 99 * error for size, error in zip(sizes, errors, strict=True)),
        }
        assert {key: rows[title][key] for key in expected} == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("what", ["error", "size"])
def test_friedman_and_hommel(rows_of, kept, what):
    # Equal numbers of errors may differ in the last bit of their mean.
    values = np.round([kept[name][0] if what == "error" else kept[name][1].sum(axis=1) for name in NAMES], 12).T
    n, k = values.shape
    ranks = np.array([stats.rankdata(row) for row in values]).mean(axis=0)
    row = rows_of("friedman")[0 if what == "error" else 1]
    assert [row[title] for title in NAMES.values()] == pytest.approx(ranks)
    chi2 = 12 * n / (k * (k + 1)) * (sum(ranks**2) - k * (k + 1) ** 2 / 4)
    assert (row["chi2"], row["p"]) == pytest.approx((chi2, stats.chi2.sf(chi2, k - 1)))
    corrected = stats.friedmanchisquare(*values.T)
    assert row["p_ties"] == pytest.approx(corrected.pvalue)

    titles = list(NAMES.values())
    control = titles.index("2D-UPSO")
    rows = rows_of("hommel")
    assert [row["algorithm"] for row in rows] == [title for title in titles if title != "2D-UPSO"]
    z = np.abs(np.delete(ranks, control) - ranks[control]) / sqrt(k * (k + 1) / (6 * n))
    p = 2 * stats.norm.sf(z)
    rejected, adjusted, *_ = multipletests(p, method="hommel")
    assert [row[f"{what} z"] for row in rows] == pytest.approx(z)
    assert [row[f"{what} p"] for row in rows] == pytest.approx(p)
    assert [row[f"{what} adjusted"] for row in rows] == pytest.approx(adjusted)
    assert [row[f"{what} differs"] for row in rows] == rejected.tolist()


@pytest.mark.parametrize("what", ["error", "size"])
def test_comparisons_of_all_runs_with_all_runs(rows_of, kept, what):
    values = {
        title: np.round(kept[name][0] if what == "error" else kept[name][1].sum(axis=1), 12)
        for name, title in NAMES.items()
    }
    ours = values["2D-UPSO"]
    rows = rows_of(f"unpaired-{what}")[:5]
    assert [(row["algorithm"], row["against"]) for row in rows] == [("2D-UPSO", name) for name in list(values)[:5]]
    for row in rows:
        other = values[row["against"]]
        pairs = [1.0 if x < y else 0.5 if x == y else 0.0 for x in ours for y in other]
        assert row["superiority"] == pytest.approx(np.mean(pairs))
        assert row["difference"] == pytest.approx(ours.mean() - other.mean())
        assert row["conclusion"] == "inconclusive"  # of three runs each, whatever they are
        assert row["difference_interval"] is row["p_equivalence"] is None
    adjusted = multipletests([row["p"] for row in rows], method="hommel")[1]
    assert [row["adjusted"] for row in rows] == pytest.approx(adjusted)


def of_best(rates, kept):
    """The values of the best runs, by algorithm, and of other subsets."""
    picked = {name: values[0] for name, values in rates.items()}
    for name, (errors, masks) in kept.items():
        best = min(range(len(errors)), key=lambda i: (round(errors[i], 12), masks[i].sum(), i))
        picked[name] = rates[name][best]
    return picked


def test_noise_robustness_and_contrast(rows_of, kept, find):
    accuracy = [of_best(find(StageTwo, level).accuracy, kept) for level in (inf, 30.0)]
    rows = rows_of("noise")
    assert [row["result"] for row in rows] == ["Θ", "θ"] * 2
    for row, gains, values in zip(rows[::2], rows[1::2], accuracy, strict=True):
        assert row["all"] == gains["all"] == values["all features"]
        for name, title in NAMES.items():
            assert row[title] == values[name]
            assert gains[title] == pytest.approx(values[name] - values["all features"], abs=1e-9)
    conclusions = {row["algorithm"]: row for row in rows_of("robust")}
    for name, title in (NAMES | {"sffs": "SFFS"}).items():
        gains = [round(values[name] - values["all features"], 9) for values in accuracy]
        assert conclusions[title]["robust"] == all(gain >= 0 for gain in gains)
        assert conclusions[title]["minimum"] == pytest.approx(min(gains), abs=1e-9)
    table = np.array([[values[name] for name in NAMES] for values in accuracy])
    middle = np.array([[np.median(table[:, u] - table[:, v]) for v in range(6)] for u in range(6)])
    contrast = np.subtract.outer(middle.mean(axis=1), middle.mean(axis=1))
    rows = rows_of("contrast")
    assert np.allclose([[row[title] for title in NAMES.values()] for row in rows], contrast)


def test_held_out_events_and_optimism(rows_of, kept, find):
    sets = [of_best(find(HeldOut, inf, seed).errors, kept) for seed in (1, 2)]
    rows = {row["subset"]: row for row in rows_of("held-out")}
    whole = find(AllFeatures).error
    assert rows["all features"]["increase"] == pytest.approx(np.mean([one["all features"] for one in sets]) - whole)
    assert rows["all features"]["optimism"] is None
    assert rows["one standard error"]["size"] == find(OneStandardError).mask.sum()
    for name, title in (NAMES | {"sffs": "SFFS"}).items():
        errors, masks = kept[name]
        best = min(range(len(errors)), key=lambda i: (round(errors[i], 12), masks[i].sum(), i))
        row = rows[title]
        assert (row["size"], row["J"]) == (masks[best].sum(), errors[best])
        assert row["held_out"] == pytest.approx(np.mean([one[name] for one in sets]))
        net = [(one[name] - errors[best]) - (one["all features"] - whole) for one in sets]
        assert row["optimism"] == pytest.approx(np.mean(net))
        if np.ptp(net) > 0:  # SciPy has no interval for equal values
            expected = stats.ttest_1samp(net, 0.0).confidence_interval(0.95)
            assert (row["low"], row["high"]) == pytest.approx(tuple(expected))


def test_sequential_search_against_all_runs(rows_of, kept):
    errors, _ = kept["sffs"]
    rows = {row["algorithm"]: row for row in rows_of("sequential-runs")}
    assert list(rows) == list(NAMES.values())
    for name, title in NAMES.items():
        others, row = kept[name][0], rows[title]
        assert (row["runs"], row["each"]) == (3, 120)
        assert row["beats"] == sum(error > errors[0] + 1e-12 for error in others)
        assert row["loses"] == sum(error < errors[0] - 1e-12 for error in others)
        assert row["beats"] + row["ties"] + row["loses"] == 3


def test_noise_on_held_out_events(rows_of, kept, find):
    for i, level in enumerate((inf, 30.0)):
        sets = [of_best(find(HeldOut, level, seed).errors, kept) for seed in (1, 2)]
        row = rows_of("noise-held-out")[i]
        whole = [100 * (1 - one["all features"]) for one in sets]
        assert row["all"] == pytest.approx(np.mean(whole))
        for name, title in (NAMES | {"sffs": "SFFS"}).items():
            accuracy = [100 * (1 - one[name]) for one in sets]
            gains = np.subtract(accuracy, whole)
            assert row[title] == pytest.approx(np.mean(accuracy))
            assert row[f"θ {title}"] == pytest.approx(gains.mean(), abs=1e-8)
            half = stats.t.ppf(0.975, 1) * gains.std(ddof=1) / sqrt(2)
            assert row[f"± {title}"] == pytest.approx(half, abs=1e-7)


def test_stability(rows_of, kept):
    rows = {row["algorithm"]: row for row in rows_of("stability")}
    for name, title in NAMES.items():
        phi, _, low, high = reference.stability(kept[name][1].tolist())
        assert [rows[title][key] for key in ("stability", "low", "high")] == pytest.approx([phi, low, high])


def test_selection_frequencies_by_band_and_function(found, rows_of, kept):
    masks = kept["2d-upso"][1]
    share = found.masks("2D-UPSO").mean(axis=0).reshape(9, 11)
    for b, band in enumerate(BANDS):
        for f, function in enumerate(FUNCTIONS):
            assert share[b, f] == pytest.approx(sum(mask[11 * b + f] for mask in masks) / 3), (band, function)
    order = [f"{band}.{function}" for band in BANDS for function in FUNCTIONS]
    best, smaller = found.best("2D-UPSO").mask, found.smaller.mask
    rows = {row["feature"]: row for row in rows_of("features")}
    for i, name in enumerate(order):
        listed = bool(best[i] or smaller[i] or masks[:, i].sum() >= 2)
        assert (name in rows) == listed
        if listed:
            assert rows[name]["fraction"] == pytest.approx(100 * masks[:, i].mean())
            assert (rows[name]["best"], rows[name]["smaller"]) == (best[i], smaller[i])


def test_most_frequent_confusions(study, rows_of, find):
    matrices = [getattr(find(StageTwo, inf), key) for key in ("before", "after")]
    wrong = [matrix.sum() - np.trace(matrix) for matrix in matrices]
    place = {class_title(name): i for i, name in enumerate(study.class_names)}
    rows = rows_of("confusions")
    assert len(rows) == 8
    for row in rows:
        i, j = (place[title] for title in row["classes"].split(" and "))
        counts = [matrix[i, j] + matrix[j, i] for matrix in matrices]
        assert [row["before"], row["after"]] == counts
        assert [row["before_fraction"], row["after_fraction"]] == pytest.approx(
            [100 * c / w for c, w in zip(counts, wrong, strict=True)]
        )
    assert [row["before"] for row in rows] == sorted((row["before"] for row in rows), reverse=True)
    left = [matrices[0][i, j] + matrices[0][j, i] for i in range(14) for j in range(i)]
    assert sorted(left, reverse=True)[:8] == [row["before"] for row in rows]
