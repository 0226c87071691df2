"""A model and its file: features of training events, and the classifier fitted to them for a recording's bandwidth."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from pqswarm._base.array_file import ArrayFile
from pqswarm._base.checks import is_finite, is_integer
from pqswarm._base.files import opening_only_inside
from pqswarm._base.text import printable
from pqswarm._base.typing import AnyArray, BoolArray, FloatArray, IntArray
from pqswarm.errors import FileFormatError, PqswarmError, shorten
from pqswarm.evaluation import CLASSIFIERS, Classifier, Folds
from pqswarm.events.classes import is_name
from pqswarm.identify.features import FEATURES, feature_upper_frequencies

_SHRINKAGE = 1e-3
_DOUBT = 0.02  # tuned
"""Fraction of a uniform distribution in probabilities that may be 0, such as those of few votes."""
_BEYOND = 0.25  # tuned
"""Limit of how far a scaled feature lies outside 0 ... 1: ratios of a voltage without noise have no bounds."""
CODES = 65535
COARSE_CODES = 255
"""A scaled feature is stored as an integer from 0 to this; one of a distance alone is coarse."""
_MAX_TEXT = 500
_MAX_NUMBER = 2.0**64
"""Limits of the metadata of a model: characters of a text, and numbers."""
_FILE = ArrayFile(
    format="pqswarm model",
    what="model",
    version=3,
    command="pqswarm train",
    keys={
        "class_names": list,
        "subsets": list,
        "classifier": str,
        "hyperparameters": dict,
        "origin": dict,
    },
    arrays={"codes": "<u2", "others": "|u1", "labels": "|u1", "knots": "<f4"},
    limit=200_000_000,
)
_MAX_CLASSES = 200
_MAX_DISTANCE = 1e6


@dataclass(frozen=True, eq=False)
class ModelDiscriminant:
    """Fisher's discriminant: normal densities with a common covariance, slightly shrunk toward a sphere.

    `weights` (3 n_features, n_classes) are those of each feature, its square, and its distance from the middle; `bias`
    of a class without events is minus infinity.
    """

    weights: FloatArray
    bias: FloatArray

    @classmethod
    def fit(cls, data: FloatArray, labels: IntArray, n_classes: int) -> "ModelDiscriminant":
        """Fit it to features scaled to 0 ... 1."""
        own = np.unique(labels)
        means, covariance = _model_class_moments(data, labels)
        solved = np.linalg.solve(covariance, means.T)
        weights = np.zeros((len(covariance), n_classes))
        bias = np.full(n_classes, -np.inf)
        weights[:, own] = solved
        bias[own] = -0.5 * np.einsum("ij,ji->i", means, solved)
        return cls(weights, bias)

    def log_scores(self, rows: FloatArray) -> FloatArray:
        """Return the logarithm of the probability of each class, (n, n_classes), if all are equally frequent."""
        scores = _expand_model_features(rows) @ self.weights + self.bias
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))


def _expand_model_features(data: FloatArray) -> FloatArray:
    return np.hstack([data, data**2, np.abs(data - 0.5)])


def _model_class_moments(data: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of the expanded features of each class with events, and their common covariance, shrunk."""
    expanded = _expand_model_features(data)
    own, places = np.unique(labels, return_inverse=True)
    means = np.array([expanded[labels == label].mean(axis=0) for label in own])
    rest = expanded - means[places]
    covariance = rest.T @ rest / max(len(labels) - own.size, 1)
    covariance[np.diag_indices_from(covariance)] += _SHRINKAGE * np.trace(covariance) / len(covariance) + 1e-9
    return means, covariance


@dataclass(frozen=True, eq=False)
class ModelDistance:
    """Mahalanobis distance to the nearest class, by which an event is unknown, divided by the root of the dimension.

    The expanded features times `whitening` have unit covariance within a class, and are `means` on average. An event
    that was learned often changes the covariance so much that it is never far away.
    """

    whitening: FloatArray
    means: FloatArray

    @classmethod
    def fit(cls, data: FloatArray, labels: IntArray) -> "ModelDistance":
        """Fit it to features scaled to 0 ... 1."""
        means, covariance = _model_class_moments(data, labels)
        whitening = np.linalg.inv(np.linalg.cholesky(covariance)).T
        return cls(whitening, means @ whitening)

    def to_nearest(self, rows: FloatArray) -> FloatArray:
        """Return the distance of each event, (n,)."""
        white = _expand_model_features(rows) @ self.whitening
        return np.asarray(np.sqrt(np.array([((self.means - row) ** 2).mean(axis=1).min() for row in white])))


