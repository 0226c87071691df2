"""The conclusions on the paper's claims: each rule, on runs that are made up."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.studies import says

from pqswarm.report.claims import EQUAL, FAILS, HOLDS, LETTER, UNKNOWN, UNTESTED, check_claims, claims_table
from pqswarm.report.overview import overview_limits, overview_of_study
from pqswarm.report.summary import ClassifierAcrossDatasets, StudySummary

HERO = "2D-UPSO"
ERROR, SIZE, ERROR_TEST, SIZE_TEST, SCORE, VARIANTS, RANGES, SFFS = range(8)  # places of the claims
GAIN, ROBUST, CONTRAST, GA, LEVEL, LANDSCAPE, CAUSE = range(8, 15)


def remade(study, errors, sizes, runs=40, evaluations=6000, **changes):
    """A study of the paper's size whose runs end as told: a mean error and a mean size by title."""
    random = np.random.default_rng(0)
    found = study.classifiers[0]
    groups = {}
    for title in found.runs:
        kept = found.runs[title][0]
        groups[title] = []
        for i in range(runs):
            size = int(sizes.get(title, 45) + i % 3)
            error = errors.get(title, 0.1) + float(random.normal(0, 1e-3))
            mask = np.arange(99) < size
            result = replace(kept.result, mask=mask, error=error)
            groups[title].append(replace(kept, key=replace(kept.key, run=i), result=result))
    found = replace(found, runs=groups, **changes)
    plan = study.plan.model_copy(update={"runs": runs, "max_evaluations": evaluations})
    return replace(study, plan=plan, n_events=3500, classifiers=[found]), found


def claims_of(study, found):
    """The claims over the runs on one data set."""
    return check_claims(StudySummary.of(study), ClassifierAcrossDatasets.of({"": found}))


def conclusions(study, found):
    return [claim.conclusion for claim in claims_of(study, found)]


LIKE_PAPER = {"GA": 0.0161, "ACO": 0.0150, "BPSO": 0.0095, "CBPSO": 0.0096, "chBPSO": 0.0110, HERO: 0.0060}
SIZES = {"GA": 47, "ACO": 45, "BPSO": 39, "CBPSO": 38, "chBPSO": 41, HERO: 21}


def printed_noise(found):
    """Stage II as the paper prints it."""
    levels, whole, accuracy, _ = zip(*found.paper.noise, strict=True)
    by_title = {title: np.array([each[title] for each in accuracy]) for title in found.runs}
    return replace(found.noise, levels=levels, all_features=np.array(whole), accuracy=by_title)


@pytest.fixture
def like_paper(study):
    """Runs and noise as in the paper, and a worse SFFS of the same size."""
    big, found = remade(study, LIKE_PAPER, SIZES, all_features=0.0343)
    best = min(found.runs[HERO], key=lambda record: record.error)
    sffs = found.sequential["SFFS"]
    sffs = replace(sffs, result=replace(sffs.result, mask=best.mask, error=0.2))
    return big, replace(found, noise=printed_noise(found), sequential={"SFFS": sffs})


def test_a_study_like_the_paper_holds(like_paper):
    big, found = like_paper
    shown = conclusions(big, found)
    assert shown[LANDSCAPE] == shown[CAUSE] == UNTESTED  # they need both classifiers, and an ablation
    assert shown[:LANDSCAPE] == [HOLDS] * LANDSCAPE


def test_what_refutes_each_claim_of_stage_two(like_paper):
    big, found = like_paper

    def with_accuracy(title, at_last):
        changed = np.r_[found.noise.accuracy[title][:-1], at_last]
        return replace(found, noise=replace(found.noise, accuracy=found.noise.accuracy | {title: changed}))

    beaten = with_accuracy("GA", 99.0)
    assert conclusions(big, beaten)[GAIN] == FAILS
    assert conclusions(big, beaten)[ROBUST] == HOLDS
    worse = with_accuracy("GA", 10.0)
    assert conclusions(big, worse)[GAIN] == HOLDS
    assert conclusions(big, worse)[ROBUST] == FAILS
    level = replace(found.noise, accuracy=found.noise.accuracy | {"GA": found.noise.accuracy[HERO] + 1})
    assert conclusions(big, replace(found, noise=level))[CONTRAST : GA + 1] == [FAILS, FAILS]
    assert conclusions(big, replace(found, noise=None))[GAIN : GA + 1] == [UNTESTED] * 4


