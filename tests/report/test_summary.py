"""The numbers of a report: each is computed again, plainly, from what the study has kept."""

import json
import shutil
import sqlite3
from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier
from statsmodels.stats.multitest import multipletests

from pqswarm.datasets import load_dataset
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import Folds
from pqswarm.report.answers import answer, description
from pqswarm.report.study_tables import classifier_tables
from pqswarm.report.summary import Comparison, summarize
from pqswarm.statistics import friedman, posthoc
from pqswarm.study import Store, run_study
from pqswarm.study.plan import plan_text, read_plan

NAMES = {"ga": "GA", "aco": "ACO", "bpso": "BPSO", "cbpso": "CBPSO", "chbpso": "chBPSO", "2d-upso": "2D-UPSO"}
BANDS = ("D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "A8")
FUNCTIONS = (
    *("minimum", "maximum", "median", "energy", "mean", "entropy"),
    *("skewness", "deviation", "mean_deviation", "variance", "kurtosis"),
)
TINY = """
runs = 1
max_evaluations = 30
reference = "my swarm+"
dataset = { events_per_class = 10, snr = [inf] }
fresh = { events_per_class = 2 }
folds = { number = 2 }
classifiers = [{ name = "Bayes 1", kind = "kernel-nb", width = 0.01, grid_search = false }]
algorithms = [{ name = "my swarm+", algorithm = "2d-upso" }, { algorithm = "ga" }]
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "smoke"  # the other tests of the report use it as well
    run_study(read_plan(plan_text("smoke").replace("grid_search = false", "grid_search = true")), path, jobs=1)
    return path


@pytest.fixture(scope="session")
def study(folder):
    return summary_of(folder)


def summary_of(folder):
    with Store(folder) as store:
        return summarize(store)


@pytest.fixture(params=["k-NN", "NB"])
def found(study, request):
    return next(c for c in study.classifiers if c.name == request.param)


@pytest.fixture
def kept(folder, found):
    """Errors and masks of each algorithm's runs, as SQLite has them."""
    query = "SELECT algorithm, error, mask FROM runs WHERE classifier = ? ORDER BY run"
    with sqlite3.connect(folder / "study.sqlite") as db:
        rows = db.execute(query, (found.name,)).fetchall()
    db.close()
    groups = {}
    for algorithm, error, mask in rows:
        groups.setdefault(algorithm, []).append((error, [int(letter) for letter in mask]))
    return {name: (np.array([e for e, _ in g]), np.array([m for _, m in g])) for name, g in groups.items()}


@pytest.fixture
def fact(folder, found):
    def read(name):
        with sqlite3.connect(folder / "study.sqlite") as db:
            text = db.execute("SELECT value FROM facts WHERE name = ?", (name.format(found.name),)).fetchone()[0]
        db.close()
        return json.loads(text)

    return read


def rows_of(found, table, source="this study"):
    rows = classifier_tables(found)[table].rows
    return [row for row in rows if row.get("source", source) == source]


def test_performance(found, kept, fact):
    whole = fact("J(U)/{}")
    rows = {row["algorithm"]: row for row in rows_of(found, "performance")}
    assert list(rows) == list(NAMES.values())
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
            "score": sum(size / 99 * error for size, error in zip(sizes, errors, strict=True)),
        }
        assert {key: rows[title][key] for key in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("what", ["error", "size"])
def test_friedman_and_hommel(found, kept, what):
    # Equal numbers of errors may differ in the last bit of their mean.
    values = np.round([kept[name][0] if what == "error" else kept[name][1].sum(axis=1) for name in NAMES], 12).T
    n, k = values.shape
    ranks = np.array([stats.rankdata(row) for row in values]).mean(axis=0)
    row = rows_of(found, "friedman")[0 if what == "error" else 1]
    assert [row[title] for title in NAMES.values()] == pytest.approx(ranks)
    chi2 = 12 * n / (k * (k + 1)) * (sum(ranks**2) - k * (k + 1) ** 2 / 4)
    assert (row["chi2"], row["p"]) == pytest.approx((chi2, stats.chi2.sf(chi2, k - 1)))
    corrected = stats.friedmanchisquare(*values.T)
    assert (row["chi2_ties"], row["p_ties"]) == pytest.approx((corrected.statistic, corrected.pvalue))

    rows = rows_of(found, f"posthoc-{what}")
    best = int(np.argmin(ranks))
    titles = list(NAMES.values())
    assert {row["control"] for row in rows} == {titles[best]}
    assert [row["algorithm"] for row in rows] == [title for title in titles if title != titles[best]]
    z = np.abs(np.delete(ranks, best) - ranks[best]) / sqrt(k * (k + 1) / (6 * n))
    p = 2 * stats.norm.sf(z)
    rejected, adjusted, *_ = multipletests(p, method="hommel")
    assert [row["z"] for row in rows] == pytest.approx(z)
    assert [row["p"] for row in rows] == pytest.approx(p)
    assert [row["adjusted"] for row in rows] == pytest.approx(adjusted)
    assert [row["differs"] for row in rows] == rejected.tolist()
    # The largest p-value is compared with 0.05 itself; equal ones with the stricter limit.
    places = [int(np.sum(p.round(12) >= value)) for value in p.round(12)]
    assert [row["limit"] for row in rows] == pytest.approx([0.05 / place for place in places])


def test_noise_robustness_and_contrast(found, fact):
    accuracy = [fact("stage2/{}/inf")["accuracy"], fact("stage2/{}/30")["accuracy"]]
    for row, values in zip(rows_of(found, "noise"), accuracy, strict=True):
        assert row["all"] == values["all features"]
        for name, title in (NAMES | {"sffs": "SFFS"}).items():
            assert row[title] == values[name]
            assert row[f"θ {title}"] == pytest.approx(values[name] - values["all features"], abs=1e-9)
    verdicts = {row["algorithm"]: row for row in rows_of(found, "robust")}
    for name, title in (NAMES | {"sffs": "SFFS"}).items():
        gains = [round(values[name] - values["all features"], 9) for values in accuracy]
        assert verdicts[title]["robust"] == all(gain >= 0 for gain in gains)
        assert verdicts[title]["least"] == pytest.approx(min(gains), abs=1e-9)
    table = np.array([[values[name] for name in NAMES] for values in accuracy])
    middle = np.array([[np.median(table[:, u] - table[:, v]) for v in range(6)] for u in range(6)])
    contrast = np.subtract.outer(middle.mean(axis=1), middle.mean(axis=1))
    rows = rows_of(found, "contrast")
    assert np.allclose([[row[title] for title in NAMES.values()] for row in rows], contrast)


def neighbour_errors(X, y, folds, mask):
    """Error of each fold with three nearest neighbours, by scikit-learn."""
    X = (X - X.min(axis=0)) / np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)
    rates = []
    for fold in range(folds.test_fold.max() + 1):
        test = folds.test_fold == fold
        model = KNeighborsClassifier(3, metric="manhattan", algorithm="brute").fit(X[~test][:, mask], y[~test])
        rates.append(np.mean(model.predict(X[test][:, mask]) != y[test]))
    return np.array(rates)


