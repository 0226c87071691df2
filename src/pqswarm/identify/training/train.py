"""Train a model on generated events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np

from pqswarm import __version__
from pqswarm._base.random import checked_seed
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, unknown_name
from pqswarm.evaluation import CLASSIFIERS, Classifier
from pqswarm.events import Preset, check_snr, get_preset
from pqswarm.events.training import TRAINING_CLASSES
from pqswarm.identify.features.capture import MEASURES
from pqswarm.identify.features.compute import BANDWIDTHS, FEATURES, feature_upper_frequencies
from pqswarm.identify.features.shapes import WHOLE
from pqswarm.identify.model import CODES, FeatureSubset, Model, ModelTrainingTable, scale_for_model
from pqswarm.identify.training.calibration import (
    calibration_log_priors,
    combine_calibrated_scores,
    cross_validated_distances,
    cross_validated_scores,
    fit_estimator_to_calibrate,
    fit_weights,
)
from pqswarm.identify.training.corrected import (
    count_corrected_events_followed,
    describe_corrected_events,
    find_corrected,
    make_corrected,
    read_corrections,
)
from pqswarm.identify.training.corrections import Correction
from pqswarm.identify.training.specs import TRAINING_EVENTS, TRAINING_SNR, Progress, make_training_events
from pqswarm.recordings import Site

_HYPERPARAMETERS: Mapping[str, Mapping[str, float]] = {
    "kernel-nb": {"bandwidth": 0.01, "floor": 0.0005},
    "k-nn": {"n_neighbors": 5},
}  # of classifiers whose own defaults are those of the paper's study, on fewer and more uniform events
_KNOTS = 129
_USUAL = 0.99
"""Fraction of the training events that count as like the others."""


def train(
    preset: str | Preset = "training",
    events_per_class: int = 150,
    classifier: str | Classifier = "kernel-nb",
    subset: Sequence[str] | BoolArray | None = None,
    search: str | None = None,
    *,
    max_evaluations: int = 5000,
    snr: Sequence[float] = TRAINING_SNR,
    corrections: str | Path | Correction | Iterable[str | Path | Correction] | None = None,
    site: Site | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train a model on generated events and on corrected recorded ones.

    Events of ``"training"`` (:func:`pqswarm.events.training.record_event`) are generated for each bandwidth, as
    recorders of that bandwidth see them, and have no wavelet features. Events of a preset are generated once, at its
    rate; a narrower bandwidth uses fewer of their features.

    Parameters
    ----------
    preset : str or Preset
        ``"training"``, or the ranges of the events: a name of :data:`pqswarm.events.PRESETS`, the path of a TOML file,
        or one of your own.
    events_per_class : int
        Events of each class, at least 10; of ``"training"`` for each bandwidth, four times as many without disturbance.
    classifier : str or Classifier
        Name in :data:`pqswarm.evaluation.CLASSIFIERS`, or one with your own hyperparameters. Features are scaled by
        their quantiles. The estimator must have `predict_proba`.
    subset : sequence of str, or of bool, optional
        Features to use: names, or a mask over :data:`pqswarm.identify.FEATURES`; by default all.
    search : str, optional
        Algorithm (:data:`pqswarm.search.ALGORITHMS`) that searches for the best subset of these, for each bandwidth.
    max_evaluations : int
        Budget of each search.
    snr : sequence of float
        Noise levels [dB], assigned to the events in turn; empty for those of the preset.
    corrections : str, Path, Correction, or an iterable of these, optional
        Folders of archives (:class:`pqswarm.identify.Archive`) or single corrections; the last one of an event applies.
        Each corrected event is added, with variants, as 5 % of `events_per_class` at the bandwidth of its recording and
        as 2 % at narrower ones; all of a class as at most 50 %. Everything else is chosen without them. A warning names
        each correction that cannot be used.
    site : Site, optional
        Site of corrected recordings whose station has none in the archive.
    seed : int
        The same seed and corrections, in any order, give the same model.
    n_jobs : int or None
        Threads; None or -1 uses all cores.
    progress : callable, optional
        Called with (stage, done, total).

    Returns
    -------
    Model
        The model.

    Examples
    --------
    >>> some = get_preset("field").with_classes(["sag", "swell", "harmonics"])
    >>> train(some, events_per_class=10, subset=["rms.minimum", "rms.maximum", "harmonic.5"])
    <Model: kernel-nb, 30 events of 3 classes, preset 'field, 3 classes', seed 0>
    """
    chosen = TRAINING_EVENTS if preset == TRAINING_EVENTS else get_preset(preset)
    learner = _make_training_classifier(classifier)
    wanted = _read_training_subset(subset)
    levels = tuple(check_snr(level) for level in snr)
    if search is not None:
        from pqswarm.search.registry import search_class

        search_class(search)
    class_names = TRAINING_CLASSES if isinstance(chosen, str) else chosen.classes
    listed = read_corrections(corrections)
    corrected = find_corrected(listed, class_names, site, progress)
    features: FloatArray = np.empty((0, 0))
    labels: IntArray = np.empty(0, dtype=np.int64)
    subsets: list[FeatureSubset] = []
    tables: list[ModelTrainingTable] = []
    for number, highest in enumerate(BANDWIDTHS):
        allowed = wanted & (feature_upper_frequencies() <= highest)
        if isinstance(chosen, str):
            allowed &= np.isin(FEATURES, list(MEASURES))
        if isinstance(chosen, str) or not number:
            made = make_training_events(
                chosen,
                events_per_class,
                levels,
                checked_seed(seed),
                bandwidth=number,
                n_jobs=n_jobs,
                progress=progress,
                minimum=10,
            )
            features, labels = made[:2]
        elif number:
            allowed &= ~np.isin(FEATURES, WHOLE)  # these events would have other values at that bandwidth
        if not allowed.any():
            break
        more, more_labels = make_corrected(
            corrected,
            class_names,
            set(labels.tolist()),
            events_per_class,
            checked_seed(seed),
            bandwidth=number,
            wavelet=not isinstance(chosen, str),
        )
        one, table = _learn(
            features[:, allowed],
            labels,
            np.array(FEATURES)[allowed],
            len(class_names),
            learner,
            search,
            max_evaluations,
            seed,
            n_jobs,
            (more[:, allowed], more_labels),
        )
        # Events of a preset are too similar to define what is unlike them.
        farthest = one.farthest if isinstance(chosen, str) else inf
        subsets.append(replace(one, highest=float(highest), farthest=farthest))
        tables.append(table)
        if progress is not None:
            progress("bandwidths", number + 1, len(BANDWIDTHS))
    if not subsets:
        raise PqswarmError("subset has no feature that a model can use.")
    model = Model(
        class_names=class_names,
        subsets=tuple(subsets),
        tables=tuple(tables),
        classifier=learner,
        origin={
            "preset": chosen if isinstance(chosen, str) else chosen.name,
            "seed": seed,
            "events_per_class": events_per_class,
            "snr": ["inf" if level == inf else level for level in levels],
            "search": search or "",
            "max_evaluations": max_evaluations if search else 0,
            **describe_corrected_events([one.correction for one in corrected]),
            "pqswarm": __version__,
            "numpy": np.__version__,
        },
    )
    return replace(model, origin={**model.origin, **count_corrected_events_followed(model, corrected)})


