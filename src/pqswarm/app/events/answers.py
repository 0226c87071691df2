"""What is said of an event: its waveform, bands and features, and what the rules and the model make of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
from pqswarm.identify import Model, default_model, identify, usable_features
from pqswarm.identify.agreement import in_words, model_level, rule_level
from pqswarm.measure import half_cycle_rms
from pqswarm.recordings import Envelope, Recording
from pqswarm.recordings.view.encode import describe_header, describe_view, encode_extremes, thin

if TYPE_CHECKING:
    from pqswarm.identify import EventVerdict, Verdict

__all__ = ["describe_classes", "describe_event", "describe_features", "describe_verdict", "draw_view", "sum_up"]

Check = Callable[[int, int], None] | None

_THUMBNAIL = 160
"""Parts of a small picture."""


def describe_classes(preset: str) -> dict[str, Any]:
    """Return the classes of a preset with a small picture of each, and the names of the presets."""
    chosen = PRESETS.find(preset)
    classes = [
        {
            "name": name,
            "title": class_title(name),
            "sources": [source for source in SOURCES if source == "model" or name in chosen.bench],
            **_thumbnail(name, preset),
        }
        for name in chosen.classes
        if name in EVENT_CLASSES
    ]
    return {"preset": preset, "presets": sorted(PRESETS, key=list(PRESETS).index), "classes": classes}


def _thumbnail(name: str, preset: str) -> dict[str, Any]:
    try:
        event = generate(name, 4, PRESETS.find(preset), cycles=8)
    except PqswarmError:  # the class, or the preset, is another package's
        return {"low": None, "high": None}
    return _thin(event.signal, event.sampling_rate, _THUMBNAIL)


def describe_event(asked: EventRequest, begin: float | None, end: float | None, points: int) -> dict[str, Any]:
    """Return the event: its parameters as fields, what makes it in Python, its record, and a view of a stretch."""
    event, recording = asked.record()
    header = {
        "id": asked.title,
        "name": class_title(asked.event_class),
        "source": asked.title,
        "path": "",
        "station": "",
        "format": "",
        "notes": [],
        **describe_header(recording),
        "status": [],
        "upload": False,
    }
    return {
        "class": asked.event_class,
        "preset": asked.preset,
        "source": asked.source,
        "seed": asked.seed,
        "noise": asked.noise if np.isfinite(asked.noise) else None,
        "fields": list_fields(asked, event),
        "python": asked.python,
        "recording": header,
        "view": _view(event, recording, begin, end, points),
    }


def draw_view(asked: EventRequest, begin: float | None, end: float | None, points: int) -> dict[str, Any]:
    """Return a stretch of the event's waveform, thinned to what can be drawn, and Urms(1/2)."""
    event, recording = asked.record()
    return _view(event, recording, begin, end, points)


def _view(event: Event, recording: Recording, begin: float | None, end: float | None, points: int) -> dict[str, Any]:
    rate = recording.sampling_rate
    first = 0 if begin is None else int(max(begin, 0.0) * rate)
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


def describe_features(asked: EventRequest, model: Model | None, points: int = 400) -> dict[str, Any]:
    """Return the wavelet bands of an event, thinned to what can be drawn, and its features."""
    event, signal = asked.make()
    rate, frequency = event.sampling_rate, event.frequency
    split = band_waveforms(signal, rate, frequency)
    bands = [
        {"name": name, "range": describe_band(*edges), **_thin(values, rate, points)}
        for name, edges, values in zip(split.names, split.edges_hz, split.values, strict=True)
    ]
    level = FeatureOptions().level_at(rate, frequency)
    short = signal.size < minimum_samples(level)
    features = extract(extend(signal, rate, frequency) if short else signal, rate, frequency)[0].tolist()
    names = feature_names(level)
    used = set((model or default_model()).subset_for(usable_features(rate, frequency)).names)
    return {
        "seconds": signal.size / rate,
        "note": f"The record is too short for {level} levels: for the features it was extended to {WINDOW_CYCLES:g} "
        "cycles with its own steady cycles."
        if short
        else "",
        "model": {"features": len(used), "wavelet": sum(name in names for name in used)},
        "bands": bands,
        "features": [
            {"name": name, "value": value, "meaning": describe_feature(name, rate), "used": name in used}
            for name, value in zip(names, features, strict=True)
        ],
    }


def describe_verdict(asked: EventRequest, model: Model | None, check: Check = None) -> dict[str, Any]:
    """Return what the rules and the model say of an event; what `check` raises ends the work."""
    verdict = _judge(asked, model, check)
    return {
        "summary": _summary(verdict),
        "main": verdict.events.index(verdict.main),
        "events": [_event(one) for one in verdict.events],
        "sentences": list(verdict.sentences),
        "thresholds": verdict.characterisation.thresholds.settings(),
        "caveats": list(verdict.caveats),
        "titles": {name: in_words(name) for name in (*BROAD_CLASSES, *(model or default_model()).class_names)},
    }


def sum_up(asked: EventRequest, model: Model | None, check: Check = None) -> dict[str, Any]:
    """Return in short what the rules and the model say of an event; what `check` raises ends the work."""
    return _summary(_judge(asked, model, check))


def _judge(asked: EventRequest, model: Model | None, check: Check) -> "Verdict":
    return identify(asked.record()[1], model, nominal_voltage=NOMINAL, progress=check)


def _summary(verdict: "Verdict") -> dict[str, Any]:
    """The main event by rules and model, and whether it is a sag, a swell or an interruption to them, or none."""
    main, urms = verdict.main, verdict.characterisation.require_series().urms[0]
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


def _event(one: "EventVerdict") -> dict[str, Any]:
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


def _thin(samples: FloatArray, rate: float, points: int) -> dict[str, Any]:
    """Least and greatest values of parts, and how long a part is [s]."""
    found = thin(samples, 0.0, 1 / rate, -(-samples.size // points))
    return {"step": found["step"], "low": found["low"], "high": found["high"] or found["low"]}