def test_accuracy_with_noise_and_one_standard_error_anew(folder, study):
    found = study.classifiers[0]
    data = load_dataset(folder / "dataset.npz")
    first, second = (Folds.stratified(data.y, 5, seed) for seed in (0, 1))
    for level, row in zip((inf, 30.0), rows_of(found, "noise"), strict=True):
        for title in ("2D-UPSO", "GA", "SFFS"):
            rates = neighbour_errors(data.X(level), data.y, second, found.best(title).mask)
            assert row[title] == pytest.approx(100 * (1 - rates.mean()))
    best = found.best("2D-UPSO")
    rates = neighbour_errors(data.X(inf), data.y, first, best.mask)
    assert best.error == pytest.approx(rates.mean())
    spread = rates.std(ddof=1) / sqrt(5)
    assert found.smaller["standard_error"] == pytest.approx(spread)
    smaller = found.smaller_mask
    error = neighbour_errors(data.X(inf), data.y, first, smaller).mean()
    assert found.smaller["error"] == pytest.approx(error)
    assert error <= best.error + spread + 1e-12
    near = [run.size for run in found.runs["2D-UPSO"] if run.error <= best.error + spread]
    assert smaller.sum() <= min(near)


def test_fresh_events(found, kept, fact):
    fresh, smaller = fact("fresh/{}"), fact("one-se/{}")
    rows = {row["subset"]: row for row in rows_of(found, "fresh")}
    assert rows["all features"]["gap"] == pytest.approx(fresh["all features"] - fact("J(U)/{}"))
    assert rows["one standard error"]["size"] == smaller["mask"].count("1")
    for name, title in (NAMES | {"sffs": "SFFS"}).items():
        errors, masks = kept[name]
        best = min(range(len(errors)), key=lambda i: (round(errors[i], 12), masks[i].sum(), i))
        assert rows[title]["size"] == masks[best].sum()
        assert rows[title]["J"] == errors[best]
        assert rows[title]["gap"] == pytest.approx(fresh[name] - errors[best])
    assert rows_of(found, "sffs")[0]["size"] == rows["2D-UPSO"]["size"]


