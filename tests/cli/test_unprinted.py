"""Standard output that cannot be written: a full disk behind it, or nobody who reads any further."""

import errno
import os

import pytest
import typer


@pytest.fixture
def unprintable(monkeypatch):
    """Let all that is printed fail with an error, but what goes to the standard error."""
    echo, dropped = typer.echo, []

    def fail_with(number):
        def fail(text=None, err=False, **options):
            if not err:
                raise OSError(number, os.strerror(number))
            echo(text, err=err, **options)

        monkeypatch.setattr(typer, "echo", fail)
        for place in ("terminal", "main"):  # the test's own output must stay what it is
            monkeypatch.setattr(f"pqswarm.cli.{place}.discard_output", lambda **_: dropped.append(1))
        return dropped

    return fail_with


@pytest.mark.parametrize(("number", "code", "told"), [(errno.ENOSPC, 2, "cannot be printed: No space"), (32, 1, "")])
def test_files_are_written_all_the_same(number, code, told, unprintable, tmp_path, pqswarm):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("no table")
    dropped = unprintable(number)
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    done = pqswarm("identify", *files, "--json", "--csv", tmp_path / "events.csv")
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "b.csv: " in done.stderr
    assert (tmp_path / "events.csv").read_text().startswith("source,path,")
    assert dropped
    done = pqswarm("identify", *files, "--json")  # nothing else is wanted
    assert done.returncode == code
    assert "b.csv: " not in done.stderr


def test_a_full_disk_is_told_in_a_sentence(unprintable, pqswarm):
    dropped = unprintable(errno.ENOSPC)
    done = pqswarm("plan", "show", "smoke")
    assert (done.returncode, done.stderr) == (2, "pqswarm: cannot write the output: No space left on device.\n")
    assert dropped