def at_first_levels(found, n=4):
    """Stage II as printed, at the first levels only."""
    noise = printed_noise(found)
    accuracy = {title: values[:n] for title, values in noise.accuracy.items()}
    return replace(noise, levels=noise.levels[:n], all_features=noise.all_features[:n], accuracy=accuracy)


def test_levels_that_are_not_tested_leave_a_claim_open(like_paper):
    big, found = like_paper
    fewer = at_first_levels(found)
    claims = claims_of(big, replace(found, noise=fewer))
    assert claims[GAIN].conclusion == UNKNOWN
    assert "4 of the paper's levels not tested" in claims[GAIN].numbers
    worse = fewer.accuracy | {"BPSO": fewer.accuracy["BPSO"] + 2.0, "GA": fewer.all_features - 1.0}
    shown = conclusions(big, replace(found, noise=replace(fewer, accuracy=worse)))
    assert shown[GAIN : ROBUST + 1] == [FAILS, FAILS]  # whatever the other levels show
    assert shown[CONTRAST : GA + 1] == [UNKNOWN, UNKNOWN]


def test_the_papers_own_first_levels_do_not_refute_it(study):
    big, found = remade(replace(study, classifiers=study.classifiers[1:]), LIKE_PAPER, SIZES, all_features=0.0199)
    shown = conclusions(big, replace(found, noise=at_first_levels(found)))
    assert shown[GAIN : GA + 1] == [UNKNOWN] * 4  # with NB, all are robust until 35 dB


def test_sffs_ranges_and_all_features(like_paper):
    big, found = like_paper
    sffs = found.sequential["SFFS"]
    better = replace(sffs, result=replace(sffs.result, error=0.0001))
    assert conclusions(big, replace(found, sequential={"SFFS": better}))[SFFS] == FAILS
    assert conclusions(big, replace(found, sequential={}))[SFFS] == UNTESTED
    assert conclusions(big, replace(found, all_features=0.1))[LEVEL] == FAILS
    assert conclusions(replace(big, n_events=140), replace(found, all_features=0.3))[LEVEL] == UNKNOWN
    assert conclusions(big, replace(found, all_features=0.02))[RANGES] == FAILS
    assert conclusions(replace(big, n_events=140), replace(found, all_features=0.02))[RANGES] == UNKNOWN


def test_a_rival_that_is_ahead(study):
    errors, sizes = LIKE_PAPER | {"BPSO": 0.003}, SIZES | {"BPSO": 15}
    assert conclusions(*remade(study, errors, sizes))[ERROR:VARIANTS] == [FAILS] * 5
    small = remade(study, errors, sizes, evaluations=3000)
    assert conclusions(*small)[ERROR:VARIANTS] == [UNKNOWN] * 5  # half the paper's evaluations do not refute it
    assert conclusions(*remade(study, errors, sizes, runs=20))[ERROR:VARIANTS] == [UNKNOWN] * 5  # nor do half its runs
    big, found = remade(study, errors, sizes)
    assert conclusions(replace(big, n_events=140), found)[ERROR:VARIANTS] == [UNKNOWN] * 5  # nor do few events
    slow = LIKE_PAPER | {"chBPSO": 0.02}
    assert conclusions(*remade(study, slow, SIZES))[VARIANTS] == FAILS


