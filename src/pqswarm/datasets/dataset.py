"""Data sets of generated events: make, save and load; features at every noise level, labels, the table of events.

``numpy.load`` can also open the arrays of a file.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import TextIOWrapper
from itertools import pairwise, product
from math import floor, inf, isnan, lcm, nan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pqswarm import __version__
from pqswarm._base.array_file import ArrayFile
from pqswarm._base.checks import check_integer
from pqswarm._base.files import write_atomically
from pqswarm._base.random import checked_seed, derived_seed
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, FloatArray, IntArray
from pqswarm.errors import FileFormatError, PqswarmError
from pqswarm.events import (
    EVENT_CLASSES,
    NOISE_LEVELS,
    PARAMETERS,
    SOURCES,
    Event,
    Parameter,
    Preset,
    add_noise,
    check_snr,
    generate,
    get_preset,
    noise_stream,
)
from pqswarm.events.classes import is_name
from pqswarm.events.event import synthesize_event
from pqswarm.events.noise import write_noisy
from pqswarm.events.parameters import RECORD_PARAMETERS, draw_parameters
from pqswarm.features import FUNCTIONS, WINDOW_CYCLES, FeatureOptions, extend, extract, feature_names, minimum_samples


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, labels and events; see :func:`pqswarm.datasets.make_dataset`.

    Attributes
    ----------
    features : ndarray of shape (n_levels, n_events, n_features)
        The features at each noise level.
    snr : tuple of float
        The noise levels [dB].
    y : ndarray of shape (n_events,)
        Labels: positions in `class_names`.
    class_names, feature_names : tuple of str
        What the labels and the columns mean.
    source : ndarray of shape (n_events,)
        Source of each event: positions in :data:`pqswarm.events.SOURCES`.
    seeds : ndarray of shape (n_events,)
        The seed of each event.
    record : ndarray of shape (n_events, 3)
        Sampling rate [Hz], nominal frequency [Hz] and length [cycles] of each event.
    parameter_names : tuple of str
        Columns of `parameters`.
    parameters : ndarray of shape (n_events, n_parameters)
        The parameters of each event; NaN where its class has no such parameter.
    seed : int
        Seed of the data set.
    preset : mapping
        The complete preset.
    version : str
        Version of pqswarm that generated it.
    feature_options : FeatureOptions
        Wavelet, level and border mode of the features.
    """

    features: FloatArray
    snr: tuple[float, ...]
    y: IntArray
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    source: IntArray
    seeds: IntArray
    record: FloatArray
    parameter_names: tuple[str, ...]
    parameters: FloatArray
    seed: int
    preset: Mapping[str, Any]
    version: str
    feature_options: FeatureOptions = field(default_factory=FeatureOptions)

    def __len__(self) -> int:
        return self.y.size

    def __repr__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.snr)
        return (
            f"<Dataset: {len(self)} events of {len(self.class_names)} classes, {len(self.feature_names)} features, "
            f"SNR {levels} dB, preset {self.preset['name']!r}, seed {self.seed}>"
        )

    def X(self, snr: float = inf) -> FloatArray:
        """Return the features at the noise level `snr` [dB], shape (n_events, n_features).

        Examples
        --------
        >>> from pqswarm.datasets import make_dataset
        >>> make_dataset(1, snr=40).X(40).shape
        (14, 99)
        """
        if snr not in self.snr:
            raise PqswarmError(f"the data set has no noise level {snr!r} dB; it has {', '.join(map(str, self.snr))}.")
        return np.asarray(self.features[self.snr.index(snr)])

    def event(self, number: int) -> Event:
        """Regenerate an event from its recorded parameters.

        Examples
        --------
        >>> from pqswarm.datasets import make_dataset
        >>> make_dataset(1, snr=40).event(3).label
        'swell'
        """
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self):
            raise PqswarmError(f"the data set has events 0 to {len(self) - 1}, not {number!r}.")
        label = self.class_names[self.y[number]]
        row = dict(zip(self.parameter_names, self.parameters[number].tolist(), strict=True))
        parameters = {name: value for name, value in row.items() if not isnan(value)}
        source = SOURCES[self.source[number]]
        seed = int(self.seeds[number])
        record = dict(zip(RECORD_PARAMETERS, self.record[number].tolist(), strict=True))
        return Event(
            signal=synthesize_event(label, parameters, source=source, seed=seed, **record),
            label=label,
            parameters=parameters,
            source=source,
            seed=seed,
            preset=self.preset["name"],
            **record,
        )

    def save(self, path: str | Path) -> Path:
        """Write one file atomically, without pickle; see :func:`pqswarm.datasets.load_dataset`."""
        entries = {name: getattr(self, name) for name in _FILE.keys}
        entries["snr"] = ["inf" if level == inf else level for level in self.snr]
        if changed := self.feature_options.changed():
            entries["feature_options"] = changed
        return _FILE.write(path, entries, {name: getattr(self, name) for name in _FILE.arrays})

    def write_csv(self, path: str | Path, snr: float = inf) -> Path:
        """Write one row per event: class, source, seed, record, parameters, features at `snr` [dB]."""
        features = self.X(snr)

        def write(binary: BinaryIO) -> None:
            file = TextIOWrapper(binary, encoding="utf-8", newline="")
            writer = csv.writer(file)
            writer.writerow(["class", "source", "seed", *RECORD_PARAMETERS, *self.parameter_names, *self.feature_names])
            for i in range(len(self)):
                numbers = [*self.record[i], *self.parameters[i], *features[i]]
                cells = ["" if isnan(value) else repr(float(value)) for value in numbers]
                writer.writerow([self.class_names[self.y[i]], SOURCES[self.source[i]], self.seeds[i], *cells])
            file.detach()  # the file stays open

        return write_atomically(path, write)