def test_stability(found, kept):
    rows = {row["algorithm"]: row for row in rows_of(found, "stability")}
    for name, title in NAMES.items():
        masks = kept[name][1]
        m, d = masks.shape
        p, k = masks.mean(axis=0), masks.sum(axis=1).mean()
        chance = k / d * (1 - k / d)
        phi = 1 - sum(m / (m - 1) * share * (1 - share) for share in p) / d / chance
        parts = []
        for row in masks:
            size = row.sum()
            drift = phi / 2 * (2 * k * size / d**2 - size / d - k / d + 1)
            parts.append((sum(row * p) / d - size * k / d**2 + drift) / chance)
        margin = stats.norm.ppf(0.975) * sqrt(4 / m**2 * sum((part - np.mean(parts)) ** 2 for part in parts))
        expected = (phi, phi - margin, phi + margin)
        assert tuple(rows[title][key] for key in ("stability", "low", "high")) == pytest.approx(expected)


def test_selection_frequencies_by_band_and_function(found, kept):
    masks = kept["2d-upso"][1]
    share = found.frequency("2D-UPSO").reshape(9, 11)
    for b, band in enumerate(BANDS):
        for f, function in enumerate(FUNCTIONS):
            assert share[b, f] == pytest.approx(sum(mask[11 * b + f] for mask in masks) / 3), (band, function)
    order = [f"{band}.{function}" for band in BANDS for function in FUNCTIONS]
    best, smaller = found.best("2D-UPSO").mask, found.smaller_mask
    rows = {row["feature"]: row for row in rows_of(found, "features")}
    for i, name in enumerate(order):
        listed = bool(best[i] or smaller[i] or masks[:, i].sum() >= 2)
        assert (name in rows) == listed
        if listed:
            assert rows[name]["share"] == pytest.approx(100 * masks[:, i].mean())
            assert (rows[name]["best"], rows[name]["smaller"]) == (best[i], smaller[i])


# Studies that are not finished, or small


def changed(folder, path, *statements):
    """A copy of a study with something done to its database."""
    shutil.copytree(folder, path)
    with sqlite3.connect(path / "study.sqlite") as db:
        for statement in statements:
            db.execute(statement)
    db.close()
    return path


STAGE_TWO = "DELETE FROM facts WHERE name LIKE 'stage2/%' OR name LIKE 'fresh/%' OR name LIKE 'one-se/%'"
NO_SFFS = "DELETE FROM runs WHERE algorithm = 'sffs'"


