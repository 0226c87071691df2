"""Which of 32 events can be near an event: one test for each metric, in vector instructions.

Each function looks at a *block*: 32 events whose codes lie beside each other, so that one instruction sees many of
them. It returns an integer whose bit j tells whether event j of the block passes. What passes is looked at more
closely; what does not pass is never seen again, so the limits that are given must allow for all rounding.

Manhattan
    Codes are bytes, eight features of an event together. Processors of the x86 family add up the differences of
    eight bytes in one instruction (``psadbw``); others do so in five.
Euclidean
    Codes are single-precision coordinates y and first of all half their squared length, |y|^2 / 2. The distance to
    x is known by |y|^2 / 2 - x y, at one multiplication for each coordinate.
Chebyshev
    Codes are bytes, and |x - y| <= t holds if y - (x - t), which wraps around, is at most 2 t. Where the true
    difference wraps around, too much passes, never too little.

The functions are written in the language of LLVM, as numba has no vectors. Its vectors fit every processor.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["BLOCK", "chebyshev", "first_bit", "manhattan", "slot", "squared_euclidean", "within_box", "within_euclidean", "within_manhattan"]

BLOCK = 32
_I8, _I16, _I32, _I64, _FLOAT = (ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType())
_BYTES = ir.VectorType(_I8, BLOCK)


@njit(cache=True, nogil=True)
def slot(j):
    """Where event j of a block lies among the 32 of `within_manhattan`: so that sums come out in order."""
    return (j & 24) + (j & 1) * 4 + ((j >> 1) & 3)


def _pointer(context, builder, kind, array, offset, element):
    """Address of array[offset] as that of an `element`."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), element.as_pointer())


def _splat(builder, value, width=BLOCK):
    """A vector that holds `value` everywhere."""
    vector = ir.VectorType(value.type, width)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, width), [0] * width)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _load(builder, pointer, position, alignment=1):
    return builder.load(builder.gep(pointer, [position]), align=alignment)


def _bits(builder, passed):
    """The integer whose bits are the 32 truth values."""
    return builder.zext(builder.bitcast(passed, _I32), _I64)


def _largest(builder, a, b):
    return builder.select(builder.icmp_unsigned(">", a, b), a, b)


def _sums_of_differences(context, builder):
    """The function that adds up |a - b| over each eight of 32 bytes, as the processor does it best."""
    triple, _, features = context.codegen().magic_tuple()
    sums = ir.VectorType(_I64, BLOCK // 8)
    if triple.startswith(("x86_64", "i686", "i386", "amd64")):
        wide = "+avx2" in features.split(",")
        name, width = ("llvm.x86.avx2.psad.bw", 32) if wide else ("llvm.x86.sse2.psad.bw", 16)
        part, result = ir.VectorType(_I8, width), ir.VectorType(_I64, width // 8)
        instruction = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [part, part]), name)
        if wide:
            return lambda a, b: builder.call(instruction, [a, b])

        def half(vector, start):
            chosen = ir.Constant(ir.VectorType(_I32, 16), list(range(start, start + 16)))
            return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)

        def by_halves(a, b):
            low, high = (builder.call(instruction, [half(a, start), half(b, start)]) for start in (0, 16))
            return builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(_I32, 4), [0, 1, 2, 3]))

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
def within_manhattan(typing, codes, offset, query, groups, limit):  # noqa: ARG001
    """Bits of the events of a block whose codes differ by at most `limit`, int64, from those of one event in total.

    `codes`, uint8[...], holds for each block groups x 32 x 8 bytes, event j of the block at place `slot(j)` of the 32;
    the block begins at `offset`, and the event's own first eight bytes are at `query`.
    """

    def generate(context, builder, signature, args):
        codes, offset, query, groups, limit = args
        add_up = _sums_of_differences(context, builder)
        kind = signature.args[0]
        theirs = _pointer(context, builder, kind, codes, offset, _BYTES)
        own = _pointer(context, builder, kind, codes, query, _I64)
        sums = ir.VectorType(_I64, 4)
        totals = [cgutils.alloca_once_value(builder, ir.Constant(sums, [0] * 4)) for _ in range(8)]
        for total in totals:
            builder.store(ir.Constant(sums, [0] * 4), total)
        with cgutils.for_range(builder, groups, intp=_I64) as loop:
            first = builder.mul(loop.index, ir.Constant(_I64, BLOCK))
            mine = builder.bitcast(_splat(builder, _load(builder, own, first), 4), _BYTES)
            for part, total in enumerate(totals):
                position = builder.add(builder.mul(loop.index, ir.Constant(_I64, 8)), ir.Constant(_I64, part))
                apart = add_up(_load(builder, theirs, position), mine)
                builder.store(builder.add(builder.load(total), apart), total)
        high = ir.Constant(sums, [32] * 4)
        pairs = [builder.or_(builder.load(a), builder.shl(builder.load(b), high)) for a, b in zip(totals[::2], totals[1::2])]
        short = _joined(builder, [builder.bitcast(pair, ir.VectorType(_I32, 8)) for pair in pairs])
        at_most = _splat(builder, builder.trunc(limit, _I32))
        return _bits(builder, builder.icmp_signed("<=", short, at_most))

    return types.int64(codes, types.int64, types.int64, types.int64, types.int64), generate


