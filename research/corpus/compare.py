"""Compare what `identify` says of the recordings of a folder with what is true of them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from corpus.expectations import EXPECTED, NOTHING, Expected, Find
from pqswarm.identify import Failure, default_model, identify_file
from pqswarm.identify.analysis import Analysis
from pqswarm.measure.event import ChannelEvent, Event

RMS_KINDS = ("sag", "swell", "interruption")
HIGHEST = 3.0
"""Nothing above this is said of a reference that was guessed [pu]."""
RECORDINGS = {".cfg", ".cff", ".pqd", ".csv", ".cev", ".eve", ".mat"}


@dataclass
class Comparison:
    """What was compared for one recording: the number of right statements, and a sentence for each other one."""

    name: str
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether everything is right."""
        return not (self.wrong or self.missed or self.false)

    def check(self, fulfilled: bool, problems: list[str], sentence: str) -> None:
        """Count a statement as right, or note the problem."""
        if fulfilled:
            self.right += 1
        else:
            problems.append(sentence)


def check_corpus(folder: Path, expected: Iterable[Expected] = EXPECTED) -> Iterator[Comparison]:
    """Analyse each recording of the folder once and compare; files without an expectation are wrong."""
    results: dict[Path, list[Analysis | Failure]] = {}
    for one in expected:
        paths = [path for path in sorted(folder.glob(one.files)) if path.suffix.lower() in RECORDINGS]
        if not paths:
            yield Comparison(one.files, missed=["no such file in the folder"])
        for path in paths:
            if path not in results:
                results[path] = list(identify_file(path, model=default_model()))
            chosen = [found for found in results[path] if isinstance(found, Failure) or one.part in found.source]
            comparison = Comparison(", ".join(filter(None, (path.relative_to(folder).as_posix(), one.part))))
            comparison.missed += [] if chosen else ["not analyzed"]
            for found in chosen:
                compare(one, found, comparison)
            yield comparison
    files = {path for path in folder.rglob("*") if path.suffix.lower() in RECORDINGS}
    for path in sorted(files - set(results)):
        yield Comparison(path.relative_to(folder).as_posix(), wrong=["nothing is expected of this file"])


def compare(expected: Expected, found: Analysis | Failure, comparison: Comparison) -> None:
    """Compare a result with what is expected of it."""
    if expected.refused is not None:
        reason = found.reason if isinstance(found, Failure) else refusal(found)
        pattern = "" if expected.refused == NOTHING else expected.refused
        if not reason and isinstance(found, Analysis):
            comparison.false += found.sentences
            return
        named = re.search(pattern, reason, re.IGNORECASE) is not None
        comparison.check(named, comparison.wrong, f"refused without {pattern!r}: {reason}")
        return
    if isinstance(found, Failure):
        comparison.missed.append(f"refused: {found.reason}")
        return
    for one in expected.finds:
        check_find(one, found, comparison)
    check_false(expected, found, comparison)
    check_words(expected, found, comparison)


def refusal(analysis: Analysis) -> str:
    """Why nothing can be said; empty if something is said."""
    return analysis.no_event_reason if "nothing can be said" in analysis.no_event_reason else ""


def fits(find: Find, event: Event, part: ChannelEvent) -> bool:
    """Whether a part of an event is what a finding is about, whatever its size."""
    return (
        event.type in find.type.split("|")
        and (not find.phases or part.phase in find.phases.split())
        and any(find.where in name for name in (part.channel, event.system, *event.also))
    )


def check_find(find: Find, analysis: Analysis, comparison: Comparison) -> None:
    """Each phase needs a part of that kind, with the right magnitude, duration and end."""
    for phase in find.phases.split() or [""]:
        parts = [
            part
            for one in analysis.events
            for part in one.event.parts
            if fits(find, one.event, part) and phase in ("", part.phase)
        ]
        name = " ".join(filter(None, (find.type, phase, find.where)))
        if not parts:
            comparison.missed.append(name)
            continue
        good = [part for part in parts if is_as_expected(find, part, analysis.nominal_frequency)]
        said = ", ".join(
            f"{part.magnitude:.3f} for {part.duration * analysis.nominal_frequency:.1f} cycles" for part in parts[:3]
        )
        comparison.check(bool(good), comparison.wrong, f"{name}: {said}; expected {range_text(find)}")


def is_as_expected(find: Find, part: ChannelEvent, frequency: float) -> bool:
    """Whether magnitude, duration (by the standard or on the waveform) and cut are right."""
    lengths = [seconds * frequency for seconds in (part.duration, part.end - part.start)]
    return (
        find.size[0] <= part.magnitude <= find.size[1]
        and any(find.cycles[0] <= length <= find.cycles[1] for length in lengths)
        and (find.cut == "" or {"start": part.cut_start, "end": part.cut_end}[find.cut])
    )


def range_text(find: Find) -> str:
    """The ranges of a finding in words."""
    size, cycles = (f"{low:.4g} to {high:.4g}" for low, high in (find.size, find.cycles))
    return f"{size}, {cycles} cycles" + (f", cut by the {find.cut}" if find.cut else "")


def check_false(expected: Expected, analysis: Analysis, comparison: Comparison) -> None:
    """Nothing else may be found: no other RMS event, nothing impossible, nothing that must not be reported."""
    known = (*expected.finds, *expected.allowed)
    false = []
    for one in analysis.events:
        event = one.event
        strange = event.type in RMS_KINDS and not all(
            any(fits(find, event, part) for find in known) for part in event.parts
        )
        strange = strange or not expected.finds
        forbidden = any(name in (event.type, *one.label.split(" with ")) for name in expected.never)
        impossible = event.unit == "pu" and abs(event.magnitude) > HIGHEST
        ignored = not set(expected.ignored).isdisjoint(event.channels)
        if strange or forbidden or impossible or ignored:
            false.append(event.sentence)
    comparison.right += not false
    comparison.false += false


def check_words(expected: Expected, analysis: Analysis, comparison: Comparison) -> None:
    """Channels that are ignored, words of the report, the headline and the cause."""
    notes = " ".join((*analysis.notes, *analysis.caveats))
    states = {str(one.get("name")): one for one in analysis.as_dict().get("channels", ())}
    for name in expected.ignored:
        noted = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", notes) is not None
        stated = name in states and states[name]["state"] != "live"
        comparison.check(noted or stated, comparison.wrong, f"{name} is not said to be ignored, dead or calculated")
    text = analysis.text()
    if expected.says:
        said = re.search(expected.says, text, re.IGNORECASE) is not None
        comparison.check(said, comparison.missed, f"does not say {expected.says!r}")
    if expected.unsaid:
        found = re.search(expected.unsaid, text, re.IGNORECASE)
        comparison.check(found is None, comparison.wrong, f"says {found and found.group()!r}")
    if expected.headline:
        worst = analysis.main
        said = worst is not None and any(expected.headline in name for name in worst.event.channels)
        headline = analysis.no_event_reason if worst is None else worst.event.sentence
        comparison.check(said, comparison.wrong, f"headline: {headline}")
    incidents = analysis.as_dict().get("incidents")
    if expected.cause and incidents is not None:
        cause = incidents[0]["cause"] if incidents else "none"
        comparison.check(
            cause in expected.cause.split("|"), comparison.wrong, f"cause: {cause}, expected {expected.cause}"
        )
