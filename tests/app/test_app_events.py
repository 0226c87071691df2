"""The events section over HTTP: events are those of the library, and bad requests get one sentence."""

import base64
import io
import json
import zipfile
from urllib.parse import urlencode

import numpy as np
import pytest
from tests.app import requests

from pqswarm.app.events.request import EventRequest, read_request
from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, PRESETS, add_noise, generate, noise_stream
from pqswarm.identify import identify
from pqswarm.recordings import Channel, Recording, read


def ask(app, path, **words):
    return requests.ask(app, f"/api/events/{path}?{urlencode(words)}")


def get(app, path, **words):
    status, data = ask(app, path, **words)
    assert status == 200, data
    return json.loads(data)


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_the_classes_have_titles_and_pictures(app):
    answer = get(app, "classes", preset="field")
    assert [one["name"] for one in answer["classes"]] == list(EVENT_CLASSES)
    assert [one["preset"] for one in answer["classes"]] == ["field"] * 14 + ["field-16"] * 2
    assert answer["presets"][:4] == ["paper", "paper-stepped", "paper-printed", "field"]
    assert all(np.isfinite(floats(one["low"])).all() for one in answer["classes"])
    sources = {one["name"]: one["sources"] for one in answer["classes"]}
    assert sources["sag"] == ["model", "bench"]
    assert sources["swell"] == ["model"]


def test_an_event_is_what_the_library_makes(app):
    answer = get(app, "event", **{"class": "sag", "seed": 3, "depth": 0.4, "from": 0.1, "to": 0.11, "points": 500})
    assert answer["python"] == 'event = generate("sag", seed=3, depth=0.4)'
    event = generate("sag", seed=3, depth=0.4)
    view = answer["view"]
    first = round(view["from"] * 25_000)
    assert view["exact"]
    expected = 230 * np.sqrt(2) * event.signal[first : first + view["n"]]
    np.testing.assert_allclose(floats(view["channels"][0]["low"]), expected, rtol=1e-6, atol=1e-4)
    fields = {one["name"]: one for one in answer["fields"]}
    depth = fields["depth"]
    assert (depth["value"], depth["given"], depth["usual"]) == (0.4, True, [0.1, 0.9])
    assert depth["drawn"] == generate("sag", seed=3).parameters["depth"]
    assert (depth["low"], depth["high"], depth["step"], depth["allowed"]) == (0.0, 1.0, 0.01, [0.0, 1.0])
    assert fields["start"]["high"] == 0.6
    assert fields["sampling_rate"]["log"]
    assert [one["group"] for one in answer["fields"]][0::3] == ["disturbance", "supply", "record"]
    urms = floats(view["urms"]["channels"][0]["low"])
    assert urms.min() == pytest.approx(0.6, abs=1e-3)


@pytest.mark.parametrize("preset", ["paper", "paper-stepped", "paper-printed", "field-16"])
def test_every_class_has_fields_that_hold_its_values(preset):
    from pqswarm.app.events.answers import describe_event

    for name in PRESETS[preset].classes:
        answer = describe_event(EventRequest(name, preset, seed=2), None, None, 100)
        json.dumps(answer, allow_nan=False)
        for one in answer["fields"]:
            assert one["low"] <= one["value"] <= one["high"], (name, one)
            assert one["low"] <= one["usual"][0] * 1.001 + 1e-9, (name, one)
            assert 0 < one["step"] <= one["high"] - one["low"], (name, one)


def test_a_given_value_where_the_preset_could_draw_none(app):
    words = {"class": "oscillatory_transient", "sampling_rate": 1600, "transient_frequency": 600}
    fields = {one["name"]: one for one in get(app, "event", **words)["fields"]}
    assert fields["transient_frequency"]["usual"] == [600, 600]


@pytest.mark.parametrize(
    ("depth", "level", "kind"),
    [
        (0.02, "none", "pure_sinusoid"),
        (0.05, "none", "voltage_change"),
        (0.4, "sag", "sag"),
        (0.95, "interruption", "interruption"),
    ],
)
def test_the_depth_of_a_sag_from_none_to_interruption(app, depth, level, kind):
    words = {"class": "sag", "seed": 3, "depth": depth, "start": 0.2, "duration": 0.2}
    answer = get(app, "verdict", **words)
    summary = answer["summary"]
    assert (summary["rules"]["level"], summary["model"]["level"]) == (level, level)
    assert summary["rules"]["class"] == kind
    event = generate("sag", 3, depth=depth, start=0.2, duration=0.2)
    channel = Channel("U", "V", "A", 230 * np.sqrt(2) * event.signal)
    verdict = identify(Recording((channel,), event.sampling_rate, event.frequency), nominal_voltage=230.0)
    assert [one["sentence"] for one in answer["events"]] == [one.event.sentence for one in verdict.events]
    assert answer["main"] == verdict.events.index(verdict.main)
    said = {one["class"]: one["share"] for one in answer["events"][0]["probabilities"]}
    assert said == pytest.approx(dict(verdict.events[0].probabilities))
    assert answer["events"][0]["agreement"] == verdict.events[0].agreement


