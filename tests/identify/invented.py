"""Analyses put together by hand, without measuring and without a model."""

import hashlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from pqswarm.identify import Analysis, EventResult, Reference
from pqswarm.identify.archive.files import SeenFile
from pqswarm.measure import ChannelResult, Characterization, MeasuredSeries, Thresholds
from pqswarm.measure.event import ChannelEvent, Event
from pqswarm.recordings import Channel, Recording

START = datetime(2026, 3, 4, 5, 6, 7, 89_000)
REFERENCE = 11_547.0


def event(kind="sag", magnitude=0.62, duration=0.08, start=0.4, phases="A", system="", unit="pu", **other):
    """Something that happened on channels named after their phases."""
    names = [f"{system} U{phase}".strip() for phase in phases]
    end = start + duration
    parts = tuple(
        ChannelEvent(number, name, phase, kind, magnitude, start, end, duration, system=system)
        for number, (name, phase) in enumerate(zip(names, phases, strict=True))
    )
    settings = {"nominal_frequency": 50.0, "reference_volts": REFERENCE, "sentence": f"{kind} as the rules say it"}
    return Event(kind, kind, parts, system, magnitude, unit, start, end, duration, **settings | other)


def with_label(one, label="sag", probability=0.9, agreement="agree"):
    return EventResult(one, label, {label: probability, "swell": 1 - probability}, agreement, (0.0, 1.0))


def recording(systems=("",), seconds=1.0, rate=6400, currents=True, **other):
    """Three phases of each system, and three currents; phase A at 0.62 pu from 0.4 to 0.48 s."""
    t = np.arange(round(seconds * rate)) / rate
    channels = []
    for system in systems:
        for i, phase in enumerate("ABC"):
            level = np.where((t >= 0.4) & (t < 0.48) & (phase == "A"), 0.62, 1.0)
            wave = np.sqrt(2) * REFERENCE * level * np.sin(2 * np.pi * (50 * t - i / 3))
            channels.append(Channel(f"{system} U{phase}".strip(), "V", phase, wave))
    flowing = 100 * np.sin(2 * np.pi * 50 * t)
    channels += [Channel(f"I{phase}", "A", phase, flowing) for phase in "ABC" if currents]
    return Recording(tuple(channels), rate, 50.0, start=START, source="fault.cfg", **other)


def analysis(*events, of=None, systems=("",), **other):
    of = of or recording(systems)
    time = np.arange(0.01, of.duration - 0.01, 0.01)
    voltages = [channel for channel in of.channels if channel.unit == "V"]
    per_system = len(voltages) // len(systems)
    channels = tuple(
        ChannelResult(
            name=channel.name,
            phase=channel.phase,
            system=systems[place // per_system],
            number=of.channels.index(channel),
            reference=REFERENCE,
            reference_source="nominal",
        )
        for place, channel in enumerate(voltages)
    )
    found = Characterization(
        source=of.source,
        sampling_rate=of.sampling_rate,
        frequency=50.01,
        nominal_frequency=50.0,
        n_samples=of.n_samples,
        thresholds=Thresholds(),
        channels=channels,
        states=(),
        events=tuple(one.event if isinstance(one, EventResult) else one for one in events),
        caveats=(),
        series=MeasuredSeries(time, np.ones((len(channels), time.size)), None),
    )
    reason = "" if events else "no disturbance found"
    settings = {"source": of.source, "start": of.start, "station": "North", "caveats": ("Assumed.",)}
    return Analysis(
        events=tuple(one if isinstance(one, EventResult) else with_label(one) for one in events),
        references=tuple(
            Reference(one.number, one.name, one.phase, one.system, one.reference, one.reference_source)
            for one in channels
        ),
        sampling_rate=found.sampling_rate,
        frequency=found.frequency,
        nominal_frequency=found.nominal_frequency,
        n_samples=found.n_samples,
        thresholds=found.thresholds,
        characterization=found,
        no_event_reason=reason,
        **settings | other,
    )


def renamed(of, **names):
    return replace(of, channels=tuple(replace(one, name=names.get(one.name, one.name)) for one in of.channels))


def add(archive, result, name, content="", folder="/data"):
    content = content or hashlib.sha256(name.encode()).hexdigest()
    file = SeenFile(Path(folder, name), "1:1", content)
    archive.files.register([file])
    assert archive.files.claim(content) == "mine"
    archive.finish(file, [result], analyzer="test")
    return file
