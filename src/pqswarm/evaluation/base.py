"""The common part of all evaluators: checked data and masks, scaling, threads, memory, and devices.

Exact evaluators compute on the CPU, or on an NVIDIA GPU through CuPy; nothing falls back to the CPU silently.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from typing import Any, ClassVar, Generic, TypedDict, TypeVar, Unpack, cast

import numpy as np

from pqswarm._base.checks import check_name
from pqswarm._base.threads import effective_jobs
from pqswarm._base.typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from pqswarm.errors import PqswarmError, how_to_install, unknown_name
from pqswarm.evaluation.folds import CrossValidation, Folds
from pqswarm.evaluation.scaling import SCALINGS, WITHIN_FOLDS, Scaling, scale_for_fold

MAX_TABLE_BYTES = 4 * 2**30
"""Bytes that an evaluator keeps beyond the features, such as copies scaled in each fold."""

MAX_BATCH_BYTES = 2**27
"""Bytes of the predictions of a batch of subsets; larger batches are cut."""

MAX_SOLVED_BYTES = 2**30
"""Bytes of the systems of equations of a subset that a thread solves together."""
_LARGEST = 1e100  # keeps squares and their sums far from overflow


class SubsetError(PqswarmError):
    """An estimator cannot be used with a subset of the features."""

    @classmethod
    def of(
        cls, estimator: Any, mask: BoolArray | IntArray, error: BaseException, names: Sequence[Any] | None = None
    ) -> "SubsetError":
        """Return the error with the estimator, the features of a mask or list, by name if given, and the reason."""
        places = (np.flatnonzero(mask) if mask.dtype == np.bool_ else mask).tolist()
        features = places if names is None else [names[place] for place in places]
        what = f"{type(estimator).__name__} cannot be used with features {features}"
        return cls(f"{what}: {first_error_line(error)}")


def first_error_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type, as a sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"{lines[0].rstrip('.')}."


def import_member(what: str, module: str, name: str) -> Any:
    """Return a member of a module, which is imported, or raise an error that says why `what` cannot be used."""
    try:
        within = import_module(module)
    except (Exception, SystemExit) as error:  # third-party code may raise anything
        why = f"{module} calls sys.exit." if isinstance(error, SystemExit) else first_error_line(error)
        if isinstance(error, ModuleNotFoundError):
            why = f"{why} Install its package, or name its folder in the environment variable PYTHONPATH."
        raise PqswarmError(f"{what} cannot be imported: {why}") from error
    if not hasattr(within, name):
        raise unknown_name(f"class of {module}", name, [key for key in dir(within) if key[0].isupper()])
    return getattr(within, name)


class EvaluatorOptions(TypedDict, total=False):
    """Keyword arguments common to all evaluators; see :class:`Evaluator`."""

    scaling: Scaling
    n_jobs: int | None


class Evaluator(ABC):
    """The cross-validated error of feature subsets on fixed folds.

    Parameters
    ----------
    X : array_like of shape (n_samples, n_features)
        Features.
    folds : Folds
        The cross-validation.
    scaling : {"once", "minmax", "standard", "robust", "none"}, default="once"
        Scale each feature to [0, 1] once, by its extremes over all samples (our choice: the paper does not say); in
        each fold by its training samples, as MinMaxScaler, StandardScaler or RobustScaler do; or not at all.
    n_jobs : int or None, default=None
        Threads; None or -1 uses all cores, or those granted to a worker process. Results do not depend on it.

    Attributes
    ----------
    n_samples, n_features : int
        Number of samples, and of features, the length of a mask.
    is_loss : bool
        Whether the error is a loss rather than one minus a score.
    """

    takes_splits: ClassVar[bool] = False  # whether test sets may overlap or omit samples
    takes_nan = False  # whether values may be NaN
    counts_errors = False  # whether an error is that of counted samples
    blocks: tuple[int, ...] = ()  # folds of each block in which subsets can be raced; see :class:`GenericEvaluator`
    is_loss = False
    folds: Folds
    _views: Sequence[FloatArray] = ()  # the features scaled for each fold, of evaluators that keep them

    def __init__(self, X: ArrayLike, folds: Any, *, scaling: Scaling = "once", n_jobs: int | None = None) -> None:
        check_name("scaling", scaling, SCALINGS)
        self.scaling = scaling
        self.data = self._checked_data(X)
        self.n_samples: int = self.data.shape[0]
        allowed: type[CrossValidation] = CrossValidation if self.takes_splits else Folds
        if not isinstance(folds, allowed):
            splits = " or Splits.from_cv(cv, X, y)" if self.takes_splits else ""
            raise PqswarmError(
                f"folds must be Folds: make them with Folds.stratified(y) or Folds.from_splitter(cv, X, y){splits}."
            )
        if len(folds) != self.n_samples:
            raise PqswarmError(f"folds are of {len(folds)} samples, but X has {self.n_samples}.")
        self.folds = cast("Folds", folds)
        self.n_jobs = n_jobs
        effective_jobs(n_jobs)
        self.n_features = self.data.shape[1]

    def _checked_data(self, X: Any) -> Any:
        """The features as the evaluator uses them."""
        return check_features(X, takes_nan=self.takes_nan)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset, shape (m,), of masks of shape (m, n_features); lower is better."""
        return np.asarray(np.add.reduce(self.fold_errors(masks), axis=1) / self.folds.n_folds)  # mean() takes longer

    @abstractmethod
    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, shape (m, n_folds); their mean is the subset's error."""

    @abstractmethod
    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the prediction for each sample when its fold is tested, for one non-empty mask."""

    def _evaluate(self, masks: ArrayLike, empty: Any, compute: Callable[[BoolArray], AnyArray]) -> AnyArray:
        """Apply `compute` to the non-empty subsets, in batches of limited memory; empty ones get `empty`."""
        checked = self.checked_masks(masks)
        results = np.tile(empty, (len(checked), *[1] * np.ndim(empty)))
        some = np.flatnonzero(checked.any(axis=1))
        at_once = max(1, MAX_BATCH_BYTES // (8 * max(self.n_samples, self.folds.n_rows)))
        for rows in np.array_split(some, -(-some.size // at_once)) if some.size else ():
            results[rows] = compute(checked[rows])
        return results

    def _by_sample(self, predicted: AnyArray) -> AnyArray:
        """Predictions, one per test sample of each fold, in the order of the samples."""
        if len(self.folds.partitions() or ()) != 1:
            raise PqswarmError("predictions exist only where each sample is tested once: use errors or error_counts.")
        ordered = np.empty_like(predicted)
        ordered[self.folds.row_samples] = predicted
        return ordered

    def checked_masks(self, masks: ArrayLike) -> BoolArray:
        """Return the masks as a boolean matrix, or raise an error that says what is wrong."""
        try:
            given = np.asarray(masks)
        except ValueError:
            raise PqswarmError(f"masks must all have {self.n_features} columns, one per feature.") from None
        if given.ndim != 2 or given.shape[1] != self.n_features:
            raise PqswarmError(
                f"masks must have one row per subset and {self.n_features} columns, one per feature, "
                f"not shape {given.shape}."
            )
        if given.dtype != np.bool_ and not (given.dtype.kind in "iu" and np.isin(given, (0, 1)).all()):
            raise PqswarmError(f"masks must be boolean, or integers 0 and 1, not of type {given.dtype}.")
        return np.ascontiguousarray(given, dtype=np.bool_)

    def checked_mask(self, mask: ArrayLike) -> BoolArray:
        """Return one mask as a boolean vector; several masks or an empty one are an error."""
        checked = self.checked_masks(np.atleast_2d(np.asarray(mask)))
        if len(checked) != 1 or not checked.any():
            raise PqswarmError("mask must be one mask that selects at least one feature.")
        return checked.ravel()

    @property
    def scales_folds(self) -> bool:
        """Whether the features are scaled separately in each fold."""
        return self.scaling in WITHIN_FOLDS

    def fold_data(self, fold: int) -> FloatArray:
        """Return the features scaled for the classifier that tests `fold`."""
        with np.errstate(over="ignore"):
            result = scale_for_fold(self.data, self.folds.train(fold), self.scaling)
        if _exceeds_evaluator_range(result):
            feature = int(np.argmax([_exceeds_evaluator_range(column) for column in result.T]))
            raise PqswarmError(
                f"feature {feature} hardly varies among the training samples of fold {fold}, but takes other values in "
                f"its test samples: leave it out, or use scaling='once'."
            )
        return result

    def fold_views(self, copies: int = 1) -> list[FloatArray]:
        """Return the features scaled for each fold; a single array if all folds share it.

        `copies` is the memory that the evaluator keeps for each, as a multiple of its size, for the memory check.
        """
        if self.scales_folds:
            check_memory(
                f"{self.data.shape[0]} x {self.n_features} features, scaled for each of {self.folds.n_folds} folds,",
                copies * self.folds.n_folds * self.data.nbytes,
                "use scaling 'once', fewer folds, or fewer features",
            )
        return [self.fold_data(fold) for fold in (range(self.folds.n_folds) if self.scales_folds else [0])]

    def fold_view(self, fold: int) -> FloatArray:
        """Return the features that are scaled for a fold, if possible those that are kept."""
        return self._views[fold % len(self._views)] if self._views else self.fold_data(fold)

    def _predict_rows(
        self, masks: BoolArray, predict: Callable[[IntArray, Any], object], refused: float = -1
    ) -> AnyArray:
        """Predict every tested sample for each mask: `predict(selected, row)` fills a row of the result, (m, n).

        A row is `refused` if that raises a SubsetError.
        """
        predicted = np.zeros((len(masks), self.folds.n_rows), dtype=np.int64 if refused == -1 else np.float64)

        def work(row: int) -> None:
            try:
                predict(np.flatnonzero(masks[row]), predicted[row])
            except SubsetError:
                predicted[row] = refused

        self.in_threads(work, range(len(masks)))
        return predicted

    def in_threads(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        """Call `work` on all items, which must be independent, in `n_jobs` threads."""
        jobs = min(effective_jobs(self.n_jobs), len(items))
        if jobs <= 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(jobs) as pool:
            for _ in pool.map(work, items):
                pass


class ClassificationEvaluator(Evaluator):
    """The cross-validated error rate of a classifier. A new evaluator only needs `_predict`.

    Parameters
    ----------
    X, folds, scaling, n_jobs
        See :class:`Evaluator`.
    y : array_like of shape (n_samples,)
        Labels.

    Attributes
    ----------
    classes : ndarray
        The sorted labels; `labels` holds positions in it.
    """

    counts_errors = True

    def __init__(self, X: ArrayLike, y: ArrayLike, folds: Folds, **options: Unpack[EvaluatorOptions]) -> None:
        super().__init__(X, folds, **options)
        self.classes, self.labels = check_evaluator_labels(y, self.n_samples)

    @cached_property
    def row_labels(self) -> IntArray:
        """The true label of each prediction, as a position in `classes`."""
        return self.labels[self.folds.row_samples]

    @abstractmethod
    def _predict(self, masks: BoolArray) -> IntArray:
        """Labels, as positions in `classes`, of every tested sample for each non-empty mask: (m, n); -1 if refused."""

    def _counts(self, masks: BoolArray) -> IntArray:
        """Misclassified samples of each fold for each non-empty mask: shape (m, n_folds)."""
        return self.count_errors(self._predict(masks))

    def count_errors(self, predicted: IntArray) -> IntArray:
        """Return the misclassified samples of each fold, for predicted positions in `classes`, (m, n)."""
        from pqswarm.evaluation._kernels import count_fold_errors

        counts = np.zeros((len(predicted), self.folds.n_folds), dtype=np.int64)
        count_fold_errors(predicted, self.row_labels, self.folds.row_folds, counts)
        return counts

    def error_counts(self, masks: ArrayLike) -> IntArray:
        """Return the misclassified samples of each fold, shape (m, n_folds); all samples for an empty subset."""
        return self._evaluate(masks, self.folds.sizes, self._counts)

    def errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset: the mean over the folds of the fold's error rate, 1 for an empty one."""
        return self.folds.mean_rates(self.error_counts(masks))

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error rate of each subset in each fold, shape (m, n_folds), 1 for an empty one."""
        return self.error_counts(masks) / self.folds.sizes

    def predictions(self, mask: ArrayLike) -> AnyArray:
        """Return the predicted label of each sample when its fold is tested, for confusion matrices."""
        checked = self.checked_mask(mask)
        predicted = self._by_sample(self._predict(checked[np.newaxis])[0])
        if predicted.min() < 0:
            raise PqswarmError(f"the estimator cannot be used with features {np.flatnonzero(checked).tolist()}.")
        return np.asarray(self.classes[predicted])


def check_features(X: ArrayLike, *, takes_nan: bool = False) -> FloatArray:
    """Return X as a contiguous float matrix, or raise an error that says what is wrong."""
    try:
        given = np.asarray(X)
        if given.dtype.kind == "c":
            raise TypeError("complex")
        given = given.astype(np.float64)
    except (TypeError, ValueError):
        raise PqswarmError("X must hold real numbers, in rows of the same length.") from None
    if given.ndim != 2 or 0 in given.shape:
        raise PqswarmError(f"X must have one row per sample and one column per feature, not shape {given.shape}.")
    finite = np.isfinite(given) | (takes_nan & np.isnan(given))
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise PqswarmError(f"X must be finite, but feature {column} of sample {row} is {given[row, column]}.")
    if _exceeds_evaluator_range(given):
        row, column = np.argwhere(np.abs(given) > _LARGEST)[0]
        raise PqswarmError(
            f"X must not exceed {_LARGEST:g}, but feature {column} of sample {row} is {given[row, column]:g}: "
            f"change its unit."
        )
    return np.ascontiguousarray(given)


def _exceeds_evaluator_range(numbers: FloatArray) -> bool:
    """Whether a number is too large to be squared, NaN aside; allocates no array."""
    return bool(np.fmax.reduce(numbers, axis=None) > _LARGEST or np.fmin.reduce(numbers, axis=None) < -_LARGEST)


def check_evaluator_labels(y: ArrayLike, n: int) -> tuple[AnyArray, IntArray]:
    """Return the sorted classes and the labels as positions in them, or raise an error."""
    given = np.asarray(y)
    if given.dtype == np.object_ and (missing := [place for place, label in enumerate(given.ravel()) if label is None]):
        raise PqswarmError(f"y must not hold None, but the label of sample {missing[0]} is: leave such samples out.")
    if given.shape != (n,):
        raise PqswarmError(f"y must hold one label for each of the {n} samples of X, not have shape {given.shape}.")
    try:
        classes, coded = np.unique(given, return_inverse=True)
    except TypeError:
        raise PqswarmError("y must hold labels of one kind: all numbers, or all text.") from None
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise PqswarmError(f"y must not hold NaN, but the label of sample {int(np.isnan(given).argmax())} is.")
    if classes.size < 2:
        raise PqswarmError(f"y must hold at least two classes, but all labels are {classes.tolist()[0]!r}.")
    return classes, coded.astype(np.int64)


def check_target(y: ArrayLike, n: int) -> FloatArray:
    """Return the checked targets of a regression as floats, shape (n,), or (n, n_targets) of several."""
    target = np.asarray(y)
    fits = target.shape[:1] == (n,) and target.ndim in (1, 2) and target.dtype.kind in "iufb"
    if not fits or not np.isfinite(target.astype(np.float64)).all():
        raise PqswarmError(f"y must hold one finite number for each of the {n} samples of X, or one for each target.")
    return target.astype(np.float64)


def check_memory(what: str, needed: int, remedy: str, limit: int = MAX_TABLE_BYTES) -> None:
    """Raise an error if something would need more bytes than a limit; `what` starts the sentence, `remedy` ends it.

    >>> check_memory("the table", 5_600_000_000, "use fewer samples")
    Traceback (most recent call last):
    pqswarm.errors.PqswarmError: the table would take 5.6 GB, more than the 4.3 GB that are allowed: use fewer samples.
    """
    if needed > limit:
        raise PqswarmError(
            f"{what} would take {needed / 1e9:.1f} GB, more than the {limit / 1e9:.1f} GB that are allowed: {remedy}."
        )


DEVICES: tuple[str, ...] = ("cpu", "cuda")
"""Where evaluators can compute."""

MEMORY = 1 << 32
"""Maximum bytes of GPU memory per batch, beyond the data; larger batches are cut."""


def check_device(device: object) -> None:
    """Raise an error that says what is missing if a device cannot be used."""
    if device == "gpu":
        raise PqswarmError("unknown device 'gpu': did you mean 'cuda'? Known: cpu, cuda.")
    check_name("device", device, DEVICES)
    if device == "cuda":
        cupy()


def cupy() -> Any:
    """Return CuPy, or raise an error that says what to install."""
    try:
        import cupy as module
    except ImportError:
        raise PqswarmError(
            f"device 'cuda' needs CuPy: {how_to_install('gpu')} (or the cupy package of your CUDA version), or use "
            f"device 'cpu'."
        ) from None
    try:
        count = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise PqswarmError(f"device 'cuda' needs an NVIDIA GPU and its driver ({error}): use device 'cpu'.") from None
    if not count:
        raise PqswarmError("device 'cuda' needs an NVIDIA GPU, and none was found: use device 'cpu'.")
    if os.environ.get("CUPY_TF32", "0") != "0":
        raise PqswarmError("CUPY_TF32 makes matrix products too coarse for exact counts: unset it.")
    return module


def batch_memory(cp: Any) -> int:
    """Return the bytes per batch: a sixteenth of the GPU's memory, which several threads share."""
    return min(MEMORY, int(cp.cuda.runtime.memGetInfo()[1]) // 16)


def cut_cuda_batch(masks: BoolArray, bytes_each: int, memory: int = MEMORY) -> list[IntArray]:
    """Cut a batch, ordered by size, into few, even pieces that fit into the memory, and return the rows of each."""
    at_once = max(1, memory // max(1, bytes_each))
    order = np.argsort(masks.sum(axis=1), kind="stable")
    return np.array_split(order, -(-len(masks) // at_once)) if len(masks) else []


def cuda_source(package: str, *names: str) -> str:
    """Return the concatenated text of CUDA sources of a package."""
    return "".join((files(package) / name).read_text(encoding="utf-8") for name in names)


_Evaluator = TypeVar("_Evaluator", bound=ClassificationEvaluator)


class CudaBackend(ABC, Generic[_Evaluator]):
    """The part of an evaluator on an NVIDIA GPU; batches are cut into pieces that fit into its memory."""

    def __init__(self, evaluator: _Evaluator) -> None:
        self.evaluator = evaluator
        self._cp = cp = cupy()
        self._memory = batch_memory(cp)
        self._folds = cp.asarray(evaluator.folds.test_fold.astype(np.int32))
        self._labels = cp.asarray(evaluator.labels.astype(np.int32))

    @cached_property
    def _pack_kernel(self) -> Any:
        options = ("--std=c++14",)
        return self._cp.RawModule(code=cuda_source(__package__, "masks.cu"), options=options).get_function("pack_masks")

    def _pack(self, masks: BoolArray) -> tuple[Any, Any, int]:
        """The features of each mask, ascending, int32[m, widest], their number, int32[m], and `widest`."""
        m, n_features = masks.shape
        widest = max(1, int(masks.sum(axis=1).max(initial=0)))
        selected = self._cp.zeros((m, widest), dtype=self._cp.int32)
        sizes = self._cp.empty(m, dtype=self._cp.int32)
        numbers = (np.int32(m), np.int32(n_features), np.int32(widest))
        self._pack_kernel((-(-m // 4),), (128,), (self._cp.asarray(masks), *numbers, selected, sizes))
        return selected, sizes, widest

    @abstractmethod
    def _bytes_each(self, masks: BoolArray) -> int:
        """GPU memory per subset of the batch, in bytes."""

    @abstractmethod
    def _compute(self, masks: BoolArray, predicted: bool) -> IntArray:
        """Labels if `predicted`, else counts, of a batch that fits into the memory."""

    def run(self, masks: BoolArray, *, predicted: bool) -> IntArray:
        """Return the labels of every sample for each mask, or the misclassified ones of each fold."""
        width = len(self.evaluator.data) if predicted else self.evaluator.folds.n_folds
        results = np.empty((len(masks), width), dtype=np.int64)
        for rows in cut_cuda_batch(masks, self._bytes_each(masks), self._memory):
            results[rows] = self._compute(masks[rows], predicted)
        return results


class ExactOptions(EvaluatorOptions, total=False):
    """Keyword arguments common to exact evaluators with a choice of device; see :class:`ExactEvaluator`."""

    device: str


class ExactEvaluator(ClassificationEvaluator):
    """A fast evaluator with exactly the error counts of fitting as usual, on every device.

    Parameters
    ----------
    X, y, folds, scaling, n_jobs
        See :class:`ClassificationEvaluator`.
    device : {"cpu", "cuda"}, default="cpu"
        Compute on the CPU, or on an NVIDIA GPU through CuPy. Results do not depend on it.
    """

    _gpu: CudaBackend[Any] | None = None

    def __init__(
        self, X: ArrayLike, y: ArrayLike, folds: Folds, *, device: str = "cpu", **options: Unpack[EvaluatorOptions]
    ) -> None:
        check_device(device)
        if device != "cpu" and not isinstance(folds, Folds):
            raise PqswarmError(
                f"device {device!r} needs Folds, a partition of the samples: use 'cpu' for other splits."
            )
        super().__init__(X, y, folds, **options)
        self.device = device

    def _predict(self, masks: BoolArray) -> IntArray:
        return self._predict_on_cpu(masks) if self._gpu is None else self._gpu.run(masks, predicted=True)

    def _counts(self, masks: BoolArray) -> IntArray:
        return self._count_on_cpu(masks) if self._gpu is None else self._gpu.run(masks, predicted=False)

    @abstractmethod
    def _predict_on_cpu(self, masks: BoolArray) -> IntArray:
        """The labels of every sample, as positions in `classes`."""

    def _count_on_cpu(self, masks: BoolArray) -> IntArray:
        return self.count_errors(self._predict_on_cpu(masks))


SCORINGS: tuple[str, ...] = ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error")
"""scikit-learn's names of the supported scores."""


class RegressionOptions(EvaluatorOptions, total=False):
    """Keyword arguments common to the evaluators of regressors; see :class:`RegressionEvaluator`."""

    scoring: str | None
    sample_weight: FloatArray | None


class RegressionEvaluator(Evaluator):
    """The cross-validated error of a regressor. A new evaluator only needs `_predict`.

    The error is that of :class:`GenericEvaluator`: 1 - R2, or the mean loss.

    Parameters
    ----------
    X, folds, scaling, n_jobs
        See :class:`Evaluator`.
    y : array_like of shape (n_samples,)
        Targets.
    scoring : str or None, default=None
        One of :data:`SCORINGS`. If None, use R2.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in fitting, if the regressor accepts them, and scoring.

    Attributes
    ----------
    target : ndarray of shape (n_samples,)
        The targets as floats.
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        folds: CrossValidation,
        scoring: str | None = None,
        *,
        sample_weight: FloatArray | None = None,
        **options: Unpack[EvaluatorOptions],
    ) -> None:
        super().__init__(X, folds, **options)
        self.target = check_target(y, self.n_samples)
        self.scoring = check_name("scoring", SCORINGS[0] if scoring is None else scoring, SCORINGS)
        self.is_loss = self.scoring != "r2"
        if self.scoring == "r2" and folds.sizes.min() < 2:
            raise PqswarmError("scoring 'r2' needs two samples in each fold: use fewer folds, or another scoring.")
        self._starts = folds.starts[:-1]
        self.sample_weight = sample_weight
        weights = np.ones(self.n_samples) if sample_weight is None else sample_weight
        self._tested, self._weights = (each[folds.row_samples][folds.by_fold] for each in (self.target, weights))
        self._whole = np.add.reduceat(self._weights, self._starts)
        means = np.add.reduceat(self._weights * self._tested, self._starts) / self._whole
        self._total = np.add.reduceat(
            self._weights * np.square(self._tested - np.repeat(means, folds.sizes)), self._starts
        )

    @abstractmethod
    def _predict(self, masks: BoolArray) -> FloatArray:
        """Predictions for each non-empty mask and tested sample: shape (m, n)."""

    def fold_errors(self, masks: ArrayLike) -> FloatArray:
        """Return the error of each subset in each fold, shape (m, n_folds); infinite for an empty one."""
        return self._evaluate(masks, np.full(self.folds.n_folds, np.inf), self._fold_errors)

    def predictions(self, mask: ArrayLike) -> FloatArray:
        """Return the prediction for each sample when its fold is tested."""
        return self._by_sample(self._predict(self.checked_mask(mask)[np.newaxis])[0])

    def _fold_errors(self, masks: BoolArray) -> FloatArray:
        missed = self._predict(masks)[:, self.folds.by_fold] - self._tested
        if self.scoring == "neg_mean_absolute_error":
            return np.asarray(np.add.reduceat(self._weights * np.abs(missed), self._starts, axis=1) / self._whole)
        squares = np.add.reduceat(self._weights * np.square(missed), self._starts, axis=1)
        if self.scoring == "r2":
            # If all targets of a fold are equal, scikit-learn's R2 is 1 for a perfect prediction, else 0.
            ratios = np.divide(squares, self._total, out=np.ones_like(squares), where=self._total > 0)
            return np.where((self._total == 0) & (squares == 0), 0.0, ratios)
        squares /= self._whole
        return np.asarray(np.sqrt(squares) if self.scoring == "neg_root_mean_squared_error" else squares)
