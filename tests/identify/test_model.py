"""Models: training, bandwidth, how often they are right; their files, also hostile ones."""

import inspect
import json
import random
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.mutations import mutate
from tests.identify.conftest import NAMES

import pqswarm.identify
from pqswarm import __version__
from pqswarm._base.files import opening_only_inside
from pqswarm.cli.train import train as train_command
from pqswarm.datasets.dataset import event_specs
from pqswarm.errors import PqswarmError
from pqswarm.evaluation import CLASSIFIERS
from pqswarm.evaluation.learners import EstimatorClassifier
from pqswarm.events import PRESETS, generate, get_preset
from pqswarm.events.classes import class_type
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.identify import (
    BANDWIDTHS,
    FEATURES,
    check_model,
    compute_features,
    default_model,
    identify,
    load_model,
    train,
    usable_features,
)
from pqswarm.identify.features import MEASURES, capture_features, feature_upper_frequencies, resample_for_features
from pqswarm.identify.model import (
    COARSE_CODES,
    CODES,
    ModelDistance,
    fit_model_estimator,
    model_log_scores,
    model_probabilities,
    scale_for_model,
)
from pqswarm.identify.show.figures import plot_event
from pqswarm.identify.training import (
    HELD_OUT,
    TRAINED,
    TRAINING_SNR,
    _learn_training_subset,
    _make_training_classifier,
    list_training_specs,
    make_training_events,
)
from pqswarm.recordings import Channel, Recording

BUNDLED = Path(pqswarm.identify.__file__).with_name("default.npz")


def test_round_trip(small, small_file, tmp_path):
    again = load_model(small_file)
    rows = np.array(
        [compute_features(generate(name, seed=1).signal, 25_000, 50) for name in ("sag", "swell", "flicker")]
    )
    np.testing.assert_array_equal(again.predict(rows).probabilities, small.predict(rows).probabilities)
    assert again.subsets == small.subsets
    assert again.origin == small.origin
    assert again.save(tmp_path / "again.npz").read_bytes() == small_file.read_bytes()


@pytest.mark.slow
def test_same_seed_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS[:2])
    some = get_preset("field").with_classes(FEW)

    def content(name, **settings):
        return train(some, events_per_class=10, **{"subset": NAMES, **settings}).save(tmp_path / name).read_bytes()

    first = content("first.npz", seed=3, n_jobs=2)
    assert content("again.npz", seed=3, n_jobs=1, subset=np.isin(FEATURES, NAMES)) == first  # names as a mask
    assert content("other.npz", seed=4, n_jobs=1) != first


@pytest.mark.slow
def test_same_seed_same_bytes_with_a_search(tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS[:1])
    first, again = (
        train(events_per_class=10, search="merit", max_evaluations=40, n_jobs=jobs).save(tmp_path / f"{jobs}.npz")
        for jobs in (1, 2)
    )
    assert first.read_bytes() == again.read_bytes()
    (subset,) = load_model(first).subsets
    assert set(subset.columns) == set(MEASURES)
    assert subset.others


FEW = ("pure_sinusoid", "sag", "swell", "harmonics")
LOGISTIC = {"estimator": "sklearn.linear_model.LogisticRegression", "parameters": {"max_iter": 300}}


@pytest.fixture(scope="module")
def events_of_few():
    """Those of `FEW`, on which many classifiers are trained."""
    return make_training_events(get_preset("field").with_classes(FEW), 10, TRAINING_SNR, 0, bandwidth=0, minimum=10)


