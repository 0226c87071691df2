"""Vector operations in LLVM IR, since Numba has none.

LLVM vectors suit every processor. Samples are rows in single precision; their length is a multiple of eight.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

I8 = ir.IntType(8)
I16 = ir.IntType(16)
I32 = ir.IntType(32)
I64 = ir.IntType(64)
FLOAT = ir.FloatType()


def vector_pointer(context, builder, kind, array, offset, element):
    """Address of array[offset], as a pointer to `element`."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), element.as_pointer())


def splat_vector(builder, value, width=32):
    """A vector with `value` in all elements."""
    vector = ir.VectorType(value.type, width)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, width), [0] * width)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def load_vector_element(builder, start, position, alignment=1):
    """The element `position` after `start`."""
    return builder.load(builder.gep(start, [position]), align=alignment)


def bits_of(builder, passed):
    """An integer of 32 truth values."""
    return builder.zext(builder.bitcast(passed, I32), I64)


def vector_maximum(builder, a, b):
    """The elementwise maximum of two vectors."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def vector_sum(builder, a, b):
    """The sum of two vectors, which may be fused with a product."""
    return builder.fadd(a, b, flags=("contract",))


def square(builder, apart):
    """The squares of a vector, which may be fused with a sum."""
    return builder.fmul(apart, apart, flags=("contract",))


def _absolute_value(builder, apart):
    bits = ir.VectorType(I32, 8)
    return builder.bitcast(builder.and_(builder.bitcast(apart, bits), ir.Constant(bits, [0x7FFFFFFF] * 8)), apart.type)


def _distances(term, add, name):
    """A compiled function: distances of a row to four others at a time, in single precision.

    `term` turns the difference of two coordinates into a term, and `add` accumulates terms.
    """

    def halves(builder, a, b):
        """Even and odd elements of two concatenated vectors."""
        count = a.type.count
        places = (range(first, 2 * count, 2) for first in (0, 1))
        return (builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, count), list(p))) for p in places)

    def generate(context, builder, signature, args):
        rows, i, others, place, near = args
        kinds = signature.args
        width = builder.extract_value(context.make_array(kinds[0])(context, builder, rows).shape, 1)
        vector = ir.VectorType(FLOAT, 8)
        own = vector_pointer(context, builder, kinds[0], rows, builder.mul(i, width), vector)
        indices = vector_pointer(context, builder, kinds[2], others, place, I32)
        totals = []
        theirs = []
        for part in range(4):
            index = builder.sext(load_vector_element(builder, indices, ir.Constant(I64, part), 4), I64)
            theirs.append(vector_pointer(context, builder, kinds[0], rows, builder.mul(index, width), vector))
            totals.append(cgutils.alloca_once(builder, vector))
            builder.store(ir.Constant(vector, [0.0] * 8), totals[-1])
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

    def distances(typing, rows, i, others, place, near):  # noqa: ARG001
        return types.none(rows, types.int64, others, types.int64, near), generate

    distances.__name__ = distances.__qualname__ = name
    return intrinsic(distances)


manhattan = _distances(_absolute_value, vector_sum, "manhattan")
squared_euclidean = _distances(square, vector_sum, "squared_euclidean")
chebyshev = _distances(_absolute_value, vector_maximum, "chebyshev")


@intrinsic
def project(typing, rows, i, selected, directions, offset, products, stride):  # noqa: ARG001
    """Fill eight columns of rows i to i + 3 of `products` with the products of these rows and eight directions.

    `rows` is float32[n, p]; `selected`, int64[q], are the columns. `directions`, float32[...], holds eight numbers per
    column from `offset` on. `products`, float32[...], has rows of `stride` numbers, of which eight from offset / q on
    are set.
    """

    def generate(context, builder, signature, args):
        rows, i, selected, directions, offset, products, stride = args
        kinds = signature.args
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
            totals.append(cgutils.alloca_once(builder, vector))
            builder.store(ir.Constant(vector, [0.0] * 8), totals[-1])
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

    signature = types.none(rows, types.int64, selected, directions, types.int64, products, types.int64)
    return signature, generate


@intrinsic
def encode(typing, rows, i, lows, step, shift, codes, place, stride):  # noqa: ARG001
    """Code row i by 2 ** shift bytes per number; return the total error of the codes, float32.

    `rows` is float32[n, width]; `lows`, float32[width], are the minima. A number is coded by the nearest of
    255 * 2 ** shift levels of size `step` above the minimum; the j-th byte of level l is (l + j) >> shift, so that the
    difference of two levels is the sum of the differences of their bytes. The first eight bytes go to `codes`,
    uint8[...], at `place`, each eight more another `stride` on.
    """

    def generate(context, builder, signature, args):
        rows, i, lows, step, shift, codes, place, stride = args
        kinds = signature.args
        vector = ir.VectorType(FLOAT, 8)
        integers = ir.VectorType(I32, 8)
        width = builder.extract_value(context.make_array(kinds[0])(context, builder, rows).shape, 1)
        row = vector_pointer(context, builder, kinds[0], rows, builder.mul(i, width), vector)
        smallest = vector_pointer(context, builder, kinds[2], lows, ir.Constant(I64, 0), vector)
        one = ir.Constant(FLOAT, 1.0)
        zero = ir.Constant(vector, [0.0] * 8)
        n_bytes = builder.shl(ir.Constant(I64, 1), shift)
        most = splat_vector(builder, builder.uitofp(builder.mul(n_bytes, ir.Constant(I64, 255)), FLOAT), 8)
        steps = splat_vector(builder, step, 8)
        per_step = splat_vector(builder, builder.fdiv(one, step), 8)
        shifts = splat_vector(builder, builder.trunc(shift, I32), 8)
        off = cgutils.alloca_once(builder, vector)
        target = cgutils.alloca_once(builder, I64)
        builder.store(zero, off)
        builder.store(place, target)
        with cgutils.for_range(builder, builder.lshr(width, ir.Constant(I64, 3)), intp=I64) as loop:
            above = builder.fsub(
                load_vector_element(builder, row, loop.index, 4), load_vector_element(builder, smallest, loop.index, 4)
            )
            level = builder.fadd(builder.fmul(above, per_step), ir.Constant(vector, [0.5] * 8))
            bounded = vector_maximum(builder, level, zero)
            bounded = builder.select(builder.fcmp_ordered("<", bounded, most), bounded, most)
            whole = builder.fptosi(bounded, integers)
            apart = builder.fsub(above, builder.fmul(builder.sitofp(whole, vector), steps))
            builder.store(builder.fadd(builder.load(off), _absolute_value(builder, apart)), off)
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

    integer = types.int64
    return types.float32(rows, integer, lows, types.float32, integer, codes, integer, integer), generate


@intrinsic
def at_most(typing, values, place, limit):  # noqa: ARG001
    """Bits of the 32 numbers of `values`, float32[...], from `place` on that are at most `limit`, float32."""

    def generate(context, builder, signature, args):
        values, place, limit = args
        first = vector_pointer(context, builder, signature.args[0], values, place, ir.VectorType(FLOAT, 32))
        given = load_vector_element(builder, first, ir.Constant(I64, 0), 4)
        return bits_of(builder, builder.fcmp_ordered("<=", given, splat_vector(builder, limit)))

    return types.int64(values, types.int64, types.float32), generate


@intrinsic
def first_bit(typing, bits):  # noqa: ARG001
    """Position of the lowest set bit of an int64; 64 if none is set."""

    def generate(context, builder, signature, args):  # noqa: ARG001
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate
