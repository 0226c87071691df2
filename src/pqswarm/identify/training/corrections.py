"""Corrections of analyses, and corrected events as training events: found again in their recordings, with variants."""

import hashlib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from pathlib import Path

import numpy as np

from pqswarm._base.random import stream
from pqswarm._base.text import file_text, printable
from pqswarm._base.typing import FloatArray, IntArray
from pqswarm.errors import PqswarmError
from pqswarm.events.noise import add_noise
from pqswarm.identify.agreement import in_words
from pqswarm.identify.analysis import Analysis, EventResult
from pqswarm.identify.classify import possible_labels, read_window_samples
from pqswarm.identify.features import (
    BANDWIDTHS,
    FEATURES,
    MIN_CYCLES,
    bandwidth_of,
    compute_features,
    resample_for_features,
    usable_features,
    uses_wavelet_features,
)
from pqswarm.identify.folder.batch import Failure, failure_of, find_batch_candidate, identify_file
from pqswarm.identify.model import Model
from pqswarm.recordings import Site
from pqswarm.recordings.recording import RecordingSource

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many of it are, and of how many."""
_WEIGHT = 0.05  # tuned
"""Training events per corrected one at the bandwidth of its recording, as a fraction of those of a class."""
_NARROWER = 0.02  # tuned
"""The same at narrower bandwidths, where its distinguishing content may be missing."""
_MAX_WEIGHT = 0.5
"""The same of all corrected events of a class together."""
_NOISE = (inf, 60.0, 50.0, 40.0)
"""Noise added to the variants, in turn [dB]."""
_SHIFT = 0.5
"""Cycles by which a variant may start later and end earlier."""
_GAIN = 0.005
"""Standard deviation of the voltage of the variants [pu]."""
_NEAR = 0.5
"""Cycles by which the start of an event may differ when it is found again."""


@dataclass(frozen=True)
class Correction:
    """The class of an event according to a person; :meth:`pqswarm.identify.Archive.correct` stores one.

    Attributes
    ----------
    path : str
        The file of the recording.
    digest : str
        SHA-256 of its content.
    source : str
        Which recording of the file.
    found : EventResult
        The event that was corrected, with the analysis on it.
    label : str
        Its class; empty to withdraw an earlier correction.
    by : str
        Author.
    at : str
        Time of the correction (UTC, ISO 8601).
    note : str
        Reason.
    site : Site or None
        Site of its station; None for that of :func:`train`.
    """

    path: str
    digest: str
    source: str
    found: EventResult
    label: str
    by: str
    at: str
    note: str = ""
    site: Site | None = field(default=None, compare=False)

    @property
    def place(self) -> str:
        """Which recording of its file, whatever the name of the file."""
        return self.source.removeprefix(file_text(Path(self.path).name))

    @property
    def key(self) -> tuple[str, str, str, float, tuple[str, ...]]:
        """Identifies the event, whatever the path; see :func:`corrected_event_key`."""
        return corrected_event_key(self.digest, self.place, self.found)

    def __str__(self) -> str:
        """The event as text."""
        event = self.found.event
        where = f"{file_text(self.path)}{self.place}"
        return f"{where}, {event.type} at {event.start:.3f} s on {', '.join(map(file_text, event.channels))}"


def corrected_event_key(digest: str, place: str, found: EventResult) -> tuple[str, str, str, float, tuple[str, ...]]:
    """Return what identifies an event: SHA-256 of its file, place in the file, type, start [s] and channels."""
    event = found.event
    return digest, place, event.type, round(event.start, 6), tuple(map(file_text, event.channels))


def merge_corrections(corrections: Iterable[Correction]) -> tuple[Correction, ...]:
    """Return the last correction of each event, without withdrawn ones, in order of the events."""
    last = {one.key: one for one in corrections}
    return tuple(last[key] for key in sorted(last) if last[key].label)


@dataclass(frozen=True, eq=False)
class CorrectedEvent:
    """A corrected event: its window [pu of the peak], possible classes, sampling rate and measured fundamental [Hz]."""

    correction: Correction
    capture: FloatArray
    sampling_rate: float
    frequency: float
    possible: tuple[str, ...]

    @property
    def widest(self) -> int:
        """Index of the widest of BANDWIDTHS that its recording has."""
        return BANDWIDTHS.index(bandwidth_of(self.sampling_rate, self.frequency))

    def classify(self, model: Model) -> str:
        """Return its class by a model."""
        wavelet = any(uses_wavelet_features(subset.names) for subset in model.subsets)
        features = compute_features(self.capture, self.sampling_rate, self.frequency, wavelet=wavelet)
        said = model.predict(features, usable_features(self.sampling_rate, self.frequency), self.possible)
        return said.best(count=1)[0][0] if said.known[0] else "unknown"

    def features(self, bandwidth: int, count: int, seed: int, *, wavelet: bool) -> FloatArray:
        """Return the features of the event and of `count` - 1 variants at one of BANDWIDTHS, (count, n_features)."""
        capture = self.capture
        rate = self.sampling_rate
        if bandwidth > self.widest:  # as a recorder of that bandwidth sees it
            ratio = 2 * BANDWIDTHS[bandwidth] * self.frequency / rate
            capture = resample_for_features(capture, ratio)
            rate = rate * ratio
        key = hashlib.sha256(repr(self.correction.key).encode("utf-8", "backslashreplace")).digest()[:8]
        random = stream(seed, (9, int.from_bytes(key, "big"), bandwidth))
        varied = [capture, *(self._vary(capture, rate, number, random) for number in range(count - 1))]
        return np.array([compute_features(one, rate, self.frequency, wavelet=wavelet) for one in varied])

    def _vary(self, capture: FloatArray, rate: float, number: int, random: np.random.Generator) -> FloatArray:
        """The event with another window, a slightly different voltage, and noise."""
        spare = capture.size - ceil(MIN_CYCLES * rate / self.frequency) - 1
        limit = max(min(int(_SHIFT * rate / self.frequency), spare // 2), 0)
        first, last = random.integers(0, limit + 1, 2)
        gain = 1 + _GAIN * random.standard_normal()
        return add_noise(gain * capture[first : capture.size - last], _NOISE[number % len(_NOISE)], random)


def read_corrections(
    given: str | Path | Correction | Iterable[str | Path | Correction] | None,
) -> tuple[Correction, ...]:
    """Return the corrections in force of some archives; the last one of an event applies."""
    if given is None:
        return ()
    from pqswarm.identify.archive.archive import Archive

    listed = [given] if isinstance(given, str | Path | Correction) else list(given)
    found: list[Correction] = []
    for one in listed:
        if isinstance(one, Correction):
            found.append(one)
            continue
        with Archive(one, read_only=True) as archive:
            found += archive.class_corrections()
    holding = merge_corrections(found)
    if listed and not holding:
        raise PqswarmError("there are no corrections to train with: nothing was corrected, or all was withdrawn.")
    return holding


def describe_corrected_events(corrections: Sequence[Correction]) -> dict[str, int | str]:
    """Return the number of corrections and the SHA-256 of their events and labels, whatever the author and path."""
    if not corrections:
        return {}
    listed = sorted((*one.key, one.label) for one in corrections)
    digest = hashlib.sha256(repr(listed).encode("utf-8", "backslashreplace")).hexdigest()
    return {"corrections": len(corrections), "corrections_digest": digest}


def make_corrected_features(
    events: Sequence[CorrectedEvent],
    class_names: Sequence[str],
    learned: Collection[int],
    events_per_class: int,
    seed: int,
    *,
    bandwidth: int,
    wavelet: bool,
) -> tuple[FloatArray, IntArray]:
    """Return features and labels of corrected events, of classes `learned`, and variants at one of BANDWIDTHS."""
    places = [class_names.index(one.correction.label) for one in events]
    shown = [
        (event, place)
        for event, place in zip(events, places, strict=True)
        if place in learned and event.widest <= bandwidth
    ]
    rows = [np.empty((0, len(FEATURES)))]
    labels = []
    for event, place in shown:
        alike = sum(other == place for _, other in shown)
        weight = _WEIGHT if event.widest == bandwidth else _NARROWER
        count = max(round(min(weight, _MAX_WEIGHT / alike) * events_per_class), 1)
        rows.append(event.features(bandwidth, count, seed, wavelet=wavelet))
        labels += count * [place]
    return np.vstack(rows), np.array(labels, dtype=np.int64)


def count_corrected_events_followed(model: Model, events: Sequence[CorrectedEvent]) -> dict[str, int]:
    """Return how many corrected events a model classifies as corrected; warn about each of the others."""
    followed = 0
    for event in events:
        said = event.classify(model)
        if said == event.correction.label:
            followed += 1
        else:
            label = in_words(event.correction.label)
            other = in_words(said)
            warnings.warn(
                f"{printable(str(event.correction))}: corrected to {label!r}, but the model still says {other!r}: too "
                "many generated events are similar. Correcting more recorded events may help.",
                stacklevel=3,
            )
    return {"corrections_followed": followed} if events else {}


def find_corrected_events(
    corrections: Sequence[Correction],
    class_names: Collection[str],
    site: Site | None = None,
    progress: Progress | None = None,
) -> list[CorrectedEvent]:
    """Find corrected events again in their recordings; warn about each that cannot be used, and fail if none can."""
    by_path: dict[str, list[Correction]] = {}
    for one in corrections:
        by_path.setdefault(one.path, []).append(one)
    found: list[CorrectedEvent] = []
    for number, (path, own) in enumerate(by_path.items(), 1):
        for event in _find_corrected_in_file(path, own, class_names, own[-1].site or site):
            if isinstance(event, CorrectedEvent):
                found.append(event)
            else:
                warnings.warn(f"{printable(event)}; left out of the training.", stacklevel=3)
        if progress is not None:
            progress("corrected recordings", number, len(by_path))
    if corrections and not found:
        raise PqswarmError("none of the corrections can be used: see the warnings.")
    return sorted(found, key=lambda one: one.correction.key)


def _find_corrected_in_file(
    path: str, corrections: Sequence[Correction], class_names: Collection[str], site: Site | None
) -> "list[CorrectedEvent | str]":
    """The corrected events of a file, or why they cannot be used."""
    try:
        digest = find_batch_candidate(path).digest()
    except (OSError, ValueError) as error:
        return [f"{file_text(path)}: {failure_of(error, path, '').reason.rstrip('.')}"]
    known = [one for one in corrections if one.digest == digest]
    found: list[CorrectedEvent | str] = []
    if len(known) < len(corrections):
        found.append(f"{file_text(path)}: has changed since it was corrected")
    seen = set()

    def look(recording: RecordingSource, analysis: Analysis) -> None:
        place = file_text(analysis.source).removeprefix(file_text(Path(path).name))
        own = [one for one in known if one.place == place]
        found.extend(_find_corrected_in_recording(recording, analysis, own, class_names))
        seen.add(place)

    results = list(identify_file(path, site=site, after=look)) if known else []
    failed = {str(one) for one in results if isinstance(one, Failure)}
    if any(one.place not in seen for one in known):
        found += failed or [f"{one}: the file has no such recording" for one in known if one.place not in seen]
    return found


def _find_corrected_in_recording(
    recording: RecordingSource, analysis: Analysis, corrections: Sequence[Correction], class_names: Collection[str]
) -> "Iterator[CorrectedEvent | str]":
    for correction in corrections:
        event = _find_corrected_event(analysis, correction)
        possible = () if event is None else possible_labels(analysis, event, class_names)
        if event is None:
            yield f"{correction}: there is no such event (was it analyzed with another site file?)"
        elif correction.label not in class_names:
            yield f"{correction}: the model has no class {correction.label!r}"
        elif not possible:
            yield f"{correction}: it is left to the rules ({event.agreement})"
        elif correction.label not in possible:
            yield (
                f"{correction}: {in_words(correction.label)!r} contradicts the measurements "
                f"(possible: {', '.join(map(in_words, possible))})"
            )
        else:
            rate = analysis.sampling_rate
            frequency = analysis.frequency
            first, stop = (round(moment * rate) for moment in event.window)
            channel = next(one for one in analysis.references if one.number == event.event.worst.number)
            capture = read_window_samples(recording, channel.number, channel.volts, frequency, first, stop)
            yield CorrectedEvent(correction, capture, rate, frequency, possible)


def _find_corrected_event(analysis: Analysis, correction: Correction) -> EventResult | None:
    """The event of the same type and channels that starts nearest."""
    old = correction.found.event
    like = [
        one
        for one in analysis.events
        if one.event.type == old.type and tuple(map(file_text, one.event.channels)) == old.channels
    ]
    best = min(like, key=lambda one: abs(one.event.start - old.start), default=None)
    return best if best is not None and abs(best.event.start - old.start) <= _NEAR / analysis.frequency else None
