"""A fixed part of the fuzzing, and proof that it detects faults; ``make fuzz`` runs the whole."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.fuzz import harness, outputs
from tests.fuzz.harness import Campaign, Limits, make_case
from tests.fuzz.seeds import make_seeds
from tests.fuzz.targets import TARGETS, Outcome

FILES = 300  # make fuzz goes on for an hour


@pytest.mark.slow
def test_hostile_files(tmp_path):
    # In a separate process, which forks its workers and limits their memory.
    options = ["--files", str(FILES), "--workers", "1", "--seed", "19", "--findings", str(tmp_path)]
    command = [sys.executable, "-m", "tests.fuzz", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    notes = [json.loads(path.read_text())["sentence"] for path in tmp_path.glob("*/finding.json")]
    assert run.returncode == 0, (notes, run.stderr)
    figures = json.loads(run.stdout)
    assert figures["files"] == FILES + len(harness.past_findings())
    assert set(figures["targets"]) == set(TARGETS)
    for counts in figures["targets"].values():
        assert counts["accepted"] > 0
        assert counts["refused"] > 0


def test_files_follow_from_the_seed(monkeypatch):
    def make_some(seed):
        seeds = make_seeds()
        return [make_case(seed, number, seeds)[:2] for number in range(40)]

    first, other = make_some(1), make_some(2)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    assert make_some(1) == first
    assert other != first
    assert len({target for target, _ in first}) > 3


def fail_at(numbers):
    """An examination that fails, hangs, takes memory or dies at these numbers of calls."""

    def examine(target, folder, rng, shares):
        number = int((folder / "number").read_text())
        what = numbers.get(number)
        if what == "fails":
            return Outcome("finding", "it fails", "here")
        if what == "hangs":
            while True:
                pass
        if what == "waits":
            time.sleep(60)
        if what == "takes memory":
            try:
                bytearray(2**31)
            except MemoryError:
                return Outcome("finding", "takes memory", "there")
        if what == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome("accepted" if number % 2 else "refused")

    return examine


def test_findings_are_saved_and_the_campaign_continues(tmp_path, monkeypatch):
    failing = {3: "fails", 5: "hangs", 8: "takes memory", 11: "waits", 13: "dies"}
    monkeypatch.setattr(harness, "make_seeds", lambda *_: {})
    monkeypatch.setattr(harness, "prepare", lambda *_: None)
    monkeypatch.setattr(harness, "past_findings", list)
    monkeypatch.setattr(harness, "examine", fail_at(failing))
    one = lambda seed, number, *_: ("csv", {"number": str(number).encode()}, random.Random(0))  # noqa: E731
    monkeypatch.setattr(harness, "make_case", one)
    figures = Campaign(files=20, workers=2, limits=Limits(0.5, 5.0, 256), findings=tmp_path).run()
    assert (figures["files"], figures["findings"], figures["accepted"]) == (20, 5, 6)
    kept = {}
    for path in tmp_path.glob("*/finding.json"):
        about = json.loads(path.read_text())
        assert int((path.parent / "number").read_text()) == about["number"]
        kept[about["number"]] = about["sentence"]
    assert kept.keys() == failing.keys()
    assert kept[5].startswith("hangs: it was killed after 0.5 s of processor time")
    assert kept[11].startswith("waits: it was killed after 5 s")
    assert kept[13] == "kills the process by SIGKILL"
    assert harness.try_again(next(tmp_path.glob("*-3")), Limits()) == Outcome("finding", "it fails", "here")


def test_a_few_findings_of_each_kind_are_saved(tmp_path):
    campaign = Campaign(findings=tmp_path)
    for number in range(10):
        for place in ("here", "there"):
            campaign.keep("csv", {"case.csv": b""}, number, Outcome("finding", "it fails", place))
    assert len(list(tmp_path.iterdir())) == 2 * harness.KEPT


PAGE = '<meta http-equiv="Content-Security-Policy" content="script-src \'sha256-{}\'"><script>1</script>{}'
DIGEST = "a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s="


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (outputs.check_terminal, "Ua\nÜb 母", "\x1b[31m"),
        (outputs.check_terminal, "Ua", "U\u2028a"),
        (outputs.check_terminal, "Ua", "U" * 30_000),
        (outputs.check_json, '{"a": null}', '{"a": NaN}'),
        (outputs.check_json, "[1]", "[1"),
        (outputs.check_csv, "a,b\n-1.5,'=x\n", "a,b\n1,=x\n"),
        (outputs.check_csv, "a,b\n1,2\n", "a,b\n1\n"),
        (outputs.check_html, PAGE.format(DIGEST, "<p title='a'>&lt;b&gt;</p>"), PAGE.format(DIGEST, "<p onclick='a'>")),
        (outputs.check_html, PAGE.format(DIGEST, ""), PAGE.format(DIGEST, "<script>2</script>")),
        (outputs.check_html, PAGE.format(DIGEST, ""), PAGE.format(DIGEST, "<a href='javascript:1'>a</a>")),
        (outputs.check_html, PAGE.format(DIGEST, ""), PAGE.format(DIGEST, "<iframe></iframe>")),
        (outputs.check_svg, "<svg><path d='M0 0'/></svg>", "<svg><script/></svg>"),
        (outputs.check_svg, "<svg/>", "<svg onload='1'/>"),
        (outputs.check_svg, "<svg/>", "<svg"),
    ],
)
def test_harmful_outputs_are_detected(check, good, bad):
    check(good, "here")
    with pytest.raises(outputs.Finding, match=r"^here: "):
        check(bad, "here")


def test_findings_are_minimized(tmp_path, monkeypatch):
    def try_again(folder, limits):
        found = b"x" in (folder / "case.csv").read_bytes()
        return Outcome("finding", "it has an x", "here") if found else Outcome("refused")

    monkeypatch.setattr(harness, "try_again", try_again)
    campaign = Campaign(findings=tmp_path)
    campaign.keep("csv", {"case.csv": 1000 * b"a" + b"x" + 500 * b"b"}, 7, Outcome("finding", "it has an x", "here"))
    (folder,) = tmp_path.iterdir()
    small = harness.minimize(folder, Limits())
    assert (small / "case.csv").read_bytes() == b"x"
    assert json.loads((small / "finding.json").read_text())["number"] == 7
