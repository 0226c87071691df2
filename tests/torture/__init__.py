"""Kills, full disks and other machines: ``python -m tests.torture``, or ``make torture``."""
