"""Kills, full disks and other machines: ``python -m tests.torture``, or ``make torture``."""

import os

THREADS = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
"""What was set before; a process that is forked waits for ever for threads of OpenMP that only its parent has."""

os.environ |= dict.fromkeys(THREADS, "1")
