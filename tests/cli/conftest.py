"""The command line in this process: one of its own takes a second or more to import what a command needs."""

import sys
from types import SimpleNamespace

import pytest

from pqswarm.cli.main import main


@pytest.fixture
def pqswarm(monkeypatch, capfd):
    """Run the command line to its end, as from a terminal: return code, standard output and error."""
    monkeypatch.setattr("pqswarm.cli.main._show_warnings_once", lambda: None)  # it sets up a process of its own
    monkeypatch.setattr("pqswarm.cli.main.call_when_compiling", lambda _: None)  # so does this
    monkeypatch.setattr("pqswarm.cli.main.note_interrupts", lambda: None)  # and this

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pqswarm", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        return SimpleNamespace(returncode=ended.value.code, stdout=out, stderr=err)

    return run
