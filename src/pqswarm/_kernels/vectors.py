"""Vector operations in LLVM IR, since Numba has none; LLVM vectors suit every processor."""

from functools import wraps
from inspect import Signature, signature

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
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


def vector_bits(builder, passed):
    """An integer of 32 truth values."""
    return builder.zext(builder.bitcast(passed, I32), I64)


def vector_maximum(builder, a, b):
    """The elementwise maximum of two vectors."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def vector_sum(builder, a, b):
    """The sum of two vectors, which may be fused with a product."""
    return builder.fadd(a, b, flags=("contract",))


def vector_square(builder, apart):
    """The squares of a vector, which may be fused with a sum."""
    return builder.fmul(apart, apart, flags=("contract",))


def vector_absolute(builder, apart):
    """The absolute values of a vector in single precision."""
    bits = ir.VectorType(I32, apart.type.count)
    magnitude = ir.Constant(bits, [0x7FFFFFFF] * bits.count)
    return builder.bitcast(builder.and_(builder.bitcast(apart, bits), magnitude), apart.type)


def zero_vector(builder, vector):
    """A variable that holds a vector of zeros each time that this code is run."""
    variable = cgutils.alloca_once(builder, vector)
    builder.store(ir.Constant(vector, None), variable)
    return variable


def llvm_function(make_signature, plain=None):
    """Decorate ``generate(context, builder, kinds, *arguments)``, which writes LLVM IR: compiled code can then call it.

    `make_signature` returns the signature for arguments of the types `kinds`; None refuses them. `plain` replaces the
    function if the compiler is off.
    """

    def decorate(generate):
        if plain is not None and config.DISABLE_JIT:
            return plain

        @wraps(generate)
        def typed(_typing, *kinds):
            chosen = make_signature(*kinds)
            return chosen and (
                chosen,
                lambda context, builder, own, given: generate(context, builder, own.args, *given),
            )

        typed.__signature__ = Signature(list(signature(generate).parameters.values())[2:])  # Numba skips the first
        return intrinsic(typed)

    return decorate


@llvm_function(lambda values, *_: types.int64(values, types.int64, types.float32))
def bits_at_most(context, builder, kinds, values, place, limit):
    """Bits of the 32 numbers of `values`, float32[...], from `place` on that are at most `limit`, float32."""
    first = vector_pointer(context, builder, kinds[0], values, place, ir.VectorType(FLOAT, 32))
    given = load_vector_element(builder, first, ir.Constant(I64, 0), 4)
    return vector_bits(builder, builder.fcmp_ordered("<=", given, splat_vector(builder, limit)))


@llvm_function(lambda _: types.int64(types.int64))
def first_bit(_context, builder, _kinds, bits):
    """Position of the lowest set bit of an int64; 64 if none is set."""
    return builder.cttz(bits, ir.Constant(ir.IntType(1), 0))