def fit_model_estimator(classifier: Classifier, data: FloatArray, labels: IntArray) -> Any:
    """Return the estimator of a classifier, fitted to scaled features; it must have `predict_proba`."""
    estimator = classifier.estimator()
    if not hasattr(estimator, "predict_proba"):
        raise PqswarmError(f"{classifier.describe()} gives no probabilities, which a model needs.")
    return estimator.fit(data, labels)


def model_log_scores(estimator: Any, rows: FloatArray) -> FloatArray:
    """Return log-scores of classes (n, n_classes), up to a constant: probabilities would underflow."""
    if hasattr(estimator, "predict_joint_log_proba"):
        return np.asarray(estimator.predict_joint_log_proba(rows))
    probabilities = estimator.predict_proba(rows)
    return np.asarray(np.log((1 - _DOUBT) * probabilities + _DOUBT / probabilities.shape[1]))


@dataclass(frozen=True, eq=False)
class ModelExperts:
    """A fitted classifier and a linear discriminant on the same features, which also models their correlation."""

    estimator: Any
    discriminant: ModelDiscriminant
    priors: FloatArray

    @classmethod
    def fit(cls, classifier: Classifier, data: FloatArray, labels: IntArray, n_classes: int) -> "ModelExperts":
        """Fit both to scaled features."""
        return cls(
            fit_model_estimator(classifier, data, labels),
            ModelDiscriminant.fit(data, labels, n_classes),
            model_log_priors(labels, n_classes),
        )

    def both(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihoods of both, up to a constant; minus infinity for classes without events."""
        own = np.asarray(self.estimator.classes_, dtype=np.int64)
        found = model_log_scores(self.estimator, rows) - self.priors[own]
        scores = np.full((len(rows), self.priors.size), -np.inf)
        scores[:, own] = found - found.max(axis=1, keepdims=True)
        return scores, self.discriminant.log_scores(rows)

    def scores(self, rows: FloatArray, temperature: float, weight: float) -> FloatArray:
        """Return their sum with the priors, the first divided by the temperature, the second times the weight."""
        return combine_model_scores(*self.both(rows), self.priors, temperature, weight)


def model_log_priors(labels: IntArray, n_classes: int) -> FloatArray:
    """Return the logarithm of the fraction of each class; minus infinity for classes without events."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.bincount(labels, minlength=n_classes) / labels.size))


def combine_model_scores(
    first: FloatArray, second: FloatArray, priors: FloatArray, temperature: float, weight: float
) -> FloatArray:
    """Return the sum of two tables of log-likelihoods and of priors; minus infinity for classes without events."""
    tempered = first / temperature + priors
    return tempered + weight * second if weight > 0 else tempered


def cross_validated_model_scores(
    classifier: Classifier, data: FloatArray, labels: IntArray, folds: Folds, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Return the log-scores of each event by experts that were fitted without its fold, (n, n_classes) each."""
    first, second = np.empty((len(labels), n_classes)), np.empty((len(labels), n_classes))
    for train, test in folds.split():
        first[test], second[test] = ModelExperts.fit(classifier, data[train], labels[train], n_classes).both(data[test])
    return first, second


def cross_validated_model_distances(data: FloatArray, labels: IntArray, folds: Folds) -> FloatArray:
    """Return the distance of each event to the nearest class of the other folds."""
    distances = np.empty(len(data))
    for train, test in folds.split():
        distances[test] = ModelDistance.fit(data[train], labels[train]).to_nearest(data[test])
    return distances


def model_probabilities(scores: FloatArray) -> FloatArray:
    """Turn log-scores (n, n_classes) into probabilities."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_model_weights(
    first: FloatArray, second: FloatArray, priors: FloatArray, labels: IntArray
) -> tuple[float, float]:
    """Return temperature and weight of :meth:`ModelExperts.scores` under which true classes are most likely."""

    def loss(temperature: float, weight: float) -> float:
        probabilities = model_probabilities(combine_model_scores(first, second, priors, temperature, weight))
        return float(-np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-12)).mean())

    pairs = [
        (round(float(temperature), 4), weight)
        for temperature in np.geomspace(0.5, 50.0, 60)
        for weight in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    ]
    return min(pairs, key=lambda pair: loss(*pair))