def _make_training_classifier(given: str | Classifier) -> Classifier:
    made = given if isinstance(given, Classifier) else CLASSIFIERS.find(given)(_HYPERPARAMETERS.get(given))
    varied = np.eye(2).repeat(20, axis=0) + 0.1 * np.sin(np.arange(80.0)).reshape(40, 2)
    fit_estimator_to_calibrate(made, varied, np.arange(2).repeat(20))  # fails early if it cannot be used
    return made


def _read_training_subset(subset: Sequence[str] | BoolArray | None) -> BoolArray:
    if subset is None:
        return np.ones(len(FEATURES), dtype=np.bool_)
    given = np.asarray(subset)
    if given.dtype == np.bool_ and given.shape == (len(FEATURES),):
        mask: BoolArray = given.astype(np.bool_)
    else:
        for name in given.tolist():
            if name not in FEATURES:
                raise unknown_name("feature", name, FEATURES)
        mask = np.isin(FEATURES, given)
    if not mask.any():
        raise PqswarmError("subset must name at least one feature.")
    return mask


def _learn(
    features: FloatArray,
    labels: IntArray,
    names: AnyArray,
    n_classes: int,
    classifier: Classifier,
    search: str | None,
    max_evaluations: int,
    seed: int,
    n_jobs: int | None,
    corrected: tuple[FloatArray, IntArray],
) -> tuple[FeatureSubset, ModelTrainingTable]:
    """Choose a subset by generated events, with error, temperature, weight, distance, and its training events."""
    from pqswarm.evaluation import Folds
    from pqswarm.search import minimize

    knots = np.quantile(features, np.linspace(0, 1, _KNOTS), axis=0).T.astype(np.float32).astype(np.float64)
    codes, more = (
        np.round(scale_for_model(rows, knots) * CODES).astype(np.uint16) for rows in (features, corrected[0])
    )
    data = codes / CODES
    folds = Folds.stratified(labels, seed=seed)
    mask = np.ones(names.size, dtype=np.bool_)
    if search is not None:
        own = np.unique(labels, return_inverse=True)[1]
        evaluator = classifier.evaluator(data, own, folds, scaling="none", n_jobs=n_jobs)
        mask = minimize(search, evaluator, max_evaluations, seed).mask
    chosen = data[:, mask]
    first, second = cross_validated_scores(classifier, chosen, labels, folds, n_classes)
    priors = calibration_log_priors(labels, n_classes)
    temperature, weight = fit_weights(first, second, priors, labels)
    error = float(
        np.mean(combine_calibrated_scores(first, second, priors, temperature, weight).argmax(axis=1) != labels)
    )
    farthest = float(np.quantile(cross_validated_distances(chosen, folds), _USUAL))
    found = FeatureSubset(0.0, tuple(names[mask].tolist()), temperature, error, weight, round(farthest, 6))
    return found, ModelTrainingTable(
        np.vstack([codes, more])[:, mask], np.concatenate([labels, corrected[1]]), knots[mask]
    )
