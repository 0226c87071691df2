"""Model files: of earlier versions, of other classes, and hostile ones."""

import json
import random
import sys
import zipfile

import pytest

from pqswarm.errors import PqswarmError
from pqswarm.events import PRESETS, generate
from pqswarm.identify import check_model, identify, load_model
from pqswarm.identify.show.figures import plot_event
from pqswarm.recordings import Channel, Recording

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
            ({"subsets": [ONE]}, "how many events"),
            ({"subsets": [{**ONE, "events": True}]}, "how many events"),
            ({"subsets": [{**ONE, "events": 3}]}, "do not fit together"),
            ({"subsets": []}, "no subsets"),
            ({"subsets": [3]}, "not a record"),
            ({"subsets": [{"highest": 1, "names": ["D1.energy"], "temperature": 1, "error": 0}]}, "beyond"),
            ({"subsets": [{"highest": 1e9, "names": ["D1.energy"], "temperature": 1, "error": 0}]}, "bandwidth"),
            ({"subsets": [{"highest": 250, "names": ["D1.energy"], "temperature": 0, "error": 0}]}, "temperature"),
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

    def test_a_bomb(self, small_file, tmp_path):
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