_FILE = ArrayFile(
    format="pqswarm dataset",
    what="data set",
    version=1,
    command="pqswarm dataset",
    keys={
        "version": str,
        "seed": int,
        "preset": dict,
        "snr": list,
        "class_names": list,
        "feature_names": list,
        "parameter_names": list,
    },
    arrays={"features": "<f8", "y": "<i8", "source": "<i8", "seeds": "<i8", "record": "<f8", "parameters": "<f8"},
)

_ANY = Parameter("", "", "")


def load_dataset(path: str | Path) -> Dataset:
    """Read a data set that :meth:`Dataset.save` wrote, and check it completely.

    A file that is damaged, or is not a pqswarm data set, raises a FileFormatError.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.datasets import make_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_dataset(make_dataset(1, snr=40).save(f"{folder}/small.npz"))
    <Dataset: 14 events of 14 classes, 99 features, SNR 40 dB, preset 'paper', seed 0>
    """
    return _FILE.read(path, _build_dataset)


def _build_dataset(manifest: dict[str, Any], arrays: dict[str, AnyArray]) -> Dataset:
    if not isinstance(manifest["preset"].get("name"), str):
        raise FileFormatError("is damaged: the preset of its manifest has no name.")
    try:
        snr = tuple(check_snr(inf if level == "inf" else level) for level in manifest["snr"])
    except PqswarmError:
        raise FileFormatError("is damaged: its noise levels are not numbers.") from None
    if len(set(snr)) < len(snr):
        raise FileFormatError("is damaged: a noise level appears twice.")
    level = len(manifest["feature_names"]) // len(FUNCTIONS) - 1
    if tuple(manifest["feature_names"]) != feature_names(level):
        raise FileFormatError("is damaged, or from another version of pqswarm: its features have other names.")
    try:
        options = FeatureOptions.of(manifest.get("feature_options", {}))
    except PqswarmError as error:
        raise FileFormatError(f"is damaged, or from another version of pqswarm: {error}") from None
    for kind in ("class_names", "parameter_names"):
        if not all(map(is_name, manifest[kind])) or len(set(manifest[kind])) < len(manifest[kind]):
            raise FileFormatError(f"is damaged: the {kind!r} of its manifest are not distinct names.")
    _check_dataset_arrays(manifest, arrays, len(snr))
    return Dataset(
        **arrays,
        snr=snr,
        class_names=tuple(manifest["class_names"]),
        feature_names=tuple(manifest["feature_names"]),
        parameter_names=tuple(manifest["parameter_names"]),
        seed=manifest["seed"],
        preset=manifest["preset"],
        version=manifest["version"],
        feature_options=options,
    )


