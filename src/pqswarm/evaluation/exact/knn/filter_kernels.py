"""Arrange and filter samples for k-NN under one subset of features: what can be near a sample, never what is nearest.

For each subset the samples are

1. scaled in single precision, the largest feature from -1 to 1;
2. given *keys*, which differ by at most the distance, and vary strongly: sums and differences of all features
   (Manhattan), the first principal components (Euclidean), the widest features (Chebyshev);
3. sorted in slices by the first key, within these by the second, and within these by the third, then cut into blocks of
   32. The minimum and maximum keys of a block are its *box*: a sample far outside it is far from all samples in it;
4. coded by bytes, or by coordinates along the directions of largest variance, with a bound on the error of each code.

Directions are estimated from a few samples: a poor estimate costs time, never a neighbor.

A filter tests a *block*: 32 samples with adjacent codes, so that one instruction covers many of them. It returns an
integer whose bit j says whether sample j of the block passes. Samples that do not pass are rejected for good, so the
given limits must allow for all rounding.

Manhattan
    Codes are bytes, eight features of a sample together. x86 processors sum the differences of eight bytes in one
    instruction (``psadbw``), others in five.
Euclidean
    Codes are coordinates y, 15-bit integers, two of a sample together, and half their squared length. |y|^2 / 2 - x y
    gives the distance to x without rounding. x86 processors multiply and add pairs in one instruction (``pmaddwd``).
Chebyshev
    Codes are bytes, and |x - y| <= t holds if y - (x - t), which wraps around, is at most 2 t. If the true
    difference wraps around, too many samples pass, never too few.

Samples are rows in single precision; their length is a multiple of eight.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.vectors import (
    FLOAT,
    I8,
    I16,
    I32,
    I64,
    llvm_function,
    load_vector_element,
    splat_vector,
    vector_absolute,
    vector_bits,
    vector_maximum,
    vector_pointer,
    vector_square,
    vector_sum,
    zero_vector,
)

BLOCK = 32
N_KEYS = 4
_BYTES = ir.VectorType(I8, BLOCK)
LOOSE = {"reassoc", "nsz", "contract", "arcp", "nnan"}
UNIT = 2.0**-24  # rounding unit of single precision
SAFETY = 1.1
_PROBES = 128  # maximum number of samples that estimate directions
_DIRECTIONS = 16  # of Euclidean codes
_LEVELS = 255  # of a byte, above 0
_FINEST = 16000.0  # length of the longest point in its code: products of two fit into 32 bits


def _make_knn_distances(term, add):
    """A compiled function: distances of a row to four others at a time, in single precision.

    `term` turns the difference of two coordinates into a term, and `add` accumulates terms.
    """

    def halves(builder, a, b):
        """Even and odd elements of two concatenated vectors."""
        count = a.type.count
        places = (range(first, 2 * count, 2) for first in (0, 1))
        return (builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, count), list(p))) for p in places)

    @llvm_function(lambda rows, _i, others, _place, near: types.none(rows, types.int64, others, types.int64, near))
    def distances(context, builder, kinds, rows, i, others, place, near):
        width = builder.extract_value(context.make_array(kinds[0])(context, builder, rows).shape, 1)
        vector = ir.VectorType(FLOAT, 8)
        own = vector_pointer(context, builder, kinds[0], rows, builder.mul(i, width), vector)
        indices = vector_pointer(context, builder, kinds[2], others, place, I32)
        totals = []
        theirs = []
        for part in range(4):
            index = builder.sext(load_vector_element(builder, indices, ir.Constant(I64, part), 4), I64)
            theirs.append(vector_pointer(context, builder, kinds[0], rows, builder.mul(index, width), vector))
            totals.append(zero_vector(builder, vector))
        with cgutils.for_range(builder, builder.lshr(width, ir.Constant(I64, 3)), intp=I64) as loop:
            mine = load_vector_element(builder, own, loop.index, 4)
            for other, total in zip(theirs, totals, strict=True):
                apart = builder.fsub(load_vector_element(builder, other, loop.index, 4), mine)
                builder.store(add(builder, builder.load(total), term(builder, apart)), total)
        a, b, c, d = (builder.load(total) for total in totals)
        pairs = [add(builder, *halves(builder, *two)) for two in ((a, b), (c, d))]
        quarters = add(builder, *halves(builder, *pairs))  # of a, b, c, d, twice
        low, high = (
            builder.shuffle_vector(quarters, quarters, ir.Constant(ir.VectorType(I32, 4), p))
            for p in ([0, 2, 4, 6], [1, 3, 5, 7])
        )
        target = vector_pointer(context, builder, kinds[4], near, place, ir.VectorType(FLOAT, 4))
        builder.store(add(builder, low, high), target, align=4)
        return context.get_dummy_value()

    return distances


knn_manhattan = _make_knn_distances(vector_absolute, vector_sum)
knn_squared_euclidean = _make_knn_distances(vector_square, vector_sum)
knn_chebyshev = _make_knn_distances(vector_absolute, vector_maximum)


@llvm_function(
    lambda rows, _i, selected, directions, _offset, products, _stride: types.none(
        rows, types.int64, selected, directions, types.int64, products, types.int64
    )
)
def project_knn_rows(context, builder, kinds, rows, i, selected, directions, offset, products, stride):
    """Fill eight columns of rows i to i + 3 of `products` with the products of these rows and eight directions.

    `rows` is float32[n, p]; `selected`, int64[q], are the columns. `directions`, float32[...], holds eight numbers per
    column from `offset` on. `products`, float32[...], has rows of `stride` numbers, of which eight from offset / q on
    are set.
    """
    vector = ir.VectorType(FLOAT, 8)
    shape = context.make_array(kinds[0])(context, builder, rows).shape
    n, columns = (builder.extract_value(shape, axis) for axis in (0, 1))
    count = builder.extract_value(context.make_array(kinds[2])(context, builder, selected).shape, 0)
    chosen = vector_pointer(context, builder, kinds[2], selected, ir.Constant(I64, 0), I64)
    theirs = vector_pointer(context, builder, kinds[3], directions, offset, vector)
    last = builder.sub(n, ir.Constant(I64, 1))
    places = []
    totals = []
    pointers = []
    for part in range(4):
        place = builder.add(i, ir.Constant(I64, part))
        places.append(builder.select(builder.icmp_signed("<", place, last), place, last))
        pointers.append(vector_pointer(context, builder, kinds[0], rows, builder.mul(places[-1], columns), FLOAT))
        totals.append(zero_vector(builder, vector))
    with cgutils.for_range(builder, count, intp=I64) as loop:
        column = load_vector_element(builder, chosen, loop.index, 8)
        direction = load_vector_element(builder, theirs, loop.index, 4)
        for row, total in zip(pointers, totals, strict=True):
            value = splat_vector(builder, load_vector_element(builder, row, column, 4), 8)
            product = builder.fmul(value, direction, flags=("contract",))
            builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
    first = builder.sdiv(offset, count)
    for place, total in zip(places, totals, strict=True):
        position = builder.add(builder.mul(place, stride), first)
        builder.store(
            builder.load(total), vector_pointer(context, builder, kinds[5], products, position, vector), align=4
        )
    return context.get_dummy_value()


@llvm_function(
    lambda rows, _i, lows, _step, _shift, codes, *_: types.float32(
        rows, types.int64, lows, types.float32, types.int64, codes, types.int64, types.int64
    )
)
def encode_knn_row(context, builder, kinds, rows, i, lows, step, shift, codes, place, stride):
    """Code row i by 2 ** shift bytes per number; return the total error of the codes, float32.

    `rows` is float32[n, width]; `lows`, float32[width], are the minima. A number is coded by the nearest of
    255 * 2 ** shift levels of size `step` above the minimum; the j-th byte of level l is (l + j) >> shift, so that the
    difference of two levels is the sum of the differences of their bytes. The first eight bytes go to `codes`,
    uint8[...], at `place`, each eight more another `stride` on.
    """
    vector = ir.VectorType(FLOAT, 8)
    integers = ir.VectorType(I32, 8)
    width = builder.extract_value(context.make_array(kinds[0])(context, builder, rows).shape, 1)
    row = vector_pointer(context, builder, kinds[0], rows, builder.mul(i, width), vector)
    smallest = vector_pointer(context, builder, kinds[2], lows, ir.Constant(I64, 0), vector)
    one = ir.Constant(FLOAT, 1.0)
    n_bytes = builder.shl(ir.Constant(I64, 1), shift)
    most = splat_vector(builder, builder.uitofp(builder.mul(n_bytes, ir.Constant(I64, 255)), FLOAT), 8)
    steps = splat_vector(builder, step, 8)
    per_step = splat_vector(builder, builder.fdiv(one, step), 8)
    shifts = splat_vector(builder, builder.trunc(shift, I32), 8)
    off = zero_vector(builder, vector)
    target = cgutils.alloca_once(builder, I64)
    builder.store(place, target)
    with cgutils.for_range(builder, builder.lshr(width, ir.Constant(I64, 3)), intp=I64) as loop:
        above = builder.fsub(
            load_vector_element(builder, row, loop.index, 4), load_vector_element(builder, smallest, loop.index, 4)
        )
        level = builder.fadd(builder.fmul(above, per_step), ir.Constant(vector, [0.5] * 8))
        bounded = vector_maximum(builder, level, ir.Constant(vector, [0.0] * 8))
        bounded = builder.select(builder.fcmp_ordered("<", bounded, most), bounded, most)
        whole = builder.fptosi(bounded, integers)
        apart = builder.fsub(above, builder.fmul(builder.sitofp(whole, vector), steps))
        builder.store(builder.fadd(builder.load(off), vector_absolute(builder, apart)), off)
        with cgutils.for_range(builder, n_bytes, intp=I64) as byte:
            moved = builder.add(whole, splat_vector(builder, builder.trunc(byte.index, I32), 8))
            short = builder.trunc(builder.lshr(moved, shifts), ir.VectorType(I8, 8))
            at = vector_pointer(context, builder, kinds[5], codes, builder.load(target), short.type)
            builder.store(short, at, align=1)
            builder.store(builder.add(builder.load(target), stride), target)
    total = ir.Constant(FLOAT, 0.0)
    for part in range(8):
        total = builder.fadd(total, builder.extract_element(builder.load(off), ir.Constant(I32, part)))
    return total


@njit(cache=True, nogil=True)
def knn_filter_slot(j):
    """Position of sample j of a block among the 32 of `knn_filter_by_manhattan`, which puts the sums in order."""
    return (j & 24) + (j & 1) * 4 + ((j >> 1) & 3)


def _knn_filter_runs_on_x86(triple):
    return triple.startswith(("x86_64", "amd64", "i386", "i686"))


def _knn_filter_byte_sums(context, builder):
    """The function that sums |a - b| over each eight of 32 bytes, as suits the processor."""
    triple, _, features = context.codegen().magic_tuple()
    sums = ir.VectorType(I64, BLOCK // 8)
    if _knn_filter_runs_on_x86(triple):
        wide = "+avx2" in features.split(",")
        name, width = ("llvm.x86.avx2.psad.bw", 32) if wide else ("llvm.x86.sse2.psad.bw", 16)
        part = ir.VectorType(I8, width)
        result = ir.VectorType(I64, width // 8)
        instruction = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [part, part]), name)
        if wide:
            return lambda a, b: builder.call(instruction, [a, b])

        def half(vector, start):
            chosen = ir.Constant(ir.VectorType(I32, 16), list(range(start, start + 16)))
            return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)

        def by_halves(a, b):
            low, high = (builder.call(instruction, [half(a, start), half(b, start)]) for start in (0, 16))
            return builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(I32, 4), [0, 1, 2, 3]))

        return by_halves

    def anywhere(a, b):
        larger = builder.icmp_unsigned(">", a, b)
        apart = builder.sub(builder.select(larger, a, b), builder.select(larger, b, a))
        words = builder.bitcast(apart, sums)
        even = ir.Constant(sums, [0x00FF00FF00FF00FF] * sums.count)
        pairs = builder.add(
            builder.and_(words, even), builder.and_(builder.lshr(words, ir.Constant(sums, [8] * sums.count)), even)
        )
        added = builder.mul(pairs, ir.Constant(sums, [0x0001000100010001] * sums.count))
        return builder.lshr(added, ir.Constant(sums, [48] * sums.count))

    return anywhere


@llvm_function(lambda codes, *_: types.int64(codes, types.int64, types.int64, types.int64, types.int64))
def knn_filter_by_manhattan(context, builder, kinds, codes, offset, query, groups, limit):
    """Bits of the samples of a block whose codes differ by at most `limit`, int64, in total from those of one sample.

    `codes`, uint8[...], holds groups x 32 x 8 bytes per block, sample j of the block at position
    `knn_filter_slot(j)` of the 32; the block starts at `offset`, the sample's own first eight bytes at `query`.
    """
    add_up = _knn_filter_byte_sums(context, builder)
    theirs = vector_pointer(context, builder, kinds[0], codes, offset, _BYTES)
    own = vector_pointer(context, builder, kinds[0], codes, query, I64)
    sums = ir.VectorType(I64, 4)
    totals = [zero_vector(builder, sums) for _ in range(8)]
    with cgutils.for_range(builder, groups, intp=I64) as loop:
        first = builder.mul(loop.index, ir.Constant(I64, BLOCK))
        mine = builder.bitcast(splat_vector(builder, load_vector_element(builder, own, first), 4), _BYTES)
        for part, total in enumerate(totals):
            position = builder.add(builder.mul(loop.index, ir.Constant(I64, 8)), ir.Constant(I64, part))
            apart = add_up(load_vector_element(builder, theirs, position), mine)
            builder.store(builder.add(builder.load(total), apart), total)
    high = ir.Constant(sums, [32] * 4)
    loaded = [builder.load(total) for total in totals]
    pairs = [builder.or_(loaded[a], builder.shl(loaded[a + 1], high)) for a in range(0, 8, 2)]
    short = _join_knn_filter_vectors(builder, [builder.bitcast(pair, ir.VectorType(I32, 8)) for pair in pairs])
    return vector_bits(builder, builder.icmp_signed("<=", short, splat_vector(builder, builder.trunc(limit, I32))))


def _join_knn_filter_vectors(builder, vectors):
    """The concatenation of vectors of equal length."""
    while len(vectors) > 1:
        twice = ir.Constant(ir.VectorType(I32, 2 * vectors[0].type.count), list(range(2 * vectors[0].type.count)))
        vectors = [builder.shuffle_vector(a, b, twice) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]
    return vectors[0]


def _knn_filter_pair_products(context, builder):
    """The function that multiplies 16 pairs of 16-bit integers and adds adjacent products, as suits the processor."""
    triple, _, features = context.codegen().magic_tuple()
    wide = ir.VectorType(I32, 16)
    if _knn_filter_runs_on_x86(triple) and "+avx2" in features.split(","):
        shorts = ir.VectorType(I16, 16)
        sums = ir.VectorType(I32, 8)
        kind = ir.FunctionType(sums, [shorts, shorts])
        instruction = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx2.pmadd.wd")
        return lambda a, b: builder.call(instruction, [a, b])

    def anywhere(a, b):
        products = builder.mul(builder.sext(a, wide), builder.sext(b, wide))
        even, odd = (ir.Constant(ir.VectorType(I32, 8), list(range(first, 16, 2))) for first in (0, 1))
        return builder.add(
            builder.shuffle_vector(products, products, even), builder.shuffle_vector(products, products, odd)
        )

    return anywhere


@llvm_function(
    lambda codes, lengths, *_: types.int64(codes, lengths, types.int64, types.int64, types.int64, types.int64)
)
def knn_filter_by_euclidean(context, builder, kinds, codes, lengths, block, query, pairs, limit):
    """Bits of the samples of a block for which |y|^2 / 2 - x y is at most `limit`, int64.

    `codes`, int16[...], holds `pairs` x 32 x 2 coordinates per block; `lengths`, int32[...], |y|^2 / 2 of each sample.
    The sample's own first two coordinates are at `query`, the next 64 positions on.
    """
    multiply = _knn_filter_pair_products(context, builder)
    shorts = ir.VectorType(I16, 16)
    sums = ir.VectorType(I32, 8)
    offset = builder.mul(builder.mul(block, pairs), ir.Constant(I64, 2 * BLOCK))
    theirs = vector_pointer(context, builder, kinds[0], codes, offset, shorts)
    own = vector_pointer(context, builder, kinds[0], codes, query, I32)
    offset = builder.mul(block, ir.Constant(I64, BLOCK))
    halves = vector_pointer(context, builder, kinds[1], lengths, offset, sums)
    totals = [cgutils.alloca_once(builder, sums) for _ in range(4)]
    for part, total in enumerate(totals):
        builder.store(load_vector_element(builder, halves, ir.Constant(I64, part)), total)
    with cgutils.for_range(builder, pairs, intp=I64) as loop:
        first = builder.mul(loop.index, ir.Constant(I64, BLOCK))
        mine = builder.bitcast(splat_vector(builder, load_vector_element(builder, own, first), 8), shorts)
        for part, total in enumerate(totals):
            position = builder.add(builder.mul(loop.index, ir.Constant(I64, 4)), ir.Constant(I64, part))
            products = multiply(load_vector_element(builder, theirs, position), mine)
            builder.store(builder.sub(builder.load(total), products), total)
    joined = _join_knn_filter_vectors(builder, [builder.load(total) for total in totals])
    return vector_bits(builder, builder.icmp_signed("<=", joined, splat_vector(builder, builder.trunc(limit, I32))))


@llvm_function(
    lambda codes, _offset, lows, *_: types.int64(
        codes, types.int64, lows, types.int64, types.int64, types.int64, types.uint8
    )
)
def knn_filter_by_box(context, builder, kinds, codes, offset, lows, place, start, stop, width):
    """Bits of the samples of a block whose codes exceed `lows` by at most `width`, uint8, in features start to stop.

    `codes`, uint8[...], holds 32 bytes per feature of each block, from `offset` on; `lows`, uint8[...], one byte per
    feature, the first at `place`, the next 32 positions on. Differences wrap around.
    """
    theirs = vector_pointer(context, builder, kinds[0], codes, offset, _BYTES)
    own = vector_pointer(context, builder, kinds[2], lows, place, I8)
    most = zero_vector(builder, _BYTES)
    with cgutils.for_range_slice(builder, start, stop, ir.Constant(I64, 1), I64) as (feature, _):
        low = load_vector_element(builder, own, builder.mul(feature, ir.Constant(I64, BLOCK)))
        apart = builder.sub(load_vector_element(builder, theirs, feature), splat_vector(builder, low))
        largest = builder.load(most)
        builder.store(builder.select(builder.icmp_unsigned(">", largest, apart), largest, apart), most)
    return vector_bits(builder, builder.icmp_unsigned("<=", builder.load(most), splat_vector(builder, width)))


def _make_knn_box_filter(add):
    """A compiled function: bits of the 32 blocks that can hold samples within a limit of a sample.

    `bounds`, float32[...], holds the minimum and maximum of each key and block from `offset` on; the keys of the sample
    are at `place`. `add` accumulates its distance outside a block over the keys.
    """

    @llvm_function(lambda bounds, _offset, keys, *_: types.int64(bounds, types.int64, keys, types.int64, types.float32))
    def boxes(context, builder, kinds, bounds, offset, keys, place, limit):
        vector = ir.VectorType(FLOAT, BLOCK)
        sides = vector_pointer(context, builder, kinds[0], bounds, offset, vector)
        own = vector_pointer(context, builder, kinds[2], keys, place, FLOAT)
        total = ir.Constant(vector, [0.0] * BLOCK)
        for key in range(N_KEYS):
            low, high = (load_vector_element(builder, sides, ir.Constant(I64, 2 * key + side), 4) for side in (0, 1))
            mine = splat_vector(builder, load_vector_element(builder, own, ir.Constant(I64, key), 4))
            outside = vector_maximum(builder, builder.fsub(low, mine), builder.fsub(mine, high))
            total = add(builder, total, outside)
        return vector_bits(builder, builder.fcmp_ordered("<=", total, splat_vector(builder, limit)))

    return boxes


def _add_knn_box_square(builder, a, b):
    positive = vector_maximum(builder, b, ir.Constant(b.type, [0.0] * b.type.count))
    return vector_sum(builder, a, vector_square(builder, positive))


knn_boxes_by_largest = _make_knn_box_filter(vector_maximum)
knn_boxes_by_squares = _make_knn_box_filter(_add_knn_box_square)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _find_knn_points(
    rows, extents, exponents, selected, metric, factors, lows, probes, basis, fresh, directions, points
):
    """Fill the `factors` and minima `lows` of features, and `points`, float32[n, count], of which the first are keys.

    Keys differ by at most the distance, and so do all coordinates of points together if it is Euclidean. They are the
    first features (Chebyshev), or coordinates along directions of large variance. These are found by one round of power
    iteration from some samples, and made orthonormal, or zero if dependent; for Manhattan distances only the signs are
    used. Return the norm of the largest possible coordinates of a sample, and the largest squared length of a point.
    """
    largest = exponents[selected[0]]
    for f in selected:
        largest = exponents[f] if exponents[f] > largest else largest
    size = 0.0
    for f in range(selected.size):
        apart = exponents[selected[f]] - largest
        exact = math.ldexp(1.0, np.int32(apart if apart > -200 else -200))
        factors[f] = exact
        lows[f] = -extents[selected[f]] * factors[f]
        size += exact * exact if metric == 1 else exact
    if metric == 2:
        for i in range(points.shape[0]):
            for a in range(N_KEYS if selected.size > N_KEYS else selected.size):
                points[i, a] = rows[i, selected[a]] * factors[a]
        return 1.0, np.float32(0.0)
    n, count = points.shape
    m, q = probes.shape
    for f in range(q):
        mean = np.float32(0.0)
        for i in range(m):
            probes[i, f] = rows[i * n // m, selected[f]] * factors[f]
            mean += probes[i, f] / np.float32(m)
        for i in range(m):
            probes[i, f] -= mean
    for a in range(count):
        start = a * m // count
        for f in range(q):
            fresh[f] = 0.0
        for i in range(m):
            along = np.float32(0.0)
            for f in range(q):
                along += probes[i, f] * probes[start, f]
            for f in range(q):
                fresh[f] += along * probes[i, f]
        before = 0.0
        for f in range(q):
            basis[a, f] = fresh[f]
            before += basis[a, f] * basis[a, f]
        for turn in range(2 * a):  # twice, against rounding
            other = turn % a
            shared = 0.0
            for f in range(q):
                shared += basis[a, f] * basis[other, f]
            for f in range(q):
                basis[a, f] -= shared * basis[other, f]
        after = 0.0
        for f in range(q):
            after += basis[a, f] * basis[a, f]
        factor = 1.0 / np.sqrt(after) if after > 1e-12 * before and after > 1e-60 else 0.0
        for f in range(q):
            basis[a, f] *= factor
            share = basis[a, f]
            if metric == 0:
                share = -1.0 if share < 0.0 else 1.0
            directions[a // 8, f, a % 8] = share * factors[f]
    for part in range(count // 8):
        for i in range(0, n, 4):
            project_knn_rows(rows, i, selected, directions, part * 8 * q, points, count)
    longest = np.float32(0.0)
    if metric == 0:
        return size, longest
    for i in range(n):
        squares = np.float32(0.0)
        for a in range(count):
            squares += points[i, a] * points[i, a]
        longest = squares if squares > longest else longest
    return np.sqrt(size), longest


@njit(cache=True, nogil=True, error_model="numpy")
def _sort_knn_samples(rows, selected, factors, points, scratch, values, order, near, keys, boxes):
    """Fill `order`, and in this order `near`, the scaled samples, and `keys`; and the `boxes` of blocks.

    The first coordinates of `points` are the keys. Samples are sorted into slices by the first key, in these by the
    second, and in these by the third. Slices are whole blocks, about as many on each level.
    """
    n = order.size
    n_blocks = near.shape[0] // BLOCK
    each = np.int64(np.ceil(n_blocks ** (1.0 / 3.0)))
    size = BLOCK * each * -(-n_blocks // (each * each))
    words = scratch[0]  # the bits of `values`
    slices = scratch[1]
    before = scratch[2]
    starts = scratch[3]
    for i in range(n):
        order[i] = i
    for level in range(3):
        for i in range(n):
            values[i] = points[i, level]
        for i in range(n):  # integers in the order of the floats
            words[i] ^= np.uint32(0x80000000) | (np.uint32(0) - (words[i] >> np.uint32(31)))
        for turn in range(4 if level > 0 else 2):  # stable sorts by eight bits of the words, then of the slices
            if turn == 3 and n <= 256 * size * each:
                continue
            sorted_by = words if turn < 2 else slices
            shift = np.uint32(16 + 8 * turn if turn < 2 else 8 * turn - 16)  # the upper 16 bits suffice
            for rank in range(256):
                starts[rank] = 0
            for i in range(n):
                starts[(sorted_by[i] >> shift) & np.uint32(255)] += np.uint32(1)
                before[i] = order[i]
            total = np.uint32(0)
            for rank in range(256):
                tally = starts[rank]
                starts[rank] = total
                total += tally
            for i in range(n):
                rank = (sorted_by[before[i]] >> shift) & np.uint32(255)
                order[starts[rank]] = before[i]
                starts[rank] += np.uint32(1)
        for i in range(n):
            slices[order[i]] = i // size
        size //= each

    for i in range(n):
        for f in range(selected.size):
            near[i, f] = rows[order[i], selected[f]] * factors[f]
        word = i // (BLOCK * BLOCK)
        lane = i // BLOCK % BLOCK
        for a in range(N_KEYS):
            key = points[order[i], a]
            keys[i, a] = key
            is_first = i % BLOCK == 0
            low = boxes[word, 2 * a, lane]
            high = boxes[word, 2 * a + 1, lane]
            boxes[word, 2 * a, lane] = key if is_first or key < low else low
            boxes[word, 2 * a + 1, lane] = key if is_first or key > high else high


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _code_knn_sums(near, lows, step, shift, codes, off):
    """Code the samples for Manhattan distances, and fill their errors `off`."""
    per_block = codes.size // near.shape[0] * BLOCK
    for i in range(off.size):
        place = i // BLOCK * per_block + knn_filter_slot(i % BLOCK) * 8
        off[i] = encode_knn_row(near, i, lows, step, shift, codes, place, BLOCK * 8)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=LOOSE)
def _code_knn_features(near, lows, step, codes, off):
    """Code the samples for Chebyshev distances, one byte per feature, and fill their maximum errors `off`."""
    per_step = np.float32(1.0) / step
    for i in range(off.size):
        place = i // BLOCK * BLOCK * lows.size + i % BLOCK
        worst = np.float32(0.0)
        for f in range(lows.size):
            above = near[i, f] - lows[f]
            level = np.int32(min(max(above * per_step + np.float32(0.5), np.float32(0.0)), np.float32(_LEVELS)))
            codes[place + f * BLOCK] = level
            error = abs(above - np.float32(level) * step)
            worst = error if error > worst else worst
        off[i] = worst


@njit(cache=True, nogil=True, error_model="numpy")
def _code_knn_points(points, order, step, codes, lengths, off):
    """Code the points for Euclidean distances; fill half the squared `lengths` of the codes, and their errors `off`."""
    pairs = codes.size // lengths.size // 2
    for i in range(order.size):
        start = i // BLOCK * BLOCK * 2 * pairs
        lane = i % BLOCK
        squares = 0
        errors = np.float32(0.0)
        for a in range(2 * pairs):
            value = points[order[i], a] / step
            code = np.int64(np.rint(value))
            codes[start + (a // 2 * BLOCK + lane) * 2 + a % 2] = code
            squares += code * code
            errors += (value - code) * (value - code)
        lengths[i] = squares // 2
        off[i] = np.sqrt(errors) * step


class KNNArrangement:
    """The samples, sorted and coded for one subset of features after another of the same size; see above.

    Its arrays are the order, int32[n]; the samples in this order, float32[..., width], and their keys, float32[n, 4];
    boxes, the minimum and maximum key of each block, float32[words, 2 * keys, 32], where a word is 32 blocks, the last
    partial; codes of bytes, or codes of points and half their squared lengths; and the error of each code, float32[n].
    """

    def __init__(self, n, q, metric):
        self.metric = metric
        width = (q + 7) // 8 * 8
        blocks = -(-n // BLOCK)
        padded = blocks * BLOCK
        is_euclidean = metric == 1
        self.order = np.empty(n, np.int32)
        self.near = np.zeros((padded, width), np.float32)
        self.keys = np.empty((n, N_KEYS), np.float32)
        self.boxes = np.empty((-(-blocks // BLOCK), 2 * N_KEYS, BLOCK), np.float32)
        self.boxes[:, ::2] = 3e38  # no sample
        self.boxes[:, 1::2] = -3e38
        self.shift = {8: 2, 16: 1}.get(width, 0) if metric == 0 else 0
        self.codes = np.zeros(0 if is_euclidean else padded * (width << self.shift), np.uint8)
        pairs = (min(_DIRECTIONS, q) + 1) // 2
        self.coordinates = np.zeros(padded * 2 * pairs if is_euclidean else 0, np.int16)
        self.lengths = np.zeros(padded if is_euclidean else 0, np.int32)
        self.off = np.empty(n, np.float32)
        count = _DIRECTIONS if is_euclidean else 8
        m = min(max(n // 16, _DIRECTIONS), n, _PROBES)
        self.points = np.zeros((n, count), np.float32)
        self._factors = np.empty(q, np.float32)
        self._lows = np.zeros(width, np.float32)
        self._directions = (
            np.empty((m, q), np.float32),
            np.empty((count, q)),
            np.empty(q, np.float32),
            np.empty((count // 8, q, 8), np.float32),
        )
        words = np.zeros((4, max(n, 256)), np.uint32)
        self._sorting = (words, words[0].view(np.float32))

    def arrange(self, rows, extents, exponents, selected):
        """Arrange samples, float32[n, p], and return the arrays, the step of the codes, and bounds on errors.

        Each feature is centered and divided by 2 ** `exponents`, int64[p], so that values are between minus and plus
        its entry of `extents`, float32[p]. `selected`, int64[q], are the features. The bounds are for distances, by
        rounding the data, and for keys and codes.
        """
        metric = self.metric
        if metric == 2:
            some = rows[:: max(len(rows) // _PROBES, 1)]
            spreads = some[:, selected].var(axis=0) * 4.0 ** (exponents[selected] - exponents[selected].max())
            selected = selected[np.argsort(-spreads, kind="stable")]
        scales = (self._factors, self._lows)
        given = (rows, extents, exponents, selected, metric)
        size, longest = _find_knn_points(*given, *scales, *self._directions, self.points)
        floor = SAFETY * 3.0 * UNIT * size + 1e-30
        slack = SAFETY * 16.0 * UNIT * size * (selected.size + 4.0)
        placed = (self.order, self.near, self.keys, self.boxes)
        _sort_knn_samples(rows, selected, self._factors, self.points, *self._sorting, *placed)
        if metric == 1:
            step = np.float32(max(longest**0.5 / _FINEST, 1e-30))
            _code_knn_points(self.points, self.order, step, self.coordinates, self.lengths, self.off)
        else:
            step = np.float32(max(-2.0 * self._lows.min() / (_LEVELS << self.shift), 1e-30))
            if metric == 0:
                _code_knn_sums(self.near, self._lows, step, self.shift, self.codes, self.off)
            else:
                _code_knn_features(self.near, self._lows, step, self.codes, self.off)
        return (*placed, self.codes, self.coordinates, self.lengths, self.off, step, floor, slack)
