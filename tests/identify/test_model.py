"""Models: training, files, bandwidth, and how often they are right."""

import json
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, generate, get_preset
from pqswarm.identify import FEATURES, GROUPS, available, check_model, default_model, features_of, load_model, train
from pqswarm.identify.classifiers import fit
from pqswarm.identify.measures import MEASURES, measure
from pqswarm.identify.prepare import TIERS, resample, uppers
from pqswarm.identify.train import orders_of

NAMES = ["rms.minimum", "rms.maximum", "half.minimum", "harmonic.5", "transient.31_62.excess", "D1.energy", "A8.energy"]


@pytest.fixture(scope="module")
def small():
    return train(events_per_class=12, subset=NAMES, seed=3)


@pytest.fixture(scope="module")
def small_file(small, tmp_path_factory):
    return small.save(tmp_path_factory.mktemp("model") / "small.npz")


def test_round_trip(small, small_file, tmp_path):
    again = load_model(small_file)
    rows = np.array([features_of(generate(name, seed=1).signal, 25_000, 50) for name in ("sag", "swell", "flicker")])
    np.testing.assert_array_equal(again.predict(rows).probabilities, small.predict(rows).probabilities)
    assert again.subsets == small.subsets
    assert again.origin == small.origin
    assert again.save(tmp_path / "again.npz").read_bytes() == small_file.read_bytes()


def test_same_seed_same_bytes(small_file, tmp_path):
    again = train(events_per_class=12, subset=NAMES, seed=3, n_jobs=1)
    assert again.save(tmp_path / "again.npz").read_bytes() == small_file.read_bytes()
    other = train(events_per_class=12, subset=NAMES, seed=4)
    assert other.save(tmp_path / "other.npz").read_bytes() != small_file.read_bytes()


def test_a_mask_is_as_good_as_names(small):
    mask = np.isin(FEATURES, NAMES)
    assert train(events_per_class=12, subset=mask, seed=3).subsets == small.subsets


@pytest.mark.parametrize("classifier", ["nb", "knn"])
def test_probabilities(classifier):
    model = train(events_per_class=10, classifier=classifier, search="sffs", max_evaluations=60, subset=NAMES)
    rows = np.array([features_of(generate(name, seed=1).signal, 25_000, 50) for name in EVENT_CLASSES])
    found = model.predict(rows)
    assert found.probabilities.sum(axis=1) == pytest.approx(1)
    assert (found.probabilities > 0).all()
    assert (found.probabilities < 1).all()
    first, second = found.best(2)
    assert first[1] >= second[1]
    assert tuple(EVENT_CLASSES)[found.labels[2]] == first[0]