def _check_dataset_arrays(manifest: dict[str, Any], arrays: dict[str, AnyArray], n_levels: int) -> None:
    n = arrays["y"].size
    shapes = {
        "features": (n_levels, n, len(manifest["feature_names"])),
        "y": (n,),
        "source": (n,),
        "seeds": (n,),
        "record": (n, 3),
        "parameters": (n, len(manifest["parameter_names"])),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise FileFormatError(f"is damaged: {name!r} has shape {arrays[name].shape}, not {shape}.")
    for name, limit in (("y", len(manifest["class_names"])), ("source", len(SOURCES))):
        if n and not (arrays[name].min() >= 0 and arrays[name].max() < limit):
            raise FileFormatError(f"is damaged: {name!r} has values outside 0 to {limit - 1}.")
    if not np.isfinite(arrays["features"]).all():
        raise FileFormatError("is damaged: it holds features that are not finite.")
    for names, values in ((RECORD_PARAMETERS, arrays["record"]), (manifest["parameter_names"], arrays["parameters"])):
        for name, column in zip(names, values.T, strict=True):
            given = column[~np.isnan(column)] if values is arrays["parameters"] else column
            allowed = PARAMETERS.get(name, _ANY)  # parameters of plugins may be unknown here
            if not ((given >= allowed.low) & (given <= allowed.high)).all():
                raise FileFormatError(f"is damaged: it holds impossible values of {name}.")


MAX_PER_CLASS = 100_000
"""Maximum number of events of each class."""


@dataclass(frozen=True)
class EventSpec:
    """An event of a preset to generate; `snr` [dB] replaces the noise of the preset."""

    event_class: str
    source: str
    seed: int
    preset: Preset
    snr: float | None = None

    def make(self) -> Event:
        """Generate the event."""
        own = self.snr is not None and "snr" in self.preset.ranges(self.event_class, self.source)
        noise = {"snr": self.snr} if self.snr is not None and own else {}
        event = generate(self.event_class, self.seed, self.preset, source=self.source, **noise)
        if self.snr is None or own:
            return event
        stream = noise_stream(self.seed, self.snr, own=True)
        return replace(event, signal=add_noise(event.signal, self.snr, stream))


def event_specs(
    preset: Preset,
    events_per_class: int,
    seed: int,
    family: tuple[int, ...] = (),
    snr: Sequence[float] = (),
    minimum: int = 1,
) -> list[EventSpec]:
    """List the events of a preset, class by class; those of the bench are spread evenly.

    An event depends only on (seed, family, class, number): different families have different seeds. The noise levels
    `snr` [dB], if any, alternate. At least `minimum` events per class are required.
    """
    count = check_integer("events_per_class", events_per_class, minimum, MAX_PER_CLASS)
    specs = []
    for event_class in preset.classes:
        word = EVENT_CLASSES.find(event_class).seed_word
        from_bench = preset.fraction_from_bench(event_class)
        quota = [floor(from_bench * i + 1e-9) for i in range(count + 1)]
        for number, (before, after) in enumerate(pairwise(quota)):
            level = snr[number % len(snr)] if snr else None
            source = "bench" if after > before else "model"
            specs.append(EventSpec(event_class, source, derived_seed(seed, (*family, word, number)), preset, level))
    return specs


Progress = Callable[[int, int], None]

_EVENTS_PER_TASK = 16


def make_dataset(
    events_per_class: int = 250,
    snr: float | Sequence[float] = NOISE_LEVELS,
    seed: int = 0,
    preset: str | Preset = "paper",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    features: FeatureOptions | Mapping[str, Any] | None = None,
) -> Dataset:
    """Generate events of all classes of a preset and extract their features at every noise level.

    Every noise level has the same events. An event depends only on (seed, class, number), its noise on the event and
    the level: a larger data set starts, class by class, with the events of a smaller one, and the result does not
    depend on `n_jobs`. Waveforms are not stored. Captures shorter than the paper's window of 30 cycles are lengthened
    with :func:`pqswarm.features.extend`.

    Parameters
    ----------
    events_per_class : int, default=250
        Events of each class; the paper has 250, which gives 3500 events of its 14 classes.
    snr : float or sequence of float, default=(inf, 50, 45, 40, 35, 30, 25, 20)
        Signal-to-noise ratios [dB]; infinity is the event without added noise.
    seed : int, default=0
        Non-negative seed of the data set.
    preset : str or Preset, default="paper"
        ``"paper"``, ``"paper-grid"``, ``"paper-printed"``, ``"field"``, a TOML file, or a :class:`Preset`.
        A tenth of all events come from the simulated test bench, spread over the classes that it can produce.
    n_jobs : int or None, default=None
        Threads; None or -1 uses all cores, or those granted to a worker process.
    progress : callable, default=None
        Called from time to time with the number of events done and the total.
    features : FeatureOptions or mapping, default=None
        Another wavelet, level or border mode, such as ``{"wavelet": "db4"}``.

    Returns
    -------
    Dataset
        Features, labels, and the table of events.

    Examples
    --------
    >>> dataset = make_dataset(events_per_class=3, snr=[float("inf"), 30])
    >>> dataset.X(snr=30).shape, dataset.y.shape
    ((42, 99), (42,))
    """
    chosen = get_preset(preset)
    options = FeatureOptions.of(features)
    levels = _check_noise_levels(snr)
    seed = checked_seed(seed)
    specs = event_specs(chosen, events_per_class, seed)
    events, values = _produce_dataset(specs, levels, options, effective_jobs(n_jobs), progress)
    names = sorted({name for event in events for name in event.parameters})
    return Dataset(
        features=values,
        snr=levels,
        y=np.array([chosen.classes.index(event.label) for event in events], dtype=np.int64),
        class_names=chosen.classes,
        feature_names=feature_names(values.shape[2] // len(FUNCTIONS) - 1),
        source=np.array([SOURCES.index(event.source) for event in events], dtype=np.int64),
        seeds=np.array([event.seed for event in events], dtype=np.int64),
        record=np.array([(event.sampling_rate, event.frequency, event.cycles) for event in events]),
        parameter_names=tuple(names),
        parameters=np.array([[event.parameters.get(name, nan) for name in names] for event in events]),
        seed=seed,
        preset=chosen.as_dict(),
        version=__version__,
        feature_options=options,
    )


def count_features(preset: Preset, options: FeatureOptions) -> int:
    """Return the number of features of the preset's events, or raise an error if they cannot be extracted."""
    counts = set()
    for source, classes in zip(SOURCES, (preset.models, preset.bench), strict=True):
        for label in classes:
            common = {name: spec for name, spec in preset.ranges(label, source).items() if name in RECORD_PARAMETERS}
            for uniforms in product((0.0, 1.0 - 2.0**-53), repeat=len(RECORD_PARAMETERS)):
                rate, frequency, cycles = (
                    draw_parameters(common, list(uniforms), {})[name] for name in RECORD_PARAMETERS
                )
                counts.add(options.n_features(rate, frequency))
                level = options.level_at(rate, frequency)
                n = round(max(cycles, WINDOW_CYCLES) / frequency * rate)
                if n < minimum_samples(level, options.wavelet):
                    raise PqswarmError(
                        f"features: events of {n} samples are too short for {options.wavelet} to level {level}, which "
                        f"needs {minimum_samples(level, options.wavelet)}: lower the level, or use a shorter wavelet."
                    )
    return _dataset_feature_count(counts, preset.name)


def _dataset_feature_count(counts: set[int], name: str) -> int:
    """The number of features that all events have."""
    if len(counts) > 1:
        raise PqswarmError(
            f"the events of preset {name!r} have different numbers of features {sorted(counts)}, because their "
            f"sampling rates and frequencies require different wavelet levels: keep both within one octave, or fix the "
            f"level."
        )
    return next(iter(counts))


def _check_noise_levels(snr: float | Sequence[float]) -> tuple[float, ...]:
    several = isinstance(snr, Sequence | np.ndarray) and not isinstance(snr, str | bytes) and np.ndim(snr) > 0
    given: Sequence[object] = snr if several else [snr]  # type: ignore[assignment]
    levels = tuple(check_snr(level) for level in given)
    if not levels or len(set(levels)) < len(levels):
        raise PqswarmError(f"snr must name at least one noise level, each once, not {snr!r}.")
    return levels


def _produce_dataset(
    specs: list[EventSpec],
    levels: tuple[float, ...],
    options: FeatureOptions,
    n_jobs: int,
    progress: Progress | None,
) -> tuple[list[Event], FloatArray]:
    """Generate events and features in threads: all heavy parts release the interpreter lock."""
    from joblib import Parallel, delayed

    import pqswarm._kernels.lanes  # noqa: F401 (in one thread: if it fails, others would see half a module)

    tasks = [specs[i : i + _EVENTS_PER_TASK] for i in range(0, len(specs), _EVENTS_PER_TASK)]
    results = Parallel(n_jobs=min(n_jobs, len(tasks)), backend="threading", return_as="generator")(
        delayed(_produce_dataset_events)(task, levels, options) for task in tasks
    )
    events: list[Event] = []
    features: list[FloatArray] = []
    for some_events, some_features in results:
        events += some_events
        features += some_features
        if progress is not None:
            progress(len(events), len(specs))
    _dataset_feature_count({matrix.shape[1] for matrix in features}, specs[0].preset.name)
    return events, np.stack(features, axis=1)


def _produce_dataset_events(
    specs: list[EventSpec], levels: tuple[float, ...], options: FeatureOptions
) -> tuple[list[Event], list[FloatArray]]:
    """Generate some events, and for each a matrix with one row of features per noise level."""
    from pqswarm._kernels.lanes import LANES

    events = [spec.make() for spec in specs]
    features: list[FloatArray] = [np.empty((0, 0))] * len(events)
    alike: dict[tuple[float, float, int], list[int]] = {}
    for i, event in enumerate(events):
        # The same window length and bands.
        length = max(round(WINDOW_CYCLES / event.frequency * event.sampling_rate), event.signal.size)
        alike.setdefault((event.sampling_rate, event.frequency, length), []).append(i)
    for (sampling_rate, frequency, n_samples), numbers in alike.items():
        together = min(lcm(LANES, len(levels)) // len(levels), len(numbers))
        windows = np.empty((together, len(levels), n_samples))  # of a few events, which stay in fast memory
        for first in range(0, len(numbers), together):
            some = numbers[first : first + together]
            for i, rows in zip(some, windows, strict=False):
                _fill_dataset_windows(events[i], levels, rows)
            rows = windows[: len(some)].reshape(-1, n_samples)
            for i, matrix in zip(
                some, np.split(extract(rows, sampling_rate, frequency, options), len(some)), strict=True
            ):
                features[i] = matrix
    return [replace(event, signal=np.empty(0)) for event in events], features


def _fill_dataset_windows(event: Event, levels: tuple[float, ...], windows: FloatArray) -> None:
    """Write the window of an event at each noise level."""
    whole = event.signal.size == windows.shape[1]
    noisy = np.empty(event.signal.size)
    for level, window in zip(levels, windows, strict=True):
        write_noisy(event.signal, level, event.seed, window if whole else noisy)
        if not whole:
            window[:] = extend(noisy, event.sampling_rate, event.frequency)
