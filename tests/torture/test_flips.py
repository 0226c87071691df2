"""Bits flipped in each kind of file are told, or without effect."""

import pytest

from tests.depth import DEPTH
from tests.torture.flips import KINDS, flip_bits


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_flipped_bit_is_told_or_without_effect(kind):
    counts = flip_bits(kind, 40 * DEPTH)
    assert set(counts) <= {"told when read", "told by check", "without effect"}
    assert counts["told when read"]
