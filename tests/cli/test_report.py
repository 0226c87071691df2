"""``pqswarm report``, as a person uses it."""

import os
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
from tests.cli.running import refused, run
from tests.report.studies import pictures_of

from pqswarm.report import html, study_report, write_report
from pqswarm.study import Store
from pqswarm.study.findings import Finished

FILES = {"html": "report.html", "md": "report.md", "latex": "report.tex", "csv": "report-csv"}


@pytest.fixture(scope="module")
def folder(smoke_study, tmp_path_factory):
    """A study to write into."""
    return shutil.copytree(smoke_study, tmp_path_factory.mktemp("report") / "study")


@pytest.mark.parametrize("form", FILES)
def test_formats(folder, form, monkeypatch):
    # Pictures take most of the time; they are in the page that another process writes below.
    monkeypatch.setattr("pqswarm.report.html._html_pictures", lambda drawing, prefix: {"wide": ""})
    output = run("report", folder, "--format", form).output
    written = folder / FILES[form]
    assert output.replace("\n", "").strip() == f"wrote {written.resolve()}"
    main = written if written.is_file() else written / "runs.csv"
    assert "2D-UPSO" in main.read_text(encoding="utf-8")


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(smoke_study, tmp_path, pqswarm, monkeypatch):
    """The page that the study wrote when it was done."""
    # Both classifiers have the same figures: those of one are drawn again, and wide, the others taken from the page.
    drawn, draw = pictures_of((smoke_study / "report.html").read_text(encoding="utf-8")), html._html_pictures

    def pictures(one, prefix):
        return drawn[one.name] | ({} if one.name.startswith("nb-") else draw(replace(one, narrow=None), prefix))

    monkeypatch.setattr(html, "_html_pictures", pictures)
    done = pqswarm("report", smoke_study, "--out", tmp_path / "again")
    assert done.stdout.startswith("wrote ")
    assert done.stderr == ""
    assert (tmp_path / "again").read_bytes() == (smoke_study / "report.html").read_bytes()


def test_a_study_that_is_being_written_can_be_read(folder):
    with Store(folder, write=True) as store:
        assert store.find(Finished) is not None
        assert write_report(folder, "md").exists()


@pytest.mark.slow
def test_figures_alone(folder, tmp_path, monkeypatch):
    form, few = "pdf", {"nb-algorithms-convergence", "k-nn-confusion", "overview"}  # drawing all takes long
    drawings = [one for one in study_report.compose_report([folder]).drawings if one.name in few]
    monkeypatch.setattr(study_report, "compose_report", lambda folders: SimpleNamespace(drawings=drawings))
    output = run("report", folder, "--figures", tmp_path / "figures", "--single-column").output
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {f"{name}.{form}" for name in few}
    assert output.replace("\n", "").strip() == f"wrote {len(names)} figures to {(tmp_path / 'figures').resolve()}"


def test_out_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "report.md", "/proc/none/report.md"):  # the first is a folder
        assert "cannot write" in refused("report", folder, "--format", "md", "--out", place)
    assert "cannot write" in refused("report", folder, "--format", "csv", "--out", tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(folder, tmp_path):
    tmp_path.chmod(0o500)
    assert "Permission denied" in refused("report", folder, "--format", "md", "--out", tmp_path / "report.md")