@pytest.mark.parametrize(
    "classifier",
    ["kernel-nb", "k-nn", "gaussian-nb", CLASSIFIERS["k-nn"]({"n_neighbors": 9}), CLASSIFIERS["estimator"](LOGISTIC)],
    ids=lambda one: one if isinstance(one, str) else one.describe(),
)
def test_any_classifier_with_probabilities(classifier, events_of_few, tmp_path, monkeypatch):
    monkeypatch.setattr("pqswarm.identify.training.make_training_events", lambda *_, **__: events_of_few)
    monkeypatch.setattr("pqswarm.identify.training.BANDWIDTHS", BANDWIDTHS[:2])
    search = None if isinstance(classifier, EstimatorClassifier) else "sffs"
    some = get_preset("field").with_classes(FEW)
    model = train(some, events_per_class=10, classifier=classifier, search=search, max_evaluations=60, subset=NAMES)
    rows = np.array([compute_features(generate(name, seed=1).signal, 25_000, 50) for name in FEW])
    found = model.predict(rows)
    assert found.probabilities.sum(axis=1) == pytest.approx(1)
    assert (found.probabilities > 0).all()
    assert (found.probabilities < 1).all()
    first, second = found.best(2)
    assert first[1] >= second[1]
    assert model.class_names[found.labels[2]] == first[0]
    path = model.save(tmp_path / "model.npz")
    again = load_model(path)
    assert (again.classifier, again.subsets, again.origin) == (model.classifier, model.subsets, model.origin)
    assert again.save(tmp_path / "again.npz").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(again.predict(rows).probabilities, found.probabilities)


@pytest.mark.slow
def test_the_classes_are_those_of_the_preset():
    some = get_preset("field").with_classes(["harmonics", "sag", "swell"])
    model = train(some, events_per_class=10, subset=NAMES)
    assert model.class_names == ("sag", "swell", "harmonics")
    assert model.origin["preset"] == "field, 3 classes"
    (check,) = check_model(model, 5, [40], preset=some)
    assert check.confusion.sum() == 15
    (turned,) = check_model(replace(model, class_names=("swell", "sag", "harmonics")), 5, [40], preset=some)
    assert turned.confusion[:2].tolist() == check.confusion[[1, 0]].tolist()
    flicker = Recording((Channel("U1", "V", "A", 325 * generate("flicker", seed=1).signal),), 25_000, 50)
    said = identify(flicker, model).main.agreement
    assert said.startswith("cannot be compared: the model does not know this; rules say flicker, the model ")


def test_far_away_is_no_error():
    for name, settings in (("kernel-nb", {"bandwidth": 0.01, "floor": 0.001}), ("k-nn", {"n_neighbors": 1})):
        fitted = fit_model_estimator(CLASSIFIERS[name](settings), np.array([[0.1], [0.9]]), np.array([0, 1]))
        assert np.isfinite(model_probabilities(model_log_scores(fitted, np.array([[1e6], [-1e6]])))).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"classifier": CLASSIFIERS["estimator"]({"estimator": "sklearn.svm.LinearSVC"})}, "gives no probabilities"),
        ({"subset": []}, "at least one"),
        ({"snr": ["loud"]}, "snr"),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(PqswarmError, match=words):
        train(**{"preset": "field", "events_per_class": 10, **arguments})


class TestBands:
    @pytest.mark.parametrize("frequency", [50, 60])
    @pytest.mark.parametrize("rate", [30_720, 25_000, 15_360, 6400, 3200, 1000, 600])
    def test_nothing_above_half_the_rate(self, rate, frequency):
        yes = usable_features(rate, frequency)
        assert yes.any()
        assert feature_upper_frequencies()[yes].max() * frequency <= 1.02 * rate / 2
        used = default_model().subset_for(yes)
        assert used.highest * frequency <= 1.02 * rate / 2 or not set(used.names) - set(np.array(FEATURES)[yes])

    def test_each_bandwidth_has_a_subset_within_it(self):
        model = default_model()
        assert [subset.highest for subset in model.subsets] == list(BANDWIDTHS)
        limits = dict(zip(FEATURES, feature_upper_frequencies(), strict=True))
        for subset in model.subsets:
            assert all(limits[name] <= subset.highest for name in subset.names)

    def test_features_that_do_not_exist_change_nothing(self):
        event = generate("sag", seed=2, preset="field")
        row = compute_features(event.signal, 25_000, event.frequency)
        bands = usable_features(3200, 50)
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
            level = np.where((time > 0.2) & (time < 0.3), 0.6, 1.0)
            return np.sin(2 * np.pi * 50 * time) * level + 0.05 * np.sin(2 * np.pi * 250 * time)

        own, other = compute_features(wave(t), 25_000, 50.0), compute_features(wave(slow), rate, 50.0)
        for name in ("rms.minimum", "harmonic.5", "D6.energy", "D8.energy", "fundamental.spread"):
            i = FEATURES.index(name)
            assert other[i] == pytest.approx(own[i], rel=0.03, abs=0.003), name

    def test_sixty_hertz_is_the_same_event(self):
        fifty = generate("sag", seed=1, depth=0.4, start=0.2, duration=0.1)
        faster = {"frequency": 60, "sampling_rate": 30_000}
        sixty = generate("sag", seed=1, depth=0.4, start=0.2 / 1.2, duration=0.1 / 1.2, **faster)
        own, other = compute_features(fifty.signal, 25_000, 50.0), compute_features(sixty.signal, 30_000, 60.0)
        np.testing.assert_allclose(other, own, rtol=1e-4, atol=1e-4)

    def test_resample_filters_what_a_lower_rate_cannot_hold(self):
        t = np.arange(10_000) / 50_000
        kept = resample_for_features(np.sin(2 * np.pi * 20_000 * t), 0.5)
        assert np.abs(kept[100:-100]).max() < 0.01

    def test_too_short(self):
        with pytest.raises(PqswarmError, match="too short"):
            compute_features(np.zeros(900), 25_000, 50.0)

    @pytest.mark.parametrize("level", [0.0, 1.0, 1e3])
    def test_dull_signals_have_finite_features(self, level):
        assert np.isfinite(compute_features(np.full(5000, level), 25_000, 50.0)).all()
        assert capture_features(np.full(5000, level)).shape == (len(MEASURES),)


class TestDefaultModel:
    def test_is_small_and_knows_sixteen_classes(self):
        assert default_model().class_names == TRAINING_CLASSES
        assert BUNDLED.stat().st_size < 3_000_000

    def test_is_read_where_only_a_folder_of_recordings_may_be(self, tmp_path):
        with opening_only_inside(tmp_path):
            assert default_model.__wrapped__().class_names == TRAINING_CLASSES

    def test_is_that_of_the_documented_command(self):
        """Its metadata are the defaults of `pqswarm train` in this version."""
        defaults = {name: one.default for name, one in inspect.signature(train_command).parameters.items()}
        model = default_model()
        origin = dict(model.origin)
        assert origin.pop("numpy")
        assert origin == {
            "preset": defaults["preset"],
            "seed": defaults["seed"],
            "events_per_class": defaults["events_per_class"],
            "snr": ["inf" if level == "inf" else float(level) for level in defaults["snr"].split(",")],
            "search": defaults["algorithm"],
            "max_evaluations": defaults["evaluations"],
            "pqswarm": __version__,
        }
        assert model.classifier == _make_training_classifier(defaults["classifier"])
        undisturbed, *others = np.bincount(model.tables[0].labels)
        assert undisturbed == 4 * defaults["events_per_class"]
        assert others == 15 * [defaults["events_per_class"]]

    @pytest.mark.slow
    @pytest.mark.skipif(default_model().origin["numpy"] != np.__version__, reason="it was trained with another NumPy")
    def test_its_narrowest_bandwidth_is_trained_again(self):
        """Events, search, weights, distance: the last of seven parts, in a tenth of the time."""
        model, last = default_model(), len(BANDWIDTHS) - 1
        origin, bundled, stored = model.origin, model.subsets[last], model.tables[last]
        drawn = origin["preset"], origin["events_per_class"], TRAINING_SNR, origin["seed"]
        features, labels, _ = make_training_events(*drawn, bandwidth=last)
        allowed = (feature_upper_frequencies() <= BANDWIDTHS[last]) & np.isin(FEATURES, list(MEASURES))
        subset, table = _learn_training_subset(
            features[:, allowed],
            labels,
            np.array(FEATURES)[allowed],
            BANDWIDTHS[last],
            len(model.class_names),
            model.classifier,
            origin["search"],
            origin["max_evaluations"],
            origin["seed"],
            None,
            (np.empty((0, allowed.sum())), np.empty(0, dtype=int)),
            with_distance=True,
        )
        assert set(subset.columns) == set(bundled.columns)
        assert subset.error == pytest.approx(bundled.error, abs=0.01)
        scaled = scale_for_model(features[:, [FEATURES.index(name) for name in bundled.columns]], stored.knots)
        if (np.round(scaled[:, : len(bundled.names)] * CODES) == stored.codes).all():  # not so without AVX-512
            assert subset == bundled
            for name, values in vars(table).items():
                np.testing.assert_array_equal(values, getattr(stored, name), err_msg=name)

    def test_is_not_stale(self):
        """Its first training events still come from its manifest; else `pqswarm train` makes it anew."""
        model = default_model()
        origin = model.origin
        levels = [float(level) for level in origin["snr"]]
        number = 3
        orders = list_training_specs(1, levels, origin["seed"], TRAINED, number)
        features, labels, _ = make_training_events("training", 1, levels, origin["seed"], bandwidth=number, n_jobs=1)
        table, subset = model.tables[number], model.subsets[number]
        assert [TRAINING_CLASSES[label] for label in labels] == [order.event_class for order in orders]
        first = [int(np.flatnonzero(table.labels == label)[0]) for label in range(16)]
        ours = [int(np.flatnonzero(labels == label)[0]) for label in range(16)]
        columns = [FEATURES.index(name) for name in subset.columns]
        scaled = scale_for_model(features[np.ix_(ours, columns)], table.knots)
        fine, coarse = np.split(scaled, [len(subset.names)], axis=1)
        # rounding, and a step of a quantile that the last bit decides
        assert (np.abs(fine * CODES - table.codes[first]) <= 1.5).mean() > 0.995
        assert (np.abs(coarse * COARSE_CODES - table.others[first]) <= 0.51).mean() > 0.995

    @pytest.mark.slow
    def test_held_out_events(self):
        (check,) = check_model(default_model(), events_per_class=8, snr=[40], seed=11, rate=12_800)
        assert check.confusion.sum() == 128
        assert check.accuracy >= 0.85
        assert check.type_accuracy >= 0.9
        assert abs(check.confidence - check.accuracy) < 0.1  # as sure as it is right
        assert set(check.types()) == {class_type(name) for name in TRAINING_CLASSES}
        assert "| c sag |" in check.table()

    def test_another_preset(self):
        (check,) = check_model(default_model(), events_per_class=5, snr=[40], seed=12, preset="field")
        assert check.confusion.sum() == 70
        assert check.type_accuracy >= 0.85

    def test_held_out_events_are_never_trained(self):
        for specs in (
            lambda family: list_training_specs(50, (), 0, family, 2),
            lambda family: event_specs(get_preset("field"), 50, 0, family),
        ):
            trained, held_out = ({one.seed for one in specs(family)} for family in (TRAINED, HELD_OUT))
            assert not trained & held_out

    def test_classes_that_cannot_be_seen_are_not_offered(self):
        model = default_model()
        row = compute_features(generate("flicker", seed=1, preset="field").signal, 25_000, 50.0)
        free, bound = model.predict(row), model.predict(row, classes={"pure_sinusoid", "sag", "my_class"})
        assert free.best()[0][0].startswith("flicker")
        offered = np.isin(model.class_names, ["pure_sinusoid", "sag"])
        assert (bound.probabilities[:, ~offered] == 0).all()
        assert bound.probabilities.sum() == pytest.approx(1)
        ratio = free.probabilities[0, offered] / free.probabilities[0, offered].sum()
        np.testing.assert_allclose(bound.probabilities[0, offered], ratio, rtol=1e-9)
        with pytest.raises(PqswarmError, match="the model knows"):
            model.predict(row, classes={"my_class"})

    def test_narrow_recorders_are_not_offered_what_they_cannot_show(self):
        model = default_model()
        row = compute_features(np.sin(2 * np.pi * 50 * np.arange(120) / 600), 600, 50.0)
        shares = model.predict(row, usable_features(600, 50.0)).probabilities[0]
        seen = dict(zip(model.class_names, shares, strict=True))
        assert seen["notching"] == seen["oscillatory_transient"] == 0
        assert max(seen, key=seen.get) == "pure_sinusoid"

    def test_what_was_never_learned_is_unknown(self):
        """Learned events are known; half-wave rectified voltages, every other sample missing and loud noise are not."""
        model = default_model()
        t = np.arange(2560) / 12_800
        usable = usable_features(12_800, 50.0)
        sine = np.sin(2 * np.pi * 50 * t)
        rng = np.random.default_rng(1)
        strange = [np.maximum(sine, 0) * 2, sine * (rng.random(t.size) < 0.5), sine + rng.normal(0, 0.6, t.size)]
        usual = [sine, sine * np.where((t > 0.06) & (t < 0.1), 0.5, 1), sine + 0.1 * np.sin(2 * np.pi * 250 * t)]
        rows = np.array([compute_features(wave, 12_800, 50.0) for wave in (*usual, *strange)])
        assert model.predict(rows, usable).known.tolist() == [True] * 3 + [False] * 3

    @pytest.mark.parametrize("rate", [25_000, 12_800, 6400, 3200])
    def test_waveforms_of_no_class_are_unknown_at_any_bandwidth(self, rate):
        """Rectified voltages, sawtooths and phase control, whatever their phase and noise."""
        t = np.arange(rate // 5) / rate
        rows = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            angle = 2 * np.pi * 50 * t + rng.uniform(0, 2 * np.pi)
            sine = np.sin(angle)
            controlled = np.where(angle % np.pi > np.pi / 2, sine, 0)
            strange = (2 * np.maximum(sine, 0), 1.4 * np.abs(sine), angle / np.pi % 2 - 1, 1.4 * controlled)
            noise = 0.005 * rng.standard_normal(t.size)
            rows += [compute_features(wave + noise, rate, 50.0, wavelet=False) for wave in strange]
        assert not default_model().predict(np.array(rows), usable_features(rate, 50.0)).known.any()

    def test_held_out_events_are_known(self):
        features, _, _ = make_training_events("training", 10, (30.0, 50.0), 3, family=HELD_OUT, bandwidth=3, n_jobs=1)
        assert default_model().predict(features, usable_features(3200, 50.0)).known.mean() > 0.96


def test_an_event_that_was_learned_often_is_near():
    """However unlike the others it is; so corrected events are known."""
    rng = np.random.default_rng(0)
    data = np.clip(rng.normal(0.3, 0.05, (400, 6)), 0, 1)
    labels = np.arange(400) % 2
    strange = np.full((1, 6), 0.95)
    limit = np.quantile(ModelDistance.fit(data, labels).to_nearest(data), 0.99)
    assert ModelDistance.fit(data, labels).to_nearest(strange)[0] > 3 * limit
    learned = ModelDistance.fit(np.vstack([data, strange.repeat(20, axis=0)]), np.append(labels, 20 * [1]))
    assert learned.to_nearest(strange)[0] < limit


ONE = {"highest": 250, "names": ["D1.energy"], "temperature": 1, "error": 0}


def rewrite(source, target, **change):
    """A model with another manifest."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps({**json.loads(data), **change}) if name == "manifest.json" else data)
    return target


def sag():
    return Recording((Channel("U1", "V", "A", 325 * generate("sag", seed=3, depth=0.5).signal),), 25_000, 50)


def test_a_model_has_its_own_classes(small_file, tmp_path):
    names = [f"my_{name}" for name in PRESETS["paper"].classes]
    model = load_model(rewrite(small_file, tmp_path / "mine.npz", class_names=names))
    assert model.class_names == tuple(names)
    analysis = identify(sag(), model)
    assert analysis.main.label.startswith("my_")
    assert analysis.main.agreement.startswith("cannot be compared: rules say sag, the model my ")
    assert plot_event(sag(), analysis).axes
    with pytest.raises(PqswarmError, match="does not know pure_sinusoid"):
        check_model(model, events_per_class=1, snr=[40])


class TestHostileFiles:
    def test_mutations(self, small_file, tmp_path):
        """Only errors of ours, whatever is done to the bytes."""
        content = small_file.read_bytes()
        dice = random.Random(7)
        path = tmp_path / "bad.npz"
        accepted = 0
        for _ in range(2000):
            path.write_bytes(mutate(content, dice))
            try:
                load_model(path)
                accepted += 1
            except PqswarmError as error:
                assert str(path) in str(error)  # noqa: PT017
        assert accepted < 400  # bytes of the zip archive that mean nothing

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"format": "other"}, "not a pqswarm model"),
            ({"format_version": 99}, "format version"),
            ({"class_names": ["sag"]}, "2 to 200 classes"),
            ({"class_names": [["sag"]]}, "not names"),
            ({"class_names": ["sag", "../up"]}, "not names"),
            ({"class_names": ["a\\x1b[31m", "b"]}, "not names"),
            ({"class_names": ["x" * 101, "b"]}, "not names"),
            ({"class_names": ["sag"] * 14}, "each once"),
            ({"class_names": [f"c{i}" for i in range(201)]}, "2 to 200 classes"),
            ({"class_names": ["sag", "swell"]}, "labels are not those"),
            ({"subsets": [{**ONE, "names": ["nonsense"]}]}, "unknown or repeated"),
            ({"subsets": [{**ONE, "discriminant": -1}]}, "weight"),
            ({"subsets": [{**ONE, "farthest": "far"}]}, "distance"),
            ({"subsets": [{**ONE, "others": ["nonsense"]}]}, "unknown or repeated"),
            ({"subsets": [{**ONE, "others": ["D1.energy"]}]}, "among its features"),
            ({"subsets": [ONE]}, "how many events"),
            ({"subsets": [{**ONE, "events": True}]}, "how many events"),
            ({"subsets": [{**ONE, "events": 3}]}, "do not fit together"),
            ({"subsets": []}, "no subsets"),
            ({"subsets": [3]}, "not a record"),
            ({"subsets": [{**ONE, "highest": 1}]}, "beyond"),
            ({"subsets": [{**ONE, "highest": 1e9}]}, "bandwidth"),
            ({"subsets": [{**ONE, "temperature": 0}]}, "temperature"),
            ({"classifier": "forest"}, "unknown classifier"),
            ({"hyperparameters": {"bandwidth": -1, "floor": 0.1}}, "bandwidth"),
            ({"hyperparameters": {"bandwidth": True, "floor": 0.1}}, "bandwidth"),
            ({"hyperparameters": {"bandwidth": 0.1, "floor": 0.1, "more": 1}}, "unknown parameter"),
            ({"hyperparameters": {"bandwidth": 0.1}}, "lacks hyperparameters"),
            ({"classifier": "kernel-nb", "hyperparameters": {"bandwidth": "x", "floor": 0.1}}, "bandwidth"),
            ({"classifier": "estimator", "hyperparameters": {"estimator": "antigravity.X"}}, "is not loaded"),
            ({"classifier": "estimator", "hyperparameters": {"estimator": ["os"]}}, "is not loaded"),
            ({"classifier": "estimator", "hyperparameters": {"estimator": "sklearn.svm.None"}}, "classifier"),
            ({"origin": {"seed": {}}}, "plain"),
        ],
    )
    def test_manifest(self, small_file, tmp_path, change, words):
        path = rewrite(small_file, tmp_path / "bad.npz", **change)
        with pytest.raises(PqswarmError, match=words):
            load_model(path)

    def test_a_bomb(self, tmp_path):
        path = tmp_path / "bomb.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr("manifest.json", b" " * 50_000_000)
        with pytest.raises(PqswarmError, match="too large"):
            load_model(path)

    def test_missing(self, tmp_path):
        with pytest.raises(PqswarmError, match="pqswarm train"):
            load_model(tmp_path / "none.npz")
        with pytest.raises(PqswarmError):
            load_model(tmp_path)

    def test_nothing_of_a_stranger_is_imported(self, small_file, tmp_path, monkeypatch):
        (tmp_path / "stranger.py").write_text("class X: pass")
        monkeypatch.syspath_prepend(tmp_path)
        change = {"classifier": "estimator", "hyperparameters": {"estimator": "stranger.X", "parameters": {}}}
        with pytest.raises(PqswarmError, match="is not loaded"):
            load_model(rewrite(small_file, tmp_path / "bad.npz", **change))
        assert "stranger" not in sys.modules