@dataclass(frozen=True)
class FeatureSubset:
    """The features to use for recordings of a certain bandwidth.

    Attributes
    ----------
    highest : float
        Highest frequency that they use, in multiples of the fundamental.
    names : tuple of str
        The features of the classifier.
    temperature : float
        Divides the log-probabilities of the classifier, so that its confidence matches its accuracy.
    error : float
        Cross-validated error on the training events.
    discriminant : float
        Weight of the added log-probabilities of a linear discriminant; 0 for none.
    farthest : float
        Mahalanobis distance to the nearest class above which an event is unknown: 99 % of the training events are
        closer to a class of the other folds. Infinite for models of a preset.
    others : tuple of str
        Further features of that distance: what does not help to tell the classes apart may tell that it is none.
    """

    highest: float
    names: tuple[str, ...]
    temperature: float
    error: float
    discriminant: float = 0.0
    farthest: float = inf
    others: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Features of the training events: those of the classifier first."""
        return self.names + self.others


@dataclass(frozen=True, eq=False)
class ModelTrainingTable:
    """The training events of a subset: scaled features as integers, `codes` and `others` (n_events, ...), and classes.

    `knots` (n_features, n_knots) are evenly spaced quantiles of each feature, ascending, which map it to 0 ... 1.
    """

    codes: AnyArray
    others: AnyArray
    labels: IntArray
    knots: FloatArray

    @property
    def data(self) -> FloatArray:
        """The scaled features of the classifier."""
        return self.codes / CODES

    @property
    def all_data(self) -> FloatArray:
        """The scaled features of the classifier, then the others."""
        return np.hstack([self.data, self.others / COARSE_CODES])


@dataclass(frozen=True, eq=False)
class Prediction:
    """Probabilities of the classes of some events.

    Attributes
    ----------
    class_names : tuple of str
        The classes.
    probabilities : ndarray of shape (n, n_classes)
        Rows sum to 1.
    known : ndarray of bool, shape (n,)
        False for an event unlike all training events, whose probabilities mean little.
    """

    class_names: tuple[str, ...]
    probabilities: FloatArray
    known: BoolArray

    @property
    def labels(self) -> IntArray:
        """Most probable class of each event, as a position in `class_names`."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    def best(self, row: int = 0, count: int = 2) -> tuple[tuple[str, float], ...]:
        """Return the most probable classes of one event, with their probabilities.

        Parameters
        ----------
        row : int, default=0
            Index of the event.
        count : int, default=2
            Number of classes.

        Returns
        -------
        tuple of (str, float)
            The most probable first.
        """
        order = np.argsort(-self.probabilities[row], kind="stable")[:count]
        return tuple((self.class_names[i], float(self.probabilities[row, i])) for i in order)