def test_noise_is_that_of_the_library(app):
    request = read_request({"class": "swell", "seed": "2", "noise": "30"})
    assert request.python.endswith("signal = add_noise(event.signal, 30, noise_stream(2, 30))")
    event, noisy = request.make()
    assert (noisy == add_noise(event.signal, 30.0, noise_stream(2, 30.0))).all()
    assert get(app, "event", **{"class": "swell", "noise": 30})["noise"] == 30


def test_bands_and_features(app):
    answer = get(app, "features", **{"class": "oscillatory_transient"})
    assert [one["name"] for one in answer["bands"]][-2:] == ["D8", "A8"]
    assert len(answer["features"]) == 99
    assert "6.25 to 12.5 kHz" in answer["features"][0]["meaning"]
    short = get(app, "features", **{"class": "sag", "cycles": 4, "start": 0.02, "duration": 0.02})
    assert "too short" in short["note"]


def test_a_sweep_comes_line_by_line(app):
    status, data = ask(
        app,
        "sweep",
        **{"class": "sag", "seed": 3, "start": 0.2, "duration": 0.2, "over": "depth"}
        | {"from": 0.05, "to": 1.05, "steps": 3},
    )
    assert status == 200
    lines = [json.loads(line) for line in data.decode().splitlines()]
    assert [one["value"] for one in lines] == [0.05, 0.55, 1.05]
    assert [one["rules"]["level"] for one in lines[:2]] == ["none", "sag"]
    assert "depth of sag must be a number from 0 to 1" in lines[2]["error"]


def test_files_hold_the_event(app, tmp_path):
    words = {"class": "sag", "seed": 3, "cycles": 5, "start": 0.02, "duration": 0.04}
    expected = 230 * np.sqrt(2) * generate("sag", 3, cycles=5, start=0.02, duration=0.04).signal
    table = tmp_path / "event.csv"
    table.write_bytes(ask(app, "file", format="csv", **words)[1])
    np.testing.assert_allclose(read(table).channels[0].samples, expected, rtol=1e-9, atol=1e-9)
    packed = ask(app, "file", format="comtrade", **words)[1]
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert sorted(archive.namelist()) == ["sag-paper-3.cfg", "sag-paper-3.dat"]
        archive.extractall(tmp_path)
    np.testing.assert_allclose(read(tmp_path / "sag-paper-3.cfg").channels[0].samples, expected, atol=0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"depth": "7"}, "depth of sag must be a number from 0 to 1 [pu], not 7.0."),
        ({"depth": "deep"}, "depth must be a number, not 'deep'."),
        ({"depth": "nan"}, "depth of sag must be a number"),
        ({"class": "dc_offset", "preset": "field", "snr": "inf"}, "snr must be finite, not 'inf'."),
        ({"rise": "1"}, "rise"),
        ({"event_class": "1"}, "event_class"),
        ({"class": "<b>sag</b>"}, "event class of preset 'paper'"),
        ({"preset": "secret.toml"}, "preset"),
        ({"preset": "/etc/passwd"}, "preset"),
        ({"seed": "-1"}, "seed must be an integer of 0"),
        ({"seed": "9" * 400}, "seed must be an integer of 0"),
        ({"noise": "loud"}, "noise must be from -20 to 200 dB, or off, not 'loud'."),
        ({"cycles": "100000"}, "the limit is 200,000"),
        ({"sampling_rate": "1e9"}, "the limit is 200,000"),
        ({"frequency": "0.1"}, "the limit is 200,000"),
        ({"source": "moon"}, "source"),
        ({"class": "swell", "source": "bench"}, "cannot produce 'swell'"),
        ({"from": "x"}, "from must be a number from"),
        ({"from": "1e308", "to": "-1e308"}, "from must be a number from -1e12 to 1e12."),
    ],
    ids=str,
)
def test_bad_requests_get_a_sentence(app, words, said):
    status, data = ask(app, "event", **({"class": "sag"} | words))
    assert status == 400, data
    assert said in json.loads(data)["error"]


def test_a_view_far_beyond_the_record_is_empty_or_clipped(app):
    for start, end in ((1e12, -1e12), (-1e12, 1e12)):
        assert ask(app, "view", **{"class": "sag", "from": start, "to": end})[0] == 200


def test_deeply_nested_json_gets_a_sentence(app):
    status, answer = requests.ask(app, "/api/studies/watch", "PUT", "[" * 100_000)
    assert (status, "JSON" in json.loads(answer)["error"]) == (400, True)


@pytest.mark.parametrize("words", [{"steps": 1e9}, {"from": 1, "to": 0}, {"over": "depth", "steps": "many"}])
def test_bad_sweeps(app, words):
    status, _ = ask(app, "sweep", **({"class": "sag", "over": "depth", "from": 0, "to": 1} | words))
    assert status == 400


def test_presets_of_files_are_not_read():
    with pytest.raises(PqswarmError, match="preset"):
        read_request({"preset": "mine.toml"})
