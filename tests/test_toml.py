"""TOML files of the user: every mistake gets a short sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqswarm._base.toml import parse_toml, read_toml_text, to_toml
from pqswarm.errors import PqswarmError, shorten
from pqswarm.study import plan_text, read_plan

HOSTILE = {
    "deep list": "runs = " + "[" * 5000 + "]" * 5000,
    "deep table": "runs = " + "{a = " * 5000 + "1" + "}" * 5000,
    "dotted key": ".".join("a" * 5000) + " = 1",
    "digits": "runs = " + "9" * 5000,
    "long wrong value": "runs = " + repr(["x" * 1000] * 1000),
    "long wrong key": "x" * 100_000 + " = 1",
    "many wrong keys": "\n".join(f"x{i} = 1" for i in range(1000)),
    "not TOML": "runs : 40",
    "long broken line": "runs = '" + "x" * 100_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_plans_get_a_short_sentence(kind):
    with pytest.raises(PqswarmError, match=r"the plan (cannot be used|is not valid TOML)") as caught:
        read_plan(HOSTILE[kind])
    assert len(str(caught.value)) < 5000


def test_long_wrong_values_are_shortened():
    with pytest.raises(PqswarmError) as caught:
        read_plan(plan_text("smoke").replace("runs = 3", f'runs = "{"many" * 100}"'))
    assert "runs: must be an integer, not 'manymany" in str(caught.value)
    assert max(map(len, str(caught.value).splitlines())) < 150
    assert shorten(10**5000) == "a int"


def test_huge_files_are_not_read(tmp_path):
    with (tmp_path / "sparse.toml").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(PqswarmError, match=r"sparse\.toml: it is larger than 10 MB"):
        read_toml_text(tmp_path / "sparse.toml")
    assert parse_toml("a = 1", "it") == {"a": 1}


def test_unprintable_characters_are_escaped():
    text = 'Q\u00fc \\ " \x00\x1b[2J\x7f\x9b\u2028\u202e\n\U0001f600\U000e0001'
    written = to_toml(text)
    assert written.isprintable()
    assert parse_toml(f"a = {written}", "the text") == {"a": text}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False), st.lists)


@given(VALUES)
def test_values_are_read_as_they_were_written(value):
    assert parse_toml(f"key = {to_toml(value)}", "a file") == {"key": value}


def test_messages_are_short_and_printable_whatever_they_quote():
    text = str(PqswarmError("a\x1b[2J" + "x" * 20_000 + "\u202e: use another file.\nsecond\tline"))
    assert [len(line) <= 500 and line.isprintable() for line in text.split("\n")] == [True, True]
    assert "use another file." in text
    assert str(PqswarmError(text)) == text
    assert len(str(PqswarmError("x\n" * 1000)).split("\n")) == 25