def test_an_unfinished_study_counts_the_runs_that_all_algorithms_have(folder, tmp_path):
    lost = "DELETE FROM runs WHERE classifier = 'k-NN' AND algorithm = '{}' AND run = {}"
    path = changed(folder, tmp_path / "study", STAGE_TWO, NO_SFFS, lost.format("ga", 1), lost.format("2d-upso", 2))
    study = summary_of(path)
    first, second = study.classifiers
    assert (first.n_runs, second.n_runs) == (1, 3)
    assert {record.key.run for records in first.runs.values() for record in records} == {0}
    text = description(study)
    assert "not finished (k-NN: 1 of 3 runs)" in text
    assert "runs that all algorithms have finished" in text
    assert "with noise are still to come for k-NN and NB" in text
    assert "were then tested" not in text
    assert first.noise is None
    assert not {"noise", "robust", "contrast", "fresh", "sffs"} & set(classifier_tables(second))
    assert all("robust" not in sentence for sentence in answer(second))


def test_a_classifier_without_runs_is_named(folder, tmp_path):
    study = summary_of(changed(folder, tmp_path / "study", "DELETE FROM runs WHERE classifier = 'NB'"))
    assert [found.name for found in study.classifiers] == ["k-NN"]
    assert "NB: no run" in description(study)


