"""Test which of 32 samples can be near a sample: one vectorised test per metric.

Each function tests a *block*: 32 samples with adjacent codes, so that one instruction covers many of them. It returns
an integer whose bit j says whether sample j of the block passes. Samples that do not pass are rejected for good, so the
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
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pqswarm._kernels.compiling import njit
from pqswarm.evaluation.exact.knn.vector_kernels import (
    FLOAT,
    I8,
    I16,
    I32,
    I64,
    bits_of,
    load_vector_element,
    splat_vector,
    square,
    vector_maximum,
    vector_pointer,
    vector_sum,
)

BLOCK = 32
N_KEYS = 4
_BYTES = ir.VectorType(I8, BLOCK)


@njit(cache=True, nogil=True)
def filter_slot(j):
    """Position of sample j of a block among the 32 of `filter_by_manhattan`, which puts the sums in order."""
    return (j & 24) + (j & 1) * 4 + ((j >> 1) & 3)


def _largest_filter_value(builder, a, b):
    return builder.select(builder.icmp_unsigned(">", a, b), a, b)


def _filter_runs_on_x86(triple):
    return triple.startswith(("x86_64", "amd64", "i386", "i686"))


def _filter_difference_sums(context, builder):
    """The function that sums |a - b| over each eight of 32 bytes, as suits the processor."""
    triple, _, features = context.codegen().magic_tuple()
    sums = ir.VectorType(I64, BLOCK // 8)
    if _filter_runs_on_x86(triple):
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


@intrinsic
def filter_by_manhattan(typing, codes, offset, query, groups, limit):  # noqa: ARG001
    """Bits of the samples of a block whose codes differ by at most `limit`, int64, in total from those of one sample.

    `codes`, uint8[...], holds groups x 32 x 8 bytes per block, sample j of the block at position `filter_slot(j)` of
    the 32; the block starts at `offset`, the sample's own first eight bytes at `query`.
    """

    def generate(context, builder, signature, args):
        codes, offset, query, groups, limit = args
        add_up = _filter_difference_sums(context, builder)
        kind = signature.args[0]
        theirs = vector_pointer(context, builder, kind, codes, offset, _BYTES)
        own = vector_pointer(context, builder, kind, codes, query, I64)
        sums = ir.VectorType(I64, 4)
        totals = [cgutils.alloca_once_value(builder, ir.Constant(sums, [0] * 4)) for _ in range(8)]
        for total in totals:
            builder.store(ir.Constant(sums, [0] * 4), total)
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
        short = _join_filter_vectors(builder, [builder.bitcast(pair, ir.VectorType(I32, 8)) for pair in pairs])
        at_most = splat_vector(builder, builder.trunc(limit, I32))
        return bits_of(builder, builder.icmp_signed("<=", short, at_most))

    return types.int64(codes, types.int64, types.int64, types.int64, types.int64), generate


def _join_filter_vectors(builder, vectors):
    """The concatenation of vectors of equal length."""
    while len(vectors) > 1:
        twice = ir.Constant(ir.VectorType(I32, 2 * vectors[0].type.count), list(range(2 * vectors[0].type.count)))
        vectors = [builder.shuffle_vector(a, b, twice) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]
    return vectors[0]


def _filter_pair_products(context, builder):
    """The function that multiplies 16 pairs of 16-bit integers and adds adjacent products, as suits the processor."""
    triple, _, features = context.codegen().magic_tuple()
    wide = ir.VectorType(I32, 16)
    if _filter_runs_on_x86(triple) and "+avx2" in features.split(","):
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


@intrinsic
def filter_by_euclidean(typing, codes, lengths, block, query, pairs, limit):  # noqa: ARG001
    """Bits of the samples of a block for which |y|^2 / 2 - x y is at most `limit`, int64.

    `codes`, int16[...], holds `pairs` x 32 x 2 coordinates per block; `lengths`, int32[...], |y|^2 / 2 of each sample.
    The sample's own first two coordinates are at `query`, the next 64 positions on.
    """

    def generate(context, builder, signature, args):
        codes, lengths, block, query, pairs, limit = args
        multiply = _filter_pair_products(context, builder)
        shorts = ir.VectorType(I16, 16)
        sums = ir.VectorType(I32, 8)
        offset = builder.mul(builder.mul(block, pairs), ir.Constant(I64, 2 * BLOCK))
        theirs = vector_pointer(context, builder, signature.args[0], codes, offset, shorts)
        own = vector_pointer(context, builder, signature.args[0], codes, query, I32)
        offset = builder.mul(block, ir.Constant(I64, BLOCK))
        halves = vector_pointer(context, builder, signature.args[1], lengths, offset, sums)
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
        joined = _join_filter_vectors(builder, [builder.load(total) for total in totals])
        return bits_of(builder, builder.icmp_signed("<=", joined, splat_vector(builder, builder.trunc(limit, I32))))

    return types.int64(codes, lengths, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def filter_by_box(typing, codes, offset, lows, place, start, stop, width):  # noqa: ARG001
    """Bits of the samples of a block whose codes exceed `lows` by at most `width`, uint8, in features start to stop.

    `codes`, uint8[...], holds 32 bytes per feature of each block, from `offset` on; `lows`, uint8[...], one byte per
    feature, the first at `place`, the next 32 positions on. Differences wrap around.
    """

    def generate(context, builder, signature, args):
        codes, offset, lows, place, start, stop, width = args
        theirs = vector_pointer(context, builder, signature.args[0], codes, offset, _BYTES)
        own = vector_pointer(context, builder, signature.args[2], lows, place, I8)
        most = cgutils.alloca_once(builder, _BYTES)
        builder.store(ir.Constant(_BYTES, [0] * BLOCK), most)
        with cgutils.for_range_slice(builder, start, stop, ir.Constant(I64, 1), I64) as (feature, _):
            low = load_vector_element(builder, own, builder.mul(feature, ir.Constant(I64, BLOCK)))
            apart = builder.sub(load_vector_element(builder, theirs, feature), splat_vector(builder, low))
            builder.store(_largest_filter_value(builder, builder.load(most), apart), most)
        return bits_of(builder, builder.icmp_unsigned("<=", builder.load(most), splat_vector(builder, width)))

    integer = types.int64
    return integer(codes, integer, lows, integer, integer, integer, types.uint8), generate


def _make_box_filter(add, name):
    """A compiled function: bits of the 32 blocks that can hold samples within a limit of a sample.

    `bounds`, float32[...], holds the minimum and maximum of each key and block from `offset` on; the keys of the sample
    are at `place`. `add` accumulates its distance outside a block over the keys.
    """

    def generate(context, builder, signature, args):
        bounds, offset, keys, place, limit = args
        vector = ir.VectorType(FLOAT, BLOCK)
        sides = vector_pointer(context, builder, signature.args[0], bounds, offset, vector)
        own = vector_pointer(context, builder, signature.args[2], keys, place, FLOAT)
        total = ir.Constant(vector, [0.0] * BLOCK)
        for key in range(N_KEYS):
            low, high = (load_vector_element(builder, sides, ir.Constant(I64, 2 * key + side), 4) for side in (0, 1))
            mine = splat_vector(builder, load_vector_element(builder, own, ir.Constant(I64, key), 4))
            outside = vector_maximum(builder, builder.fsub(low, mine), builder.fsub(mine, high))
            total = add(builder, total, outside)
        return bits_of(builder, builder.fcmp_ordered("<=", total, splat_vector(builder, limit)))

    def boxes(typing, bounds, offset, keys, place, limit):  # noqa: ARG001
        return types.int64(bounds, types.int64, keys, types.int64, types.float32), generate

    boxes.__name__ = boxes.__qualname__ = name
    return intrinsic(boxes)


def _add_filter_square(builder, a, b):
    positive = vector_maximum(builder, b, ir.Constant(b.type, [0.0] * b.type.count))
    return vector_sum(builder, a, square(builder, positive))


boxes_by_largest = _make_box_filter(vector_maximum, "boxes_by_largest")
boxes_by_squares = _make_box_filter(_add_filter_square, "boxes_by_squares")
