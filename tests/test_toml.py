"""What is written as TOML is read again as it was."""

from hypothesis import example, given
from hypothesis import strategies as st

from pqswarm._toml import parse_toml, to_toml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False), st.lists)


@given(VALUES)
@example("a\x7fb")  # which a string of JSON may hold
def test_values_are_read_as_they_were_written(value):
    assert parse_toml(f"key = {to_toml(value)}", "a file") == {"key": value}