def test_a_study_without_finished_runs_is_refused(folder, tmp_path):
    with pytest.raises(PqswarmError, match="no finished run of every algorithm yet"):
        summary_of(changed(folder, tmp_path / "some", "DELETE FROM runs WHERE algorithm = 'ga'"))
    with pytest.raises(PqswarmError, match="no finished run of every algorithm yet"):
        summary_of(changed(folder, tmp_path / "all", "DELETE FROM runs"))
    with pytest.raises(PqswarmError, match="has not begun"):
        summary_of(changed(folder, tmp_path / "none", "DELETE FROM facts"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny")
    run_study(read_plan(TINY), path, jobs=1)
    return summary_of(path)


def test_one_run_of_own_algorithms_without_noise_and_sffs(tiny):
    (found,) = tiny.classifiers
    tables = classifier_tables(found)
    assert list(found.runs) == ["my swarm+", "GA"]
    assert list(tables) == ["performance", "noise", "noise-paper", "robust", "fresh", "features"]
    ours, ga, paper = tables["performance"].rows
    assert (ours["algorithm"], ga["algorithm"], paper["source"]) == ("my swarm+", "GA", "paper")
    assert ours["sd_J"] is None
    assert "SFFS" not in description(tiny)
    assert "one run of 30 evaluations" in description(tiny)
    assert "level" not in description(tiny)
    sentences = " ".join(answer(found))
    assert "on average" not in sentences
    assert "robust" not in sentences  # nothing was tested with noise
    assert "Over" not in sentences  # one run tells nothing about chance


# Sentences that must be true whatever was found


def told(found, **changes):
    return " ".join(answer(replace(found, **changes)))


@pytest.fixture
def knn(study):
    return study.classifiers[0]


def with_errors(records, errors):
    return [replace(record, error=error) for record, error in zip(records, errors, strict=True)]


def test_words_when_nothing_beats_all_features(knn):
    assert "No algorithm does better than all features" in told(knn, all_features=0.0)
    assert classifier_tables(replace(knn, all_features=0.0))["performance"].rows[0]["PI"] is None


def test_words_when_another_algorithm_is_best(knn):
    runs = knn.runs | {"GA": with_errors(knn.runs["GA"], [0.01, 0.01, 0.01])}
    assert told(knn, runs=runs).startswith("GA makes the fewest errors: 1.00 % on average")


def test_words_when_all_are_equal(knn):
    same = {title: with_errors(records, [0.1] * 3) for title, records in knn.runs.items()}
    smallest = min(same, key=lambda title: np.mean([r.size for r in same[title]]))
    sentences = told(knn, runs=same, all_features=0.2)
    assert sentences.startswith(f"{smallest} makes the fewest errors")
    assert "The smallest subsets come from" not in sentences


def test_words_on_chance(knn):
    def compared(errors):
        test = friedman(errors, names=["A", "B"])
        return told(knn, errors=Comparison(test, posthoc(test)))

    assert "significantly lower than that of B." in compared([[0, 1]] * 40)
    assert "do not differ more than chance allows" in compared([[0, 1], [1, 0]])


@pytest.mark.parametrize(("error", "word"), [(0.1, "fewer than"), (0.2, "as many as"), (0.3, "more than")])
def test_words_on_sffs(knn, error, word):
    best = replace(knn.best("2D-UPSO"), error=0.2)
    runs = knn.runs | {"2D-UPSO": [best] * 3}
    sffs = replace(knn.sffs["SFFS"], error=error, mask=best.mask)
    sentences = told(knn, runs=runs, sffs={"SFFS": sffs})
    assert f"at the same {best.size} features makes {100 * error:.2f} % errors, {word} the best" in sentences
    bigger = replace(sffs, mask=np.ones(99, dtype=bool))
    assert "SFFS with 99 features" in told(knn, runs=runs, sffs={"SFFS": bigger})


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        ({"2D-UPSO": [91.0, 81.5]}, "at every noise level it is more accurate than all features, by 1.00 to 1.50"),
        ({"2D-UPSO": [91.0, 80.0]}, "never less accurate than all features, by 0.00 to 1.00"),
        ({"2D-UPSO": [91.0, 79.0]}, "is not robust: it is less accurate than all features by 1.00 at 30 dB ["),
        ({"2D-UPSO": [91.0, 79.0], "GA": [90.0, 80.0]}, "points]. Robust is the best of GA."),
        (
            {"2D-UPSO": [89.0, 79.0], "GA": [89.0, 80.0]},
            "by 1.00 at ∞ dB and 1.00 at 30 dB [percentage points]. Nor is",
        ),
        ({"2D-UPSO": [91.0, 81.0], "GA": [89.0, 80.0]}, "points. No other is."),
    ],
)
def test_words_on_noise(knn, accuracy, words):
    arrays = {title: np.array(values) for title, values in accuracy.items()}
    noise = replace(knn.noise, all_features=np.array([90.0, 80.0]), accuracy=arrays)
    assert words in told(knn, noise=noise)


def test_facts_that_do_not_fit_together_are_damage(tmp_path, folder):
    shutil.copytree(folder, tmp_path / "study")
    for name, value in (("stage2/k-NN/inf", []), ("stage2/NB/inf", {"accuracy": 3}), ("plan", "{}")):
        with Store(tmp_path / "study", write=True) as store:
            kept = store.fact(name)
            assert kept is not None
            store.put_fact(name, value)
        with Store(tmp_path / "study") as store, pytest.raises(PqswarmError, match=r"is damaged|cannot be read"):
            summarize(store)
        with Store(tmp_path / "study", write=True) as store:
            store.put_fact(name, kept)


def test_equal_counts_of_errors_are_ties_whatever_their_last_bit(tmp_path, folder):
    shutil.copytree(folder, tmp_path / "study")
    with sqlite3.connect(tmp_path / "study" / "study.sqlite") as db:
        db.execute("UPDATE runs SET error = 0.3 WHERE classifier = 'NB'")
        db.execute("UPDATE runs SET error = 0.3 + 5e-17 * (run + 1) WHERE classifier = 'NB' AND algorithm = 'ga'")
    with Store(tmp_path / "study") as store:
        found = next(found for found in summarize(store).classifiers if found.name == "NB")
    assert len(set(found.errors.friedman.mean_ranks.tolist())) == 1