def test_far_away_is_no_error():
    for classifier, parameters in (("nb", {"width": 0.01, "floor": 0.001}), ("knn", {"n_neighbors": 1, "voters": 5})):
        fitted = fit(classifier, np.array([[0.1], [0.9]]), np.array([0, 1]), 2, parameters, 1.0)
        assert np.isfinite(fitted.probabilities(np.array([[1e6], [-1e6]]))).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"preset": "feild"}, "unknown preset"),
        ({"classifier": "tree"}, "unknown classifier"),
        ({"subset": ["D1.energie"]}, "unknown feature"),
        ({"subset": []}, "at least one"),
        ({"events_per_class": 3}, "at least 10"),
        ({"search": "pso"}, "unknown algorithm"),
        ({"snr": ["loud"]}, "snr"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(PqswarmError, match=words):
        train(**{"events_per_class": 10, **arguments})


class TestBands:
    def test_nothing_above_half_the_rate(self):
        for rate, frequency in (
            (30_720, 60),
            (25_000, 50),
            (15_360, 60),
            (6400, 50),
            (3200, 50),
            (1000, 50),
            (600, 50),
        ):
            yes = available(rate, frequency)
            assert yes.any()
            highest = uppers()[yes].max() * frequency
            assert highest <= 1.02 * rate / 2
            used = default_model().subset_for(yes)
            assert used.highest * frequency <= 1.02 * rate / 2 or not set(used.names) - set(np.array(FEATURES)[yes])

    def test_each_bandwidth_has_a_subset_within_it(self):
        model = default_model()
        assert [subset.highest for subset in model.subsets] == list(TIERS)
        limits = dict(zip(FEATURES, uppers(), strict=True))
        for subset in model.subsets:
            assert all(limits[name] <= subset.highest for name in subset.names)

    def test_features_that_do_not_exist_change_nothing(self):
        event = generate("sag", seed=2, preset="field")
        row = features_of(event.signal, 25_000, event.frequency)
        bands = available(3200, 50)
        wild = np.where(bands, row, 1e9)
        one, other = (default_model().predict(x, bands).probabilities for x in (row, wild))
        np.testing.assert_array_equal(one, other)

    def test_too_slow(self):
        with pytest.raises(PqswarmError, match="too low"):
            default_model().subset_for(np.zeros(len(FEATURES), dtype=bool))


class TestPreparation:
    @pytest.mark.parametrize("rate", [3200, 6400, 12_800, 15_360, 50_000])
    def test_low_bands_do_not_depend_on_the_rate(self, rate):
        t = np.arange(15_000) / 25_000
        slow = np.arange(round(0.6 * rate)) / rate

        def wave(time):
            return np.sin(2 * np.pi * 50 * time) * np.where((time > 0.2) & (time < 0.3), 0.6, 1.0) + 0.05 * np.sin(
                2 * np.pi * 250 * time
            )

        own, other = features_of(wave(t), 25_000, 50.0), features_of(wave(slow), rate, 50.0)
        for name in ("rms.minimum", "harmonic.5", "D6.energy", "D8.energy", "fundamental.spread"):
            i = FEATURES.index(name)
            assert other[i] == pytest.approx(own[i], rel=0.03, abs=0.003), name

    def test_sixty_hertz_is_the_same_event(self):
        fifty = generate("sag", seed=1, depth=0.4, start=0.2, duration=0.1)
        sixty = generate(
            "sag", seed=1, depth=0.4, start=0.2 / 1.2, duration=0.1 / 1.2, frequency=60, sampling_rate=30_000
        )
        np.testing.assert_allclose(
            features_of(sixty.signal, 30_000, 60.0), features_of(fifty.signal, 25_000, 50.0), rtol=1e-4, atol=1e-4
        )

    def test_resample_filters_what_a_lower_rate_cannot_hold(self):
        t = np.arange(10_000) / 50_000
        kept = resample(np.sin(2 * np.pi * 20_000 * t), 0.5)
        assert np.abs(kept[100:-100]).max() < 0.01

    def test_too_short(self):
        with pytest.raises(PqswarmError, match="too short"):
            features_of(np.zeros(900), 25_000, 50.0)

    @pytest.mark.parametrize("level", [0.0, 1.0, 1e3])
    def test_dull_signals_have_finite_features(self, level):
        assert np.isfinite(features_of(np.full(5000, level), 25_000, 50.0)).all()
        assert measure(np.full(5000, level)).shape == (len(MEASURES),)


class TestDefaultModel:
    def test_is_small_and_from_the_field(self):
        model = default_model()
        assert model.origin["preset"] == "field"
        assert model.class_names == tuple(EVENT_CLASSES)
        assert set(GROUPS) == set(EVENT_CLASSES)
        from pqswarm.identify import model as module

        assert (module.Path(module.__file__).with_name("default.npz")).stat().st_size < 2_000_000

    def test_new_events(self):
        (check,) = check_model(default_model(), events_per_class=20, snr=[40], seed=11)
        assert check.confusion.sum() == 280
        assert check.accuracy >= 0.9
        assert check.group_accuracy >= 0.94
        assert abs(check.confidence - check.accuracy) < 0.06  # as sure as it is right
        assert set(check.groups()) == set(GROUPS.values())
        assert "| c sag |" in check.table()

    def test_a_slow_recorder(self):
        (check,) = check_model(default_model(), events_per_class=10, snr=[40], seed=12, rate=6400)
        assert check.accuracy >= 0.75

    def test_checked_events_are_never_trained(self):
        preset = get_preset("field")
        trained = {order.seed for order in orders_of(preset, 50, (), 0, fresh=False)}
        assert not trained & {order.seed for order in orders_of(preset, 50, (), 0, fresh=True)}


class TestHostileFiles:
    def test_mutations(self, small_file, tmp_path):
        """Only errors of ours, whatever is done to the bytes."""
        content = small_file.read_bytes()
        dice = random.Random(7)
        path = tmp_path / "bad.npz"
        accepted = 0
        for _ in range(2000):
            bad = bytearray(content)
            for _ in range(dice.choice((1, 1, 2, 8))):
                place = dice.randrange(max(len(bad), 1))
                kind = dice.randrange(4)
                if kind == 0 and bad:
                    bad[place] = dice.randrange(256)
                elif kind == 1:
                    del bad[place : place + dice.randrange(1, 200)]
                elif kind == 2:
                    bad[place:place] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 20)))
                else:
                    bad = bad[: max(place, 1)]
            path.write_bytes(bad)
            try:
                load_model(path)
                accepted += 1
            except PqswarmError as error:
                assert str(path) in str(error)  # noqa: PT017
        assert accepted < 400  # bytes of the zip archive that mean nothing

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"format": "other"}, "no model"),
            ({"format_version": 99}, "format version"),
            ({"class_names": ["sag"]}, "classes"),
            ({"class_names": [["sag"]]}, "not names"),
            ({"feature_names": ["nonsense"]}, "unknown or repeated"),
            ({"subsets": []}, "no subsets"),
            ({"subsets": [3]}, "no record"),
            ({"subsets": [{"highest": 1, "names": ["D1.energy"], "temperature": 1, "error": 0}]}, "beyond"),
            ({"subsets": [{"highest": 1e9, "names": ["D1.energy"], "temperature": 1, "error": 0}]}, "bandwidth"),
            ({"subsets": [{"highest": 250, "names": ["D1.energy"], "temperature": 0, "error": 0}]}, "temperature"),
            ({"classifier": "forest"}, "classifier"),
            ({"hyperparameters": {"width": 1e9, "floor": 0.1}}, "width"),
            ({"hyperparameters": {"width": True, "floor": 0.1}}, "width"),
            ({"origin": {"seed": {}}}, "plain"),
            ({"sha256": {}}, "checksum"),
        ],
    )
    def test_manifest(self, small_file, tmp_path, change, words):
        path = tmp_path / "bad.npz"
        with zipfile.ZipFile(small_file) as source, zipfile.ZipFile(path, "w") as target:
            for name in source.namelist():
                data = source.read(name)
                target.writestr(name, json.dumps({**json.loads(data), **change}) if name == "manifest.json" else data)
        with pytest.raises(PqswarmError, match=words):
            load_model(path)

    def test_a_bomb(self, small_file, tmp_path):
        path = tmp_path / "bomb.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr("manifest.json", b" " * 50_000_000)
        with pytest.raises(PqswarmError, match="not stored"):
            load_model(path)

    def test_missing(self, tmp_path):
        with pytest.raises(PqswarmError, match="pqswarm train"):
            load_model(tmp_path / "none.npz")
        with pytest.raises(PqswarmError):
            load_model(tmp_path)


def test_import_is_light():
    heavy = ["sklearn", "numba", "matplotlib", "scipy.signal"]
    code = f"import sys, pqswarm.identify; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
