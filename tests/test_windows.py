"""Nothing that Windows lacks is needed: import every module and run a study with those parts hidden."""

import json
import subprocess
import sys

import pytest

from pqswarm.study import Store
from pqswarm.study.findings import Finished
from tests.study.studies import FEW, contents, plan_toml
from tests.waiting import PATIENCE

# Modules and names that Python has only on POSIX (`os` itself needs `posix`).
PROGRAM = '''
import sys, importlib.abc

HIDDEN = {"fcntl", "grp", "pwd", "termios", "tty", "pty", "resource", "syslog", "readline", "curses", "spwd", "crypt"}

class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ImportError(f"Windows has no {name}")

for name in [name for name in sys.modules if name.partition(".")[0] in HIDDEN]:
    del sys.modules[name]
sys.meta_path.insert(0, Hide())

import os, signal, time, types

POSIX = set("""chown fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority
    getresuid getsid getuid initgroups killpg lchown mkfifo mknod nice openpty pathconf posix_spawn pread pwrite
    sched_getaffinity setegid seteuid setgid setpgid setsid setuid sync tcgetpgrp ttyname uname wait wait3 wait4
    O_CLOEXEC O_NOFOLLOW O_NONBLOCK O_DIRECTORY
    SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH SIG_BLOCK
    SIG_SETMASK SIG_UNBLOCK alarm getitimer pause pthread_kill pthread_sigmask setitimer sigpending sigtimedwait sigwait
    tzset clock_settime pthread_getcpuclockid""".split())

class Windows(types.ModuleType):
    """A module that hides names from our own code; other packages see by `sys.platform` where they are."""

    def __getattribute__(self, name):
        if name in POSIX and f"{os.sep}pqswarm{os.sep}" in sys._getframe(1).f_code.co_filename:
            raise AttributeError(f"Windows has no {name}")
        return super().__getattribute__(name)

for module in (os, signal, time):
    module.__class__ = Windows

import json, pkgutil, warnings
warnings.filterwarnings("ignore", "only soft file lock is available")  # on Windows there is another one
import pqswarm

loaded = []
for found in pkgutil.walk_packages(pqswarm.__path__, "pqswarm."):
    if found.name == "pqswarm.__main__":
        continue
    __import__(found.name)
    loaded.append(found.name)

from pqswarm.report import write_report
from pqswarm.study import load_plan, run_study

if len(sys.argv) > 1:
    run_study(load_plan(sys.argv[1]), sys.argv[2], jobs=2)
    write_report(sys.argv[2], "md")
print(json.dumps(loaded))
'''


@pytest.mark.slow
def test_every_module_is_imported_and_a_study_runs(tmp_path):
    plan, folder = tmp_path / "plan.toml", tmp_path / "study"
    plan.write_text(plan_toml(runs=2, max_evaluations=60, classes=FEW))
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(plan), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    loaded = json.loads(run.stdout.splitlines()[-1])
    for name in ("cli.study", "study.scheduler", "study.store", "study.worker", "report.style", "identify.model"):
        assert f"pqswarm.{name}" in loaded
    assert len(contents(folder)["runs"]) == 2 * (2 * 2 + 1)
    with Store(folder) as store:
        assert store.find(Finished) is not None
    assert (folder / "report.md").exists()


@pytest.mark.parametrize("line", ["import fcntl", "from resource import getrusage", "import os; os.killpg(0, 0)"])
def test_uses_of_hidden_names_fail(tmp_path, line):
    """The check detects a use."""
    package = tmp_path / "pqswarm" / "bad.py"
    package.parent.mkdir()
    package.write_text(line)
    head = PROGRAM.partition("import pqswarm\n")[0]
    command = [sys.executable, "-c", f"{head}\nsys.path.insert(0, {str(package.parent)!r})\nimport bad"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 1
    assert "Windows has no" in run.stderr
