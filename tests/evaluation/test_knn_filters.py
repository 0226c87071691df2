"""The block tests and vectors of the k-NN kernels, on this and on other processors."""

import ctypes
import itertools
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from pqswarm.evaluation import METRICS, Folds, KNNEvaluator
from pqswarm.evaluation.exact.knn import filter_kernels as filters


def bits_of(truths):
    return int(np.packbits(truths, bitorder="little").view("<u4")[0])


def check_manhattan():
    """Sums of differences of bytes, for 1 to 5 groups of eight."""
    test = filters.knn_filter_by_manhattan
    passed = njit(lambda codes, offset, query, groups, limit: test(codes, offset, query, groups, limit))
    rng = np.random.default_rng(0)
    slots = np.array([filters.knn_filter_slot(j) for j in range(32)])
    assert sorted(slots) == list(range(32))
    for groups in range(1, 6):
        values = rng.integers(0, 256, (2, 32, groups, 8), dtype=np.uint8)
        codes = np.empty((2, groups, 32, 8), dtype=np.uint8)
        codes[:, :, slots] = values.transpose(0, 2, 1, 3)
        for query in range(32):
            apart = np.abs(values[0, query].astype(int) - values[1]).sum(axis=(1, 2))
            for limit in (0, int(np.median(apart)), 10**9):
                place = filters.knn_filter_slot(query) * 8
                found = passed(codes.ravel(), groups * 256, place, groups, limit)
                assert found == bits_of(apart <= limit)


def check_euclidean():
    """Distances of points of integers, for 1 to 8 pairs of coordinates."""
    test = filters.knn_filter_by_euclidean
    passed = njit(lambda codes, lengths, block, query, pairs, limit: test(codes, lengths, block, query, pairs, limit))
    rng = np.random.default_rng(1)
    for pairs in (1, 3, 8):
        points = rng.integers(-4000, 4001, (2, 32, 2 * pairs))
        codes = points.reshape(2, 32, pairs, 2).transpose(0, 2, 1, 3).astype(np.int16).ravel()
        lengths = (points**2).sum(axis=2) // 2
        for query in range(32):
            values = lengths[1] - points[1] @ points[0, query]
            limit = int(np.median(values))
            found = passed(codes, lengths.astype(np.int32).ravel(), 1, 2 * query, pairs, limit)
            assert found == bits_of(values <= limit)


def test_manhattan():
    check_manhattan()


def test_euclidean():
    check_euclidean()


