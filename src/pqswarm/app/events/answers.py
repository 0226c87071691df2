"""A generated event as plain values: waveform, wavelet bands, features, and the verdict of rules and model."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pqswarm._base.typing import FloatArray
from pqswarm.app.events.fields import list_fields
from pqswarm.app.events.request import NOMINAL, EventRequest
from pqswarm.errors import PqswarmError
from pqswarm.events import EVENT_CLASSES, PRESETS, SOURCES, Event, class_title, generate
from pqswarm.events.broad import BROAD_CLASSES
from pqswarm.features import (
    WINDOW_CYCLES,
    FeatureOptions,
    band_waveforms,
    describe_band,
    describe_feature,
    extend,
    extract,
    feature_names,
    minimum_samples,
)
from pqswarm.identify import EventVerdict, Model, Verdict, default_model, identify, usable_features
from pqswarm.identify.agreement import in_words, model_level, rule_level
from pqswarm.measure import half_cycle_rms
from pqswarm.recordings import Envelope, Recording
from pqswarm.recordings.view.encode import describe_header, describe_view, encode_extremes, encode_thinned_series

Check = Callable[[int, int], None] | None

_THUMBNAIL = 160
"""Columns of a thumbnail."""


def describe_classes(preset: str) -> dict[str, Any]:
    """Return the classes of a preset, then the rest, each with a thumbnail, and the names of all presets."""
    order = (preset, *(name for name in PRESETS if name != preset))
    owners = {name: one for one in reversed(order) for name in PRESETS.find(one).classes if name in EVENT_CLASSES}
    classes = [
        {
            "name": name,
            "title": class_title(name),
            "preset": owners[name],
            "sources": [one for one in SOURCES if one == "model" or name in PRESETS.find(owners[name]).bench],
            **_thumbnail(name, owners[name]),
        }
        for name in sorted(owners, key=lambda name: (owners[name] != preset, list(EVENT_CLASSES).index(name)))
    ]
    return {"preset": preset, "presets": sorted(PRESETS, key=list(PRESETS).index), "classes": classes}


def _thumbnail(name: str, preset: str) -> dict[str, Any]:
    try:
        event = generate(name, 4, PRESETS.find(preset), cycles=8)
    except PqswarmError:  # class or preset come from different packages
        return {"low": None, "high": None}
    return _thin_answer_columns(event.signal, event.sampling_rate, _THUMBNAIL)


def describe_event(request: EventRequest, start: float | None, end: float | None, points: int) -> dict[str, Any]:
    """Return the event: parameter fields, Python code, header, and a view of an interval."""
    event, recording = request.record()
    header = {
        "id": request.title,
        "name": class_title(request.event_class),
        "source": request.title,
        "path": "",
        "station": "",
        "format": "",
        "notes": [],
        **describe_header(recording),
        "status": [],
        "upload": False,
    }
    return {
        "class": request.event_class,
        "preset": request.preset,
        "source": request.source,
        "seed": request.seed,
        "noise": request.noise if np.isfinite(request.noise) else None,
        "fields": list_fields(request, event),
        "python": request.python,
        "recording": header,
        "view": _interval_answer(event, recording, start, end, points),
    }


def draw_view(request: EventRequest, start: float | None, end: float | None, points: int) -> dict[str, Any]:
    """Return the waveform in an interval, thinned to what can be drawn, and Urms(1/2)."""
    event, recording = request.record()
    return _interval_answer(event, recording, start, end, points)


def _interval_answer(
    event: Event, recording: Recording, start: float | None, end: float | None, points: int
) -> dict[str, Any]:
    rate = recording.sampling_rate
    first = 0 if start is None else int(max(start, 0.0) * rate)
    stop = recording.n_samples if end is None else int(min(end, recording.duration) * rate) + 1
    envelope = Envelope(recording)
    envelope.build()
    view = envelope.view(first, stop, points)
    samples = recording.channels[0].samples
    time, urms = half_cycle_rms(samples, rate, event.frequency)
    shown = None
    if urms.size > 1:
        channel = {"index": 0, **encode_extremes(urms / NOMINAL, None)}
        shown = {"from": float(time[0]), "step": float(time[1] - time[0]), "channels": [channel]}
    return {**describe_view(view, rate), "urms": shown}


def describe_features(request: EventRequest, model: Model | None, points: int = 400) -> dict[str, Any]:
    """Return the wavelet bands of an event, thinned to what can be drawn, and its features."""
    event, signal = request.make()
    rate, frequency = event.sampling_rate, event.frequency
    split = band_waveforms(signal, rate, frequency)
    bands = [
        {"name": name, "range": describe_band(*edges), **_thin_answer_columns(values, rate, points)}
        for name, edges, values in zip(split.names, split.edges_hz, split.values, strict=True)
    ]
    level = FeatureOptions().level_at(rate, frequency)
    short = signal.size < minimum_samples(level)
    features = extract(extend(signal, rate, frequency) if short else signal, rate, frequency)[0].tolist()
    names = feature_names(level)
    used = set((model or default_model()).subset_for(usable_features(rate, frequency)).names)
    return {
        "seconds": signal.size / rate,
        "note": f"The record is too short for {level} levels: for feature extraction it was extended to "
        f"{WINDOW_CYCLES:g} cycles by repeating its steady cycles."
        if short
        else "",
        "model": {"features": len(used), "wavelet": sum(name in names for name in used)},
        "bands": bands,
        "features": [
            {"name": name, "value": value, "meaning": describe_feature(name, rate), "used": name in used}
            for name, value in zip(names, features, strict=True)
        ],
    }


def describe_verdict(request: EventRequest, model: Model | None, check: Check = None) -> dict[str, Any]:
    """Return the verdict of rules and model on an event; `check` may raise to cancel."""
    verdict = _identify(request, model, check)
    return {
        "summary": _verdict_answer(verdict),
        "main": verdict.events.index(verdict.main),
        "events": [_event_answer(one) for one in verdict.events],
        "sentences": list(verdict.sentences),
        "thresholds": verdict.thresholds.settings(),
        "caveats": list(verdict.caveats),
        "titles": {name: in_words(name) for name in (*BROAD_CLASSES, *(model or default_model()).class_names)},
    }


def summarise_verdict(request: EventRequest, model: Model | None, check: Check = None) -> dict[str, Any]:
    """Return a summary of the verdict on an event; `check` may raise to cancel."""
    return _verdict_answer(_identify(request, model, check))


def _identify(request: EventRequest, model: Model | None, check: Check) -> Verdict:
    return identify(request.record()[1], model, nominal_voltage=NOMINAL, progress=check)


def _verdict_answer(verdict: Verdict) -> dict[str, Any]:
    """The main event by rules and model, each with its voltage level: sag, swell, interruption or none."""
    main, found = verdict.main, verdict.characterisation
    urms = np.empty(0) if found is None else found.require_series().urms[0]
    urms = urms[np.isfinite(urms)]
    return {
        "sentence": main.event.sentence,
        "rules": {
            "kind": main.event.kind,
            "class": main.rule,
            "title": in_words(main.rule),
            "level": rule_level(one.event for one in verdict.events),
        },
        "model": {
            "class": main.label,
            "title": in_words(main.label),
            "probability": main.probability if main.known and main.label else None,
            "level": model_level(main.label),
            "known": main.known,
        },
        "agreement": main.agreement,
        "events": len(verdict.events),
        "urms": [float(urms.min()), float(urms.max())] if urms.size else None,
    }


def _event_answer(one: EventVerdict) -> dict[str, Any]:
    shares = [{"class": name, "title": in_words(name), "share": share} for name, share in one.probabilities.items()]
    return {
        "kind": one.event.kind,
        "sentence": one.event.sentence,
        "start": one.event.start,
        "end": one.event.end,
        "rule": one.rule,
        "label": one.label,
        "known": one.known,
        "agreement": one.agreement,
        "window": list(one.window),
        "probabilities": shares,
    }


def _thin_answer_columns(samples: FloatArray, rate: float, points: int) -> dict[str, Any]:
    """Minimum and maximum per column, and the duration of a column [s]."""
    found = encode_thinned_series(samples, 0.0, 1 / rate, -(-samples.size // points))
    return {"step": found["step"], "low": found["low"], "high": found["high"] or found["low"]}
