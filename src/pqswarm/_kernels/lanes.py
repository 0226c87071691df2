"""Vectors of eight numbers, one of each of eight signals.

A sum in fixed order cannot be spread over the lanes of a vector register, but eight such sums can run in parallel, one
per lane, each in its own order. LLVM splits the eight lanes into the vectors of the processor, which changes no bit.
Arrays of lanes are flat and contiguous, float64[8 n], with the eight numbers of a position next to each other. If
Numba's compiler is off, NumPy functions replace these.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic, models, overload, register_model

from pqswarm._kernels.vectors import splat_vector, vector_pointer

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNMENT = 8  # of one number: an array may start anywhere


class _Lanes(types.Type):
    def __init__(self):
        super().__init__(name=f"Lanes({LANES})")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


_LANES = _Lanes()


def _lanes_intrinsic(plain):
    """Decorate the compiled twin of a NumPy function, which replaces it if the compiler is off."""
    return lambda twin: plain if config.DISABLE_JIT else intrinsic(twin)


def _lanes_pointer(context, builder, kind, array, place):
    """Pointer to the lanes at a position of an array."""
    first = builder.mul(place, ir.Constant(place.type, LANES))
    return vector_pointer(context, builder, kind, array, first, _VECTOR)


@_lanes_intrinsic(lambda values, place: values[LANES * place : LANES * (place + 1)].copy())
def load(_typing, values, place):  # noqa: ARG001
    """The lanes at a position of an array."""

    def generate(context, builder, signature, arguments):
        return builder.load(_lanes_pointer(context, builder, signature.args[0], *arguments), align=_ALIGNMENT)

    return (_LANES(values, types.intp), generate) if values.layout == "C" else None


@_lanes_intrinsic(lambda lanes, values, place: np.copyto(values[LANES * place : LANES * (place + 1)], lanes))
def store(_typing, lanes, values, place):  # noqa: ARG001
    """Write lanes to a position of an array."""

    def generate(context, builder, signature, arguments):
        lanes, *where = arguments
        builder.store(lanes, _lanes_pointer(context, builder, signature.args[1], *where), align=_ALIGNMENT)
        return context.get_dummy_value()

    return (types.void(_LANES, values, types.intp), generate) if values.layout == "C" else None


@_lanes_intrinsic(lambda value: np.full(LANES, value))
def fill(_typing, value):  # noqa: ARG001
    """The same number in all lanes."""

    def generate(_context, builder, _signature, arguments):
        return splat_vector(builder, arguments[0], LANES)

    return _LANES(types.float64), generate


@_lanes_intrinsic(np.abs)
def absolute(_typing, x):  # noqa: ARG001
    """|x|."""

    def generate(_context, builder, _signature, arguments):
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f64"), arguments)

    return _LANES(_LANES), generate


@_lanes_intrinsic(lambda a, b, x, y: np.where(a >= b, x, y))
def choose(_typing, a, b, x, y):  # noqa: ARG001
    """Take x where a >= b, else y."""

    def generate(_context, builder, _signature, arguments):
        a, b, x, y = arguments
        return builder.select(builder.fcmp_ordered(">=", a, b), x, y)

    return _LANES(_LANES, _LANES, _LANES, _LANES), generate


@_lanes_intrinsic(lambda a, b: np.where(a < b, a, b))
def lower(_typing, a, b):  # noqa: ARG001
    """The lower of a and b."""

    def generate(_context, builder, _signature, arguments):
        a, b = arguments
        return builder.select(builder.fcmp_ordered("<", a, b), a, b)

    return _LANES(_LANES, _LANES), generate


@_lanes_intrinsic(lambda a, b: np.where(a < b, b, a))
def upper(_typing, a, b):  # noqa: ARG001
    """The upper of a and b."""

    def generate(_context, builder, _signature, arguments):
        a, b = arguments
        return builder.select(builder.fcmp_ordered("<", a, b), b, a)

    return _LANES(_LANES, _LANES), generate


@_lanes_intrinsic(lambda x, low, high: int(np.packbits((x >= low) & (x < high), bitorder="little")[0]))
def find_between(_typing, x, low, high):  # noqa: ARG001
    """An integer with a bit for each lane, set where low <= x < high."""

    def generate(_context, builder, _signature, arguments):
        x, low, high = arguments
        found = builder.and_(builder.fcmp_ordered(">=", x, low), builder.fcmp_ordered("<", x, high))
        return builder.zext(builder.bitcast(found, ir.IntType(LANES)), ir.IntType(64))

    return types.int64(_LANES, _LANES, _LANES), generate


def _operator(symbol, instruction):
    """Define an operator for lanes."""

    @intrinsic
    def combined(_typing, a, b):  # noqa: ARG001
        def generate(_context, builder, _signature, arguments):
            return getattr(builder, instruction)(*arguments)

        return _LANES(_LANES, _LANES), generate

    @overload(symbol)
    def overloaded(a, b):
        return (lambda a, b: combined(a, b)) if a == _LANES and b == _LANES else None


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
