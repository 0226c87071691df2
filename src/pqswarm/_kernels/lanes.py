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
from numba.core import cgutils
from numba.extending import models, overload, register_model

from pqswarm._kernels.vectors import llvm_function, splat_vector, vector_pointer

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNMENT = 8  # of one number: an array may start anywhere


class _Lanes(types.Type):
    """The type of eight numbers."""


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


_LANES = _Lanes(f"Lanes({LANES})")


def _lanes_pointer(context, builder, kind, array, place):
    """Pointer to the lanes at a position of an array."""
    first = builder.mul(place, ir.Constant(place.type, LANES))
    return vector_pointer(context, builder, kind, array, first, _VECTOR)


@llvm_function(
    lambda values, _: _LANES(values, types.intp) if values.layout == "C" else None,
    plain=lambda values, place: values[LANES * place : LANES * (place + 1)].copy(),
)
def load(context, builder, kinds, values, place):
    """The lanes at a position of an array."""
    return builder.load(_lanes_pointer(context, builder, kinds[0], values, place), align=_ALIGNMENT)


@llvm_function(
    lambda _, values, __: types.void(_LANES, values, types.intp) if values.layout == "C" else None,
    plain=lambda lanes, values, place: np.copyto(values[LANES * place : LANES * (place + 1)], lanes),
)
def store(context, builder, kinds, lanes, values, place):
    """Write lanes to a position of an array."""
    builder.store(lanes, _lanes_pointer(context, builder, kinds[1], values, place), align=_ALIGNMENT)
    return context.get_dummy_value()


@llvm_function(lambda _: _LANES(types.float64), plain=lambda value: np.full(LANES, value))
def fill(_context, builder, _kinds, value):
    """The same number in all lanes."""
    return splat_vector(builder, value, LANES)


@llvm_function(lambda _: _LANES(_LANES), plain=np.abs)
def absolute(_context, builder, _kinds, x):
    """|x|."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f64"), [x])


@llvm_function(lambda *_: _LANES(_LANES, _LANES, _LANES, _LANES), plain=lambda a, b, x, y: np.where(a >= b, x, y))
def choose(_context, builder, _kinds, a, b, x, y):
    """Take x where a >= b, else y."""
    return builder.select(builder.fcmp_ordered(">=", a, b), x, y)


@llvm_function(lambda *_: _LANES(_LANES, _LANES), plain=lambda a, b: np.where(a < b, a, b))
def lower(_context, builder, _kinds, a, b):
    """The lower of a and b."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


@llvm_function(lambda *_: _LANES(_LANES, _LANES), plain=lambda a, b: np.where(a < b, b, a))
def upper(_context, builder, _kinds, a, b):
    """The upper of a and b."""
    return builder.select(builder.fcmp_ordered("<", a, b), b, a)


@llvm_function(
    lambda *_: types.int64(_LANES, _LANES, _LANES),
    plain=lambda x, low, high: int(np.packbits((x >= low) & (x < high), bitorder="little")[0]),
)
def find_between(_context, builder, _kinds, x, low, high):
    """An integer with a bit for each lane, set where low <= x < high."""
    found = builder.and_(builder.fcmp_ordered(">=", x, low), builder.fcmp_ordered("<", x, high))
    return builder.zext(builder.bitcast(found, ir.IntType(LANES)), ir.IntType(64))


def _operator(symbol, instruction):
    """Define an operator for lanes."""

    @llvm_function(lambda *_: _LANES(_LANES, _LANES))
    def combined(_context, builder, _kinds, a, b):
        return getattr(builder, instruction)(a, b)

    @overload(symbol)
    def overloaded(a, b):
        return (lambda a, b: combined(a, b)) if a == _LANES and b == _LANES else None


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
