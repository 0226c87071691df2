"""Uniform numbers of a named stream: those of NumPy's PCG64, without a generator object.

Integers modulo 2^64 are the same on every processor. Each number of a stream follows from the previous one; here each
follows from the one four before, so that four are computed in parallel.
"""

import numpy as np
from llvmlite import ir
from numba import types

from pqswarm._kernels.compiling import njit
from pqswarm._kernels.vectors import llvm_function

_POOL = 4  # words of entropy
_MASK = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_HALF_WORD = np.uint64(16)
_INIT_A = np.uint64(0x43B0D7E5)
_MULTIPLIER_A = np.uint64(0x931E8875)
_INIT_B = np.uint64(0x8B51F9DD)
_MULTIPLIER_B = np.uint64(0x58F38DED)
_MIX_LEFT = np.uint64(0xCA01F9DD)
_MIX_RIGHT = np.uint64(0x4973F715)
_HIGH = np.uint64(0x2360ED051FC65DA4)  # multiplier of PCG64
_LOW = np.uint64(0x4385DF649FCCF645)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TURN = np.uint64(58)
_ALL = np.uint64(63)
_SPARE = np.uint64(11)  # bits beyond a fraction of 53 bits
_UNIT = 2.0**-53


@llvm_function(lambda *_: types.uint64(types.uint64, types.uint64), plain=lambda a, b: np.uint64(int(a) * int(b) >> 64))
def _multiply_high(_context, builder, _kinds, a, b):
    """The upper 64 of the 128 bits of a product."""
    wide = ir.IntType(128)
    product = builder.mul(builder.zext(a, wide), builder.zext(b, wide))
    return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))


@njit(cache=True, nogil=True)
def _multiply_128_bits(a_high, a_low, b_high, b_low):
    """Product of two numbers of 128 bits."""
    return _multiply_high(a_low, b_low) + a_high * b_low + a_low * b_high, a_low * b_low


@njit(cache=True, nogil=True)
def _advance_pcg64(high, low, by_high, by_low, plus_high, plus_low):
    """A number of 128 bits times another, plus a third."""
    high, low = _multiply_128_bits(high, low, by_high, by_low)
    total = low + plus_low
    return high + plus_high + (_ONE if total < low else _ZERO), total


@njit(cache=True, nogil=True)
def _uniform_of_pcg64(high, low):
    """The number in [0, 1) of a state of PCG64."""
    turn = high >> _TURN
    bits = high ^ low
    bits = (bits >> turn) | (bits << ((_ZERO - turn) & _ALL))
    return np.float64(np.int64(bits >> _SPARE)) * _UNIT


@njit(cache=True, nogil=True)
def _scramble_seed_word(value, constant, multiplier):
    """The value, hashed, and the next constant of the hash (NumPy's SeedSequence)."""
    value = value ^ constant
    constant = constant * multiplier & _MASK
    value = value * constant & _MASK
    return value ^ (value >> _HALF_WORD), constant


@njit(cache=True, nogil=True)
def _put_seed_words(number, words, count):
    """Append a number as one or two 32-bit words, the lower first; return the new count."""
    words[count] = number & _MASK
    if number >> _WORD:
        words[count + 1] = number >> _WORD
        return count + 2
    return count + 1


@njit(cache=True, nogil=True)
def _random_kernel_seed(seed, key):
    """Four 64-bit numbers that seed the generator of a stream (NumPy's SeedSequence)."""
    words = np.zeros(_POOL + 2 * key.size, np.uint64)
    pool = np.zeros(_POOL, np.uint64)
    _put_seed_words(seed, words, 0)
    count = _POOL
    for number in key:
        count = _put_seed_words(number, words, count)
    constant = _INIT_A
    for i in range(_POOL):
        pool[i], constant = _scramble_seed_word(words[i], constant, _MULTIPLIER_A)
    for source in range(count):
        for i in range(_POOL):
            if source != i:
                word, constant = _scramble_seed_word(
                    pool[source] if source < _POOL else words[source], constant, _MULTIPLIER_A
                )
                mixed = (_MIX_LEFT * pool[i] - _MIX_RIGHT * word) & _MASK
                pool[i] = mixed ^ (mixed >> _HALF_WORD)
    state = np.zeros(4, np.uint64)
    constant = _INIT_B
    for i in range(8):
        word, constant = _scramble_seed_word(pool[i % _POOL], constant, _MULTIPLIER_B)
        state[i // 2] |= word << (_WORD if i % 2 else _ZERO)
    return state


@njit(cache=True, nogil=True)
def fill_uniform(seed, key, out):
    """Fill `out` with ``stream(seed, key).random(out.size)``; `seed` is uint64, `key` uint64[n]."""
    state = _random_kernel_seed(seed, key)
    plus_high = (state[2] << _ONE) | (state[3] >> _ALL)
    plus_low = (state[3] << _ONE) | _ONE
    low = plus_low + state[1]
    high = plus_high + state[0] + (_ONE if low < plus_low else _ZERO)
    # Two steps at a time, and four: x -> a x + c becomes a^2 x + c (a + 1).
    by_high = _HIGH
    by_low = _LOW
    add_high = plus_high
    add_low = plus_low
    for _ in range(2):
        add_high, add_low = _advance_pcg64(add_high, add_low, by_high, by_low, add_high, add_low)
        by_high, by_low = _multiply_128_bits(by_high, by_low, by_high, by_low)
    a_high, a_low = _advance_pcg64(high, low, _HIGH, _LOW, plus_high, plus_low)
    a_high, a_low = _advance_pcg64(a_high, a_low, _HIGH, _LOW, plus_high, plus_low)
    b_high, b_low = _advance_pcg64(a_high, a_low, _HIGH, _LOW, plus_high, plus_low)
    c_high, c_low = _advance_pcg64(b_high, b_low, _HIGH, _LOW, plus_high, plus_low)
    d_high, d_low = _advance_pcg64(c_high, c_low, _HIGH, _LOW, plus_high, plus_low)
    for i in range(0, out.size - 3, 4):
        out[i] = _uniform_of_pcg64(a_high, a_low)
        out[i + 1] = _uniform_of_pcg64(b_high, b_low)
        out[i + 2] = _uniform_of_pcg64(c_high, c_low)
        out[i + 3] = _uniform_of_pcg64(d_high, d_low)
        a_high, a_low = _advance_pcg64(a_high, a_low, by_high, by_low, add_high, add_low)
        b_high, b_low = _advance_pcg64(b_high, b_low, by_high, by_low, add_high, add_low)
        c_high, c_low = _advance_pcg64(c_high, c_low, by_high, by_low, add_high, add_low)
        d_high, d_low = _advance_pcg64(d_high, d_low, by_high, by_low, add_high, add_low)
    for i in range(out.size // 4 * 4, out.size):
        out[i] = _uniform_of_pcg64(a_high, a_low)
        a_high, a_low = _advance_pcg64(a_high, a_low, _HIGH, _LOW, plus_high, plus_low)