@dataclass(frozen=True, eq=False)
class Model:
    """Training events and how to learn from them; make one with :func:`pqswarm.identify.train`.

    Attributes
    ----------
    class_names : tuple of str
        Classes.
    subsets : tuple of FeatureSubset
        From the widest bandwidth to the narrowest.
    tables : tuple of ModelTrainingTable
        The training events of each subset.
    classifier : Classifier
        With its hyperparameters; it is fitted to the training events when it is first needed.
    origin : mapping of str to Any
        Preset, seed, noise levels, search and versions, for the record.

    Examples
    --------
    >>> model = default_model()
    >>> len(model.class_names), model.classifier.name
    (16, 'kernel-nb')
    """

    class_names: tuple[str, ...]
    subsets: tuple[FeatureSubset, ...]
    tables: tuple[ModelTrainingTable, ...]
    classifier: Classifier
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Model: {self.classifier.name}, {len(self.tables[0].labels)} events of {len(self.class_names)} classes, "
            f"preset {self.origin.get('preset', '')!r}, seed {self.origin.get('seed', '')}>"
        )

    @cached_property
    def digest(self) -> str:
        """A digest of all that its predictions depend on."""
        total = hashlib.sha256(repr((self.class_names, self.subsets, self.classifier.name)).encode())
        total.update(repr(sorted(dict(self.classifier.settings).items())).encode())
        for table in self.tables:
            for array in (table.codes, table.labels, table.knots):
                total.update(array.tobytes())
        return total.hexdigest()

    @cached_property
    def _fitted(self) -> dict[FeatureSubset, tuple[ModelExperts, ModelDistance | None]]:
        return {}

    def subset_for(self, usable: BoolArray | None = None) -> FeatureSubset:
        """Return the widest subset whose features a recording has.

        Parameters
        ----------
        usable : ndarray of bool, shape (n_features,), default=None
            What :func:`pqswarm.identify.usable_features` says; by default all.

        Returns
        -------
        FeatureSubset
            The subset.
        """
        if usable is None:
            return self.subsets[0]
        if np.shape(usable) != (len(FEATURES),):
            raise PqswarmError(f"usable must say yes or no to each of the {len(FEATURES)} features.")
        has = {name for name, yes in zip(FEATURES, usable, strict=True) if yes}
        for subset in self.subsets:
            if has.issuperset(subset.columns):
                return subset
        raise PqswarmError("the sampling rate is too low for the model, which needs eight samples per cycle.")

    def predict(
        self,
        features: FloatArray,
        usable: BoolArray | None = None,
        classes: Collection[str] | None = None,
    ) -> Prediction:
        """Return the probabilities of the classes.

        The classifier is fitted to the training events for the widest subset whose features exist.

        Parameters
        ----------
        features : ndarray of shape (n, n_features) or (n_features,)
            In the order of :data:`pqswarm.identify.FEATURES`.
        usable : ndarray of bool, shape (n_features,), default=None
            Features that the recording has (:func:`pqswarm.identify.usable_features`); by default all.
        classes : collection of str, default=None
            Allowed classes: others have probability 0. By default all.

        Returns
        -------
        Prediction
            Probabilities, the subset used, and whether the event is like any training event.

        Examples
        --------
        >>> from pqswarm.events import generate
        >>> from pqswarm.identify import compute_features
        >>> event = generate("sag", seed=4, preset="field", depth=0.5)
        >>> default_model().predict(compute_features(event.signal, 25_000, event.frequency)).best(count=1)[0][0]
        'sag'
        """
        rows = np.atleast_2d(np.asarray(features, dtype=np.float64))
        if rows.ndim != 2 or rows.shape[1] != len(FEATURES) or not np.isfinite(rows).all():
            raise PqswarmError(f"features must be finite, {len(FEATURES)} for each event.")
        subset = self.subset_for(usable)
        table = self.tables[self.subsets.index(subset)]
        if subset not in self._fitted:
            self._fitted[subset] = (
                ModelExperts.fit(self.classifier, table.data, table.labels, len(self.class_names)),
                ModelDistance.fit(table.all_data, table.labels) if subset.farthest < inf else None,
            )
        experts, distance = self._fitted[subset]
        columns = rows[:, [FEATURES.index(name) for name in subset.columns]]
        scaled = scale_for_model(columns, table.knots)
        scores = experts.scores(scaled[:, : len(subset.names)], subset.temperature, subset.discriminant)
        probabilities = model_probabilities(self._only(scores, classes))
        known = np.ones(len(rows), dtype=np.bool_)
        if distance is not None:
            known = distance.to_nearest(scaled + model_overshoot(columns, table.knots)) <= subset.farthest
        return Prediction(self.class_names, probabilities, known)

    def _only(self, scores: FloatArray, classes: Collection[str] | None) -> FloatArray:
        """Scores with those of other classes at minus infinity."""
        if classes is None:
            return scores
        offered = np.array([name in classes for name in self.class_names])
        if not np.isfinite(scores[:, offered]).any():
            raise PqswarmError("classes must include one that the model knows.")
        return np.asarray(np.where(offered, scores, -np.inf))

    def save(self, path: str | Path) -> Path:
        """Write the model: a zip archive of arrays and a JSON manifest, without pickle.

        Parameters
        ----------
        path : str or Path
            File to write, such as ``model.npz``.

        Returns
        -------
        Path
            The file. The same model gives the same bytes.
        """
        entries = {
            "class_names": self.class_names,
            "subsets": [
                {**vars(subset), "farthest": min(subset.farthest, _MAX_DISTANCE), "events": len(table.labels)}
                for subset, table in zip(self.subsets, self.tables, strict=True)
            ],
            "classifier": self.classifier.name,
            "hyperparameters": self.classifier.settings,
            "origin": dict(self.origin),
        }
        arrays = {
            "codes": np.concatenate([table.codes.ravel() for table in self.tables]),
            "others": np.concatenate([table.others.ravel() for table in self.tables]),
            "labels": np.concatenate([table.labels for table in self.tables]),
            "knots": np.concatenate([table.knots for table in self.tables]),
        }
        return _FILE.write(path, entries, arrays)