def _joined(builder, vectors):
    """One vector of all elements of some of equal length."""
    while len(vectors) > 1:
        twice = ir.Constant(ir.VectorType(_I32, 2 * vectors[0].type.count), list(range(2 * vectors[0].type.count)))
        vectors = [builder.shuffle_vector(a, b, twice) for a, b in zip(vectors[::2], vectors[1::2], strict=True)]
    return vectors[0]


@intrinsic
def within_euclidean(typing, codes, offset, query, width, limit):  # noqa: ARG001
    """Bits of the events of a block for which |y|^2 / 2 - x y, in single precision, is at most `limit`, float32.

    `codes`, float32[...], holds for each block 1 + width rows of 32: their |y|^2 / 2 and their coordinates. The block
    begins at `offset`; the event's own first coordinate x is at `query`, the next 32 places on.
    """

    def generate(context, builder, signature, args):
        codes, offset, query, width, limit = args
        kind = signature.args[0]
        vector = ir.VectorType(_FLOAT, BLOCK)
        theirs = _pointer(context, builder, kind, codes, offset, vector)
        own = _pointer(context, builder, kind, codes, query, _FLOAT)
        total = cgutils.alloca_once(builder, vector)
        builder.store(_load(builder, theirs, ir.Constant(_I64, 0), 4), total)
        with cgutils.for_range(builder, width, intp=_I64) as loop:
            mine = _splat(builder, _load(builder, own, builder.mul(loop.index, ir.Constant(_I64, BLOCK)), 4))
            coordinate = _load(builder, theirs, builder.add(loop.index, ir.Constant(_I64, 1)), 4)
            product = builder.fmul(mine, coordinate, flags=("contract",))
            builder.store(builder.fsub(builder.load(total), product, flags=("contract",)), total)
        return _bits(builder, builder.fcmp_ordered("<=", builder.load(total), _splat(builder, limit)))

    return types.int64(codes, types.int64, types.int64, types.int64, types.float32), generate


@intrinsic
def within_box(typing, codes, offset, lows, start, stop, width):  # noqa: ARG001
    """Bits of the events of a block whose codes exceed `lows` by at most `width`, uint8, in features start to stop.

    `codes`, uint8[...], holds for each block 32 bytes for each feature and begins at `offset`; `lows`, uint8[...], one
    byte for each feature. Differences wrap around.
    """

    def generate(context, builder, signature, args):
        codes, offset, lows, start, stop, width = args
        theirs = _pointer(context, builder, signature.args[0], codes, offset, _BYTES)
        own = _pointer(context, builder, signature.args[2], lows, ir.Constant(_I64, 0), _I8)
        most = cgutils.alloca_once(builder, _BYTES)
        builder.store(ir.Constant(_BYTES, [0] * BLOCK), most)
        with cgutils.for_range_slice(builder, start, stop, ir.Constant(_I64, 1), _I64) as (feature, _):
            apart = builder.sub(_load(builder, theirs, feature), _splat(builder, _load(builder, own, feature)))
            builder.store(_largest(builder, builder.load(most), apart), most)
        return _bits(builder, builder.icmp_unsigned("<=", builder.load(most), _splat(builder, width)))

    return types.int64(codes, types.int64, lows, types.int64, types.int64, types.uint8), generate


def _distance(term, add):
    """A compiled function of rows, float32[n, width], width a multiple of eight, and two positions: their distance.

    `term` makes a term of the difference of two coordinates, and `add` adds two of them up.
    """

    def generate(context, builder, signature, args):
        kind, rows = signature.args[0], context.make_array(signature.args[0])(context, builder, args[0])
        width = builder.extract_value(rows.shape, 1)
        vector = ir.VectorType(_FLOAT, 8)
        a, b = (_pointer(context, builder, kind, args[0], builder.mul(at, width), vector) for at in args[1:])
        total = cgutils.alloca_once(builder, vector)
        builder.store(ir.Constant(vector, [0.0] * 8), total)
        with cgutils.for_range(builder, builder.lshr(width, ir.Constant(_I64, 3)), intp=_I64) as loop:
            apart = builder.fsub(_load(builder, a, loop.index, 4), _load(builder, b, loop.index, 4))
            builder.store(add(builder, builder.load(total), term(builder, apart)), total)
        rest = builder.load(total)
        for half in (4, 2, 1):
            low, high = (
                builder.shuffle_vector(rest, rest, ir.Constant(ir.VectorType(_I32, half), list(range(at, at + half))))
                for at in (0, half)
            )
            rest = add(builder, low, high)
        return builder.extract_element(rest, ir.Constant(_I32, 0))

    def distance(typing, rows, i, j):  # noqa: ARG001
        return types.float32(rows, types.int64, types.int64), generate

    return intrinsic(distance)


def _size(builder, apart):
    bits = ir.VectorType(_I32, 8)
    return builder.bitcast(builder.and_(builder.bitcast(apart, bits), ir.Constant(bits, [0x7FFFFFFF] * 8)), apart.type)


def _square(builder, apart):
    return builder.fmul(apart, apart, flags=("contract",))


def _sum(builder, a, b):
    return builder.fadd(a, b, flags=("contract",))


def _larger(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


manhattan = _distance(_size, _sum)
squared_euclidean = _distance(_square, _sum)
chebyshev = _distance(_size, _larger)


@intrinsic
def first_bit(typing, bits):  # noqa: ARG001
    """Position of the lowest bit of an int64 that is set, 64 if none is."""

    def generate(context, builder, signature, args):  # noqa: ARG001
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate
