"""Examine a case: read it; analyze, plot and export whatever a reader accepts, as users do."""

import contextlib
import io
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
from tests.fuzz.outputs import Finding, check_csv, check_html, check_json, check_svg, check_terminal, require
from tests.waiting import usual_seconds

import pqswarm
from pqswarm._base.text import json_text
from pqswarm.datasets import load_dataset, read_samples
from pqswarm.errors import PqswarmError
from pqswarm.events import generate
from pqswarm.events.preset_file import load_preset
from pqswarm.identify import COLUMNS, Archive, ArchiveQueries, EventFilter, identify, load_model, load_site
from pqswarm.identify.archive.export import check_archive, export_csv_table
from pqswarm.identify.show.rows import line_heading, text_lines
from pqswarm.recordings import Channel, Recording, RecordingError, Site, open_recordings, read_all
from pqswarm.recordings import text as recording_text
from pqswarm.study import Store, format_plan, load_plan, read_plan

PACKAGE = f"{Path(pqswarm.__file__).parent}/"
READERS = ("comtrade", "pqdif", "csv", "npz", "sel", "mat", "zip")
SECONDS = 1.0
"""Maximum processor time to read or refuse a small file."""

SECONDS_PER_SAMPLE = 5e-7
"""Additional time for a file that unpacks to many samples."""


@dataclass(frozen=True)
class Shares:
    """Fractions of the accepted cases that go through each step after reading."""

    stretches: float = 0.2
    analyze: float = 0.06
    figure: float = 0.004
    command: float = 0.008


EVERYTHING = Shares(1, 1, 1, 1)


def check_recording(recording):
    require(0 < recording.n_samples < 10**7, "no samples, or too many")
    require(0 < recording.sampling_rate < 1e10, f"sampling rate {recording.sampling_rate}")
    for text in (recording.source, recording.format, recording.station, *recording.notes):
        check_terminal(text, "text of a recording", 2000)
    for channel in recording.channels:
        check_terminal(channel.name, "name of a channel", 120)
        require(not (np.abs(channel.samples) > 1e15).any(), "samples beyond 1e15")


def attempt(function, path, reader):
    """Recordings, or none and the reason."""
    try:
        return function(path, format=reader), ""
    except RecordingError as error:
        return (), str(error)


def check_stretches(path, reader, rng):
    """Reading in parts gives the same samples and refusals as reading at once, also in small chunks."""
    wholes, reason = attempt(read_all, path, reader)
    chunk = rng.choice((1000, 3001, recording_text._CHUNK))
    small = (
        mock.patch.multiple(recording_text, _COMPILED_FROM=0, _CHUNK=chunk)
        if rng.random() < 0.5
        else contextlib.nullcontext()
    )
    with small:
        sources, again = attempt(open_recordings, path, reader)
        require(reason == again, f"refused as {again!r} in stretches, as {reason!r} at once")
        require(len(sources) == len(wholes), "another number of recordings in stretches")
        for source, whole in zip(sources, wholes, strict=True):
            require(source.n_samples == whole.n_samples, "another length in stretches")
            require(source.sampling_rate == whole.sampling_rate, "another sampling rate in stretches")
            names = [[channel.name for channel in one.channels] for one in (source, whole)]
            require(names[0] == names[1], "other channels in stretches")
            edges = sorted(rng.choices(range(source.n_samples + 1), k=3))
            for first, stop in pairwise([0, *edges, source.n_samples]):
                for part, all_of_it in zip(source.read(first, stop).channels, whole.channels, strict=True):
                    same = np.array_equal(part.samples, all_of_it.samples[first:stop], equal_nan=True)
                    require(same, f"other samples from {first} to {stop} in stretches")
        if sources and reader in ("comtrade", "csv") and rng.random() < 0.2:
            check_change(path, sources[0])


def check_change(path, source):
    """A file truncated after opening is refused."""
    data = path.with_suffix(".dat") if path.suffix == ".cfg" else path
    content = data.read_bytes()
    is_base64 = data.suffix == ".cff" and not set(content.rpartition(b"---")[2]) & set(b"\0,")
    if is_base64 or content.startswith((b"\xff\xfe", b"\xfe\xff")):  # these and UTF-16 are not left in the file
        return
    data.write_bytes(content[:-1])
    try:
        source.read(0, 1)
    except RecordingError:
        data.write_bytes(content)
        return
    raise Finding("read from a file that has changed")


def find_main(folder):
    """The file of a case that is given to the program."""
    paths = sorted(folder.iterdir())
    return next((path for path in paths if path.suffix in (".cfg", ".cff")), paths[0])


def try_recording(reader, folder, rng, shares):
    path = find_main(folder)
    began, size = time.process_time(), 0
    for recording in read_all(path, format=reader):
        check_recording(recording)
        size += recording.n_samples * len(recording.channels)
    seconds = time.process_time() - began
    limit = SECONDS + SECONDS_PER_SAMPLE * size
    if seconds > limit:
        seconds = usual_seconds(seconds)
    require(seconds < limit, f"{seconds:.1f} s to read a file of {path.stat().st_size} bytes")
    yield
    if rng.random() < shares.stretches:
        check_stretches(path, reader, rng)
    if rng.random() < shares.analyze:
        for source in open_recordings(path, format=reader)[:2]:
            analyze(source, rng.random() < shares.figure / max(shares.analyze, 1e-9))
    if rng.random() < shares.command:
        run_command(path, folder)


def analyze(source, draw, **known):
    """Analyze a recording and check every form of the analysis except the command's."""
    from pqswarm.identify.show.figures import plot_event

    template = Site.template(source)
    check_terminal(template, "site file", 10**6)
    Site.read(template).apply(source)
    analysis = identify(source, **known)
    check_json(json_text(analysis.as_dict()), "analysis")
    found = analysis.rows()
    check_csv(export_csv_table(found, columns=COLUMNS), "table of events")
    check_terminal("\n".join([line_heading(analysis), *text_lines(found)]), "lines of events")
    check_terminal(analysis.text(), "analysis as text")
    if draw and analysis.events:
        picture = io.StringIO()
        plot_event(source, analysis).savefig(picture, format="svg")
        check_svg(picture.getvalue(), "figure")


def run_command(path, folder):
    """Run ``pqswarm identify`` as a user does; check its output, files and exit code."""
    from pqswarm.cli.main import main

    page, table = folder / "out.html", folder / "out.csv"
    arguments = ["pqswarm", "identify", str(path), "--json", "--html", str(page), "--csv", str(table), "--overwrite"]
    out, err = io.StringIO(), io.StringIO()
    redirected = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with mock.patch.object(sys, "argv", arguments), warnings.catch_warnings(), redirected[0], redirected[1]:
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code
    told = err.getvalue()
    require(code in (0, 1, 2, None), f"exit code {code}")
    check_terminal(told.replace(str(folder), ""), "what the command says")
    for word in ("could not be analyzed: ", "unforeseen", "Traceback"):
        require(word not in told, f"the command says: {told[:300]!r}")
    if page.exists():
        check_html(page.read_text("utf-8"), "page")
        check_csv(table.read_text("utf-8"), "table of events")
        answer = check_json(out.getvalue(), "what the command prints")
        require(bool(answer["failures"]) == (code == 1), f"exit code {code} with {len(answer['failures'])} failures")


def try_site(folder, rng, shares):
    site = load_site(find_main(folder))
    yield
    t = np.arange(192) / 4800
    waves = [1000 * np.sin(2 * np.pi * (50 * t - k / 3)) for k in range(3)]
    channels = [Channel(name, "V", name[1].upper(), wave) for name, wave in zip(("Ua", "Ub", "I0"), waves, strict=True)]
    seen = site.apply(Recording(tuple(channels), 4800.0, 50.0))
    if rng.random() < 2 * shares.analyze:
        analyze(seen, draw=False, thresholds=site.thresholds, reference=site.reference or "auto")


def try_plan(folder, rng, shares):
    plan = load_plan(find_main(folder))
    yield
    require(read_plan(format_plan(plan), folder=folder) == plan, "a plan that is written and read is another one")


def try_preset(folder, rng, shares):
    preset = load_preset(find_main(folder))
    yield
    if rng.random() < shares.analyze:
        generate(rng.choice(preset.classes), 0, preset)


def try_dataset(folder, rng, shares):
    events = load_dataset(find_main(folder))
    yield
    repr(events)
    events.write_csv(folder / "out.csv", events.snr[0])


def try_samples(folder, rng, shares):
    samples = read_samples(find_main(folder))
    yield
    require(len(samples.digest) == 64, "no digest")
    samples.save(folder / "out.npz")


def try_model(folder, rng, shares):
    model = load_model(find_main(folder))
    yield
    check_terminal(repr(model), "model as text", 2000)
    if rng.random() < shares.analyze:
        sag = generate("sag", seed=3, depth=0.38, start=0.2, duration=0.15)
        analyze(Recording((Channel("U2", "V", "B", 325 * sag.signal),), 25_000, 50), draw=False, model=model)


def try_archive(folder, rng, shares):
    with Archive(folder, read_only=True) as archive:
        yield
        queries = ArchiveQueries(archive)
        for ask in (queries.page, queries.months, queries.hours, queries.sarfi, queries.scatter):
            ask(EventFilter())
        queries.facets()
        archive.class_corrections()
        archive.sites()
        list(check_archive(archive))


def try_store(folder, rng, shares):
    from pqswarm.report import write_report

    with Store(folder) as store:
        store.finished()
        store.statuses()
        store.checkpoints()
    yield
    if rng.random() < shares.analyze:
        write_report(folder, "csv", folder / "out")
        if rng.random() < 0.2:
            write_report(folder, "html", folder / "out.html")
            check_html((folder / "out.html").read_text("utf-8"), "report")


OTHERS = {
    function.__name__.removeprefix("try_"): function
    for function in (try_site, try_plan, try_preset, try_dataset, try_samples, try_model, try_archive, try_store)
}
TARGETS = (*READERS, *OTHERS)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: ``"accepted"``, ``"refused"`` or ``"finding"``, with sentence and place of a finding."""

    word: str
    sentence: str = ""
    place: str = ""
    trace: str = ""


def examine(target, folder, rng, shares=EVERYTHING):
    """Examine the case in a folder; warnings are findings."""
    accepted = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            tried = (
                try_recording(target, folder, rng, shares) if target in READERS else OTHERS[target](folder, rng, shares)
            )
            for _ in tried:
                accepted = True
        except PqswarmError as error:
            try:
                check_refusal(error, folder)
            except Finding as finding:
                return Outcome("finding", str(finding), f"refusal {find_place(error)}", cut_trace())
        except (Exception, RecursionError) as error:  # noqa: BLE001
            return Outcome("finding", f"{type(error).__name__}: {error}"[:1000], find_place(error), cut_trace())
    return Outcome("accepted" if accepted else "refused")


def cut_trace():
    """The traceback of the current error, without quotes from the file."""
    return "\n".join(line[:300] for line in traceback.format_exc().splitlines()) + "\n"


def check_refusal(error, folder):
    """Errors of pqswarm are one expected sentence, safe for a terminal."""
    cause = error.__cause__
    require("unforeseen" not in str(error), f"unforeseen {type(cause).__name__}: {cause}")
    check_terminal(str(error).replace(str(folder), ""), "refusal", 3000)


def find_place(error):
    """The line of pqswarm that raised the error, and its kind; identifies a finding."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)]
    where = f"{frames[-1].filename.removeprefix(PACKAGE)}:{frames[-1].name}" if frames else ""
    text = str(error).split(":")[0][:60] if isinstance(error, Finding) else ""
    return f"{type(error).__name__} {where} {text}".strip()