def scale_for_model(values: FloatArray, knots: FloatArray) -> FloatArray:
    """Map each column to 0 ... 1: its place among `knots` (n_features, n_knots), quantiles of the training events.

    A value at several equal quantiles is mapped to their middle. It is rounded to single precision, like the knots in a
    file, so that the last bit does not decide on which side it falls.
    """
    places = np.linspace(0.0, 1.0, knots.shape[1])
    found = np.empty(values.shape)
    for j, own in enumerate(knots):
        steps, first, counts = np.unique(own, return_index=True, return_counts=True)
        middle = 0.5 * (places[first] + places[first + counts - 1])
        found[:, j] = np.interp(values[:, j].astype(np.float32), steps, middle)
    return found


def model_overshoot(values: FloatArray, knots: FloatArray) -> FloatArray:
    """Return by how much each value lies outside the knots of its feature, relative to their range, at most 0.25."""
    low, high = knots[:, 0], knots[:, -1]
    beyond = np.maximum(values - high, 0.0) - np.maximum(low - values, 0.0)
    return np.asarray(np.clip(beyond / np.maximum(high - low, 1e-9), -_BEYOND, _BEYOND))


@cache
def default_model() -> Model:
    """Return the bundled model.

    Returns
    -------
    Model
        Trained by ``pqswarm train`` with its defaults.

    Examples
    --------
    >>> default_model().origin["preset"]
    'training'
    """
    path = Path(__file__).with_name("default.npz").resolve()
    with opening_only_inside(path.parent):  # the caller may read a folder of recordings only
        return load_model(path)


def load_model(path: str | Path) -> Model:
    """Read a model that :meth:`Model.save` wrote, checking everything on the way.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    FileFormatError
        If the file is damaged, or is not a pqswarm model.

    Examples
    --------
    >>> import tempfile
    >>> from pqswarm.events import get_preset
    >>> from pqswarm.identify import train
    >>> some = get_preset("field").with_classes(["sag", "swell"])
    >>> model = train(some, events_per_class=10, subset=["rms.minimum", "rms.maximum"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_model(model.save(f"{folder}/small.npz"))
    <Model: kernel-nb, 20 events of 2 classes, preset 'field, 2 classes', seed 0>
    """
    return _FILE.read(path, _assemble_model)