def test_a_rival_that_is_level(study):
    level = dict.fromkeys(LIKE_PAPER, 0.05)
    shown = conclusions(*remade(study, level, SIZES | {"BPSO": 21}))
    assert shown[ERROR] == EQUAL  # within 5 % of 0.05, by the equivalence test
    assert shown[ERROR_TEST : SIZE_TEST + 1] == [FAILS, FAILS]  # the paper's test, with its runs, sees nothing
    few = conclusions(*remade(study, level, SIZES | {"BPSO": 21}, runs=8))
    assert few[SIZE_TEST] == UNKNOWN


def test_a_difference_that_is_real_and_too_small_to_matter(study):
    close = dict.fromkeys(LIKE_PAPER, 0.2) | {HERO: 0.198}
    assert conclusions(*remade(study, close, SIZES))[ERROR] == LETTER


def test_over_data_sets_the_unit_is_the_data_set(like_paper):
    big, found = like_paper
    for k, expected in ((3, UNKNOWN), (8, HOLDS)):
        datasets = {f"seed {i}": replace(big, classifiers=[found], name=f"seed {i}") for i in range(k)}
        over = StudySummary(big.plan, big.about, datasets)
        claims = check_claims(over, over.classifiers[0])
        assert [claims[i].conclusion for i in (ERROR, SIZE, SCORE, VARIANTS, SFFS, GAIN, CONTRAST)] == [expected] * 7
        assert f"on {k} of {k} data sets" in claims[GAIN].numbers
    table = claims_table(over)
    assert "Unit: the data set (8)" in table.note
    assert says(table.note, "sign test", "six data sets")


def test_fewer_events_do_not_refute_that_one_classifier_gains_more(study):
    both = [
        remade(replace(study, classifiers=[one]), LIKE_PAPER, SIZES, all_features=whole)
        for one, whole in zip(study.classifiers, (0.03, 0.3), strict=True)
    ]
    big = both[0][0]
    for n_events, expected in ((3500, FAILS), (140, UNKNOWN)):
        one = replace(big, n_events=n_events, classifiers=[found for _, found in both])
        over = StudySummary(big.plan, big.about, {f"seed {i}": replace(one, name=f"seed {i}") for i in range(8)})
        landscape = check_claims(over, over.classifiers[0])[LANDSCAPE]
        assert (landscape.conclusion, "on 0 of 8 data sets" in landscape.numbers) == (expected, True)


def test_a_variant_that_does_not_learn_sizes_tests_the_cause(like_paper):
    big, found = like_paper
    ablated = big.plan.algorithm("bpso").model_copy(update={"name": "2D-UPSO, uniform", "algorithm": "2d-upso"})
    plan = big.plan.model_copy(update={"algorithms": (*big.plan.algorithms, ablated)})
    assert conclusions(replace(big, plan=plan), found)[CAUSE] == UNTESTED  # its sizes are learned, too


def test_the_smoke_study_tells_nothing_about_the_paper(study):
    table = claims_table(study)
    assert {row[key] for row in table.rows for key in table.conclusions} == {UNKNOWN, UNTESTED}
    assert says(table.note, "3500 events", "40 runs", "6000 evaluations", "inconclusive")
    limits = overview_limits(study)
    assert says(limits, "One misclassified event", "0.71 percentage points")  # of 140
    assert says(limits, "paper's 6000 evaluations")
    assert says(limits, "3 runs of 120 evaluations", "140 events", "at least 4 runs")
    big, _ = remade(study, {HERO: 0.05}, {HERO: 15})
    assert says(overview_limits(big), "40 runs of 6000 evaluations", "k-NN", "80 % power")


@pytest.mark.slow
def test_without_the_paper_the_first_screen_has_no_claims(tiny):
    assert claims_table(tiny) is None
    overview = overview_of_study(tiny)
    assert not overview.tables
    assert len(overview.answer) == len(tiny.classifiers)
    error = 100 * tiny.classifiers[0].held_out["my swarm+"].mean()
    assert says(overview.answer[0], "On new data", "held-out events", f"{error:.2f} %", "my swarm+")
    assert says(overview_limits(tiny), "one run", "another run")