@pytest.mark.parametrize("other", ["generic processor", "no x86"])
def test_other_processors(other, tmp_path):
    """As numba compiles for any x86 processor, and as for those of other families."""
    patch = "filters._knn_filter_runs_on_x86 = lambda triple: False; " if other == "no x86" else ""
    program = (
        "from tests.evaluation import test_knn_filters as tests; filters = tests.filters; "
        f"{patch}tests.check_manhattan(); tests.check_euclidean()"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    if not patch:
        environment |= {"NUMBA_CPU_NAME": "generic"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_chebyshev():
    test = filters.knn_filter_by_box
    passed = njit(
        lambda codes, offset, lows, place, start, stop, width: test(codes, offset, lows, place, start, stop, width)
    )
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 256, (2, 11, 32), dtype=np.uint8)
    lows = rng.integers(0, 256, (11, 32), dtype=np.uint8)
    for place in range(32):
        for start, stop, width in [(0, 11, 250), (0, 3, 100), (4, 6, 20), (10, 11, 255)]:
            above = codes[1, start:stop] - lows[start:stop, place, np.newaxis]
            found = passed(codes.ravel(), 11 * 32, lows.ravel(), place, start, stop, np.uint8(width))
            assert found == bits_of((above <= width).all(axis=0))


def test_boxes():
    rng = np.random.default_rng(3)
    low, high = np.sort(rng.standard_normal((2, filters.N_KEYS, 32)).astype(np.float32), axis=0)
    bounds = np.stack([low, high], axis=1).ravel()
    keys = rng.standard_normal((5, filters.N_KEYS)).astype(np.float32)
    by_largest, by_squares = filters.knn_boxes_by_largest, filters.knn_boxes_by_squares
    largest = njit(lambda bounds, keys, place, limit: by_largest(bounds, 0, keys, place, limit))
    squares = njit(lambda bounds, keys, place, limit: by_squares(bounds, 0, keys, place, limit))
    for i, key in enumerate(keys):
        outside = np.maximum(np.maximum(low - key[:, np.newaxis], key[:, np.newaxis] - high), 0)
        for limit in (0.0, 0.3, 1.0):
            at = i * filters.N_KEYS
            assert largest(bounds, keys, at, np.float32(limit)) == bits_of(outside.max(axis=0) <= limit)
            assert squares(bounds, keys, at, np.float32(limit)) == bits_of((outside**2).sum(axis=0) <= limit)


def test_bytes_of_levels():
    """Differences of levels are sums of differences of bytes, and code errors stay within their bounds."""
    code = filters.encode_knn_row
    encode = njit(lambda rows, i, lows, step, shift, codes: code(rows, i, lows, step, shift, codes, 0, 8))
    rows = np.random.default_rng(4).uniform(-1, 1, (40, 16)).astype(np.float32)
    lows = np.full(16, -1.0, np.float32)
    for shift in range(3):
        step = np.float32(2.0 / (255 << shift))
        coded = np.empty((40, 2, 1 << shift, 8), dtype=np.uint8)
        off = np.array([encode(rows, i, lows, step, shift, coded[i].ravel()) for i in range(40)])
        for i in range(40):
            buffer = np.empty(16 << shift, dtype=np.uint8)
            encode(rows, i, lows, step, shift, buffer)
            coded[i] = buffer.reshape(coded[i].shape)
        levels = coded.sum(axis=2, dtype=int).reshape(40, 16)
        assert np.allclose(np.abs(rows - lows - levels * step).sum(axis=1), off, atol=1e-4 * step * 16 + 1e-5)
        assert off.max() <= 16 * (step / 2 + 1e-6)
        apart = np.abs(coded[:1].astype(int) - coded).sum(axis=(1, 2, 3))
        assert np.array_equal(apart, np.abs(levels[0] - levels).sum(axis=1))


def guarded(array, at_end):
    """A copy of the array next to memory that must not be accessed."""
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, size + 2 * page)
    whole = np.frombuffer(memory, np.uint8)
    for edge in (0, size + page):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(whole.ctypes.data + edge), ctypes.c_size_t(page), 0) == 0
    start = page + (size - array.nbytes if at_end else 0)
    copy = whole[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def check_reads():
    """Search neighbors with guarded memory around the arrays."""
    rng = np.random.default_rng(5)
    for n, p, metric, at_end in itertools.product((32, 97, 2300), (2, 20), range(3), (True, False)):
        X = rng.integers(0, 4, (n, p)).astype(float) if at_end else rng.standard_normal((n, p))
        y = np.arange(n) % 3
        evaluator = KNNEvaluator(X, y, Folds(np.arange(n) % 4), metric=METRICS[metric], n_jobs=1)
        selected = np.arange(p)
        arranged = evaluator._arrangement(p).arrange(*evaluator._rows[0], evaluator.views[0].exponents, selected)
        parts = tuple(guarded(part, at_end) if np.ndim(part) and part.size else part for part in arranged)
        for guesses in (np.empty((n, 0), np.int32), evaluator._guesses):
            labels = [np.empty(n, np.int64) for _ in range(2)]
            for given, predicted in zip((arranged, parts), labels, strict=True):
                scratch = evaluator._scratch(given, guesses.shape[1], 3)
                search = (given, evaluator.views[0], selected, guesses, (0, n), scratch)
                evaluator._search(*search, predicted, np.empty((0, 0), np.int32))
            assert np.array_equal(*labels)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is guarded as on Linux")
def test_nothing_outside_the_arrays_is_read():
    program = "from tests.evaluation.test_knn_filters import check_reads; check_reads()"
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