def _read_model_names(given: Any, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise FileFormatError(f"is damaged: its {what} are not names.")
    unknown = [name for name in given if name not in known]
    if unknown or len(set(given)) < len(given):
        some = shorten(unknown[:3])
        raise FileFormatError(f"is damaged, or is from another pqswarm: unknown or repeated {what} {some}.")
    return tuple(given)


def _read_model_class_names(given: list[Any]) -> tuple[str, ...]:
    if not all(is_name(name) for name in given):
        raise FileFormatError("is damaged: its classes are not names.")
    if not 2 <= len(given) <= _MAX_CLASSES or len(set(given)) < len(given):
        raise FileFormatError(f"is damaged: it must have 2 to {_MAX_CLASSES} classes, each once.")
    return tuple(given)


def _read_model_classifier(name: str, settings: dict[str, Any]) -> Classifier:
    """The classifier; estimators by import path, which a file may choose freely, must be of scikit-learn."""
    if name == "estimator" and not str(settings.get("estimator")).startswith("sklearn."):
        raise FileFormatError("is not loaded: its classifier is neither one of pqswarm nor one of scikit-learn.")
    try:
        made = CLASSIFIERS.find(name)(settings)
    except PqswarmError as error:
        reason = shorten(str(error), 300)
        raise FileFormatError(f"is damaged, or its classifier is from another package: {reason}") from error
    if set(made.settings) - set(settings):
        raise FileFormatError(f"is damaged: it lacks hyperparameters of its classifier {shorten(repr(name))}.")
    return made


def _read_model_number(given: Any, low: float, high: float, what: str) -> float:
    if not is_finite(given) or not low <= given <= high:
        raise FileFormatError(f"is damaged: its {what} is not a number from {low:g} to {high:g}.")
    return given


def _read_model_subset(given: Any, known: tuple[str, ...]) -> FeatureSubset:
    if not isinstance(given, dict):
        raise FileFormatError("is damaged: a subset is not a record.")
    names = _read_model_names(given.get("names"), known, "features of a subset")
    highest = _read_model_number(given.get("highest"), 0.0, 1e6, "bandwidth")
    limit = dict(zip(FEATURES, feature_upper_frequencies().tolist(), strict=True))
    others = _read_model_names(given["others"], known, "further features") if given.get("others") else ()
    if set(names) & set(others):
        raise FileFormatError("is damaged: further features of a subset are among its features.")
    if any(limit[name] > highest for name in names + others):
        raise FileFormatError("is damaged: a subset has features beyond its bandwidth.")
    farthest = float(_read_model_number(given.get("farthest", _MAX_DISTANCE), 0.0, _MAX_DISTANCE, "distance"))
    return FeatureSubset(
        highest=float(highest),
        names=names,
        temperature=float(_read_model_number(given.get("temperature"), 1e-3, 1e3, "temperature")),
        error=float(_read_model_number(given.get("error"), 0.0, 1.0, "error")),
        discriminant=float(_read_model_number(given.get("discriminant", 0.0), 0.0, 10.0, "weight")),
        farthest=farthest if farthest < _MAX_DISTANCE else inf,
        others=others,
    )


@np.errstate(invalid="ignore")  # NaN may signal
def _assemble_model(manifest: dict[str, Any], arrays: dict[str, AnyArray]) -> Model:
    class_names = _read_model_class_names(manifest["class_names"])
    if not manifest["subsets"] or len(manifest["subsets"]) > len(FEATURES):
        raise FileFormatError("is damaged: it has no subsets of features.")
    subsets = tuple(_read_model_subset(given, FEATURES) for given in manifest["subsets"])
    classifier = _read_model_classifier(manifest["classifier"], manifest["hyperparameters"])
    labels = arrays["labels"].astype(np.int64)
    knots = arrays["knots"].astype(np.float64)
    is_table = knots.ndim == 2 and knots.shape[1] > 1 and np.isfinite(knots).all()
    if not is_table or not (np.diff(knots, axis=1) >= 0).all():
        raise FileFormatError("is damaged: its scaling is not made of finite, ascending numbers for each feature.")
    if arrays["codes"].ndim != 1 or arrays["others"].ndim != 1:
        raise FileFormatError("is damaged: the features of its events are not in sequence.")
    if labels.ndim != 1 or not labels.size or set(labels.tolist()) != set(range(len(class_names))):
        raise FileFormatError("is damaged: its labels are not those of its classes.")
    tables = _split_model_events(manifest, subsets, arrays["codes"], arrays["others"], labels, knots)
    return Model(class_names, subsets, tables, classifier, _read_model_origin(manifest["origin"]))


def _read_model_origin(said: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a model: texts, numbers, and lists of these."""

    def plain(value: Any) -> Any:
        if isinstance(value, str):
            return printable(value)[:_MAX_TEXT]
        if not isinstance(value, int | float) or not -_MAX_NUMBER < value < _MAX_NUMBER:
            raise FileFormatError("is damaged: its origin is not plain.")
        return value

    return {
        printable(name): [plain(one) for one in value] if isinstance(value, list) else plain(value)
        for name, value in said.items()
    }


def _split_model_events(
    manifest: dict[str, Any],
    subsets: tuple[FeatureSubset, ...],
    codes: AnyArray,
    others: AnyArray,
    labels: IntArray,
    knots: FloatArray,
) -> tuple[ModelTrainingTable, ...]:
    """The training events of each subset, from concatenated arrays."""
    counts = [given.get("events") for given in manifest["subsets"]]
    if not all(is_integer(count) and count > 0 for count in counts):
        raise FileFormatError("is damaged: it does not say how many events its subsets have.")
    parts = (
        _split_model_array(codes, [count * len(one.names) for count, one in zip(counts, subsets, strict=True)]),
        _split_model_array(others, [count * len(one.others) for count, one in zip(counts, subsets, strict=True)]),
        _split_model_array(labels, counts),
        _split_model_array(knots, [len(one.columns) for one in subsets]),
    )
    tables = tuple(
        ModelTrainingTable(own.reshape(count, -1), more.reshape(count, -1), marks, steps)
        for count, own, more, marks, steps in zip(counts, *parts, strict=True)
    )
    if any(np.unique(table.labels).size < 2 for table in tables):
        raise FileFormatError("is damaged: a subset has events of one class only.")
    return tables


def _split_model_array(array: AnyArray, sizes: Sequence[int]) -> list[AnyArray]:
    """The parts of an array that belong to each subset."""
    if array.shape[:1] != (sum(sizes),):
        raise FileFormatError("is damaged: its events, labels and features do not fit together.")
    return np.split(array, np.cumsum(sizes)[:-1])
