"""Wait for what another process or thread does, and limits of time that hold on any machine."""

import time

PATIENCE = 300.0  # seconds: far longer than anything takes, on any machine; a wait ends as soon as its condition holds


def wait_until(condition, what="the condition holds", seconds=PATIENCE, pause=0.02):
    """Call `condition` until it returns something true, and return that; fail when the time is up."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain until {what}"
        time.sleep(pause)
    return value


class Clock:
    """Stands in for the module `time` in some modules: time passes only when something sleeps."""

    def __init__(self, monkeypatch, *modules):
        self.now = 1000.0
        for module in modules:
            monkeypatch.setattr(f"pqswarm.{module}.time", self)

    def monotonic(self):
        return self.now

    perf_counter = monotonic

    def sleep(self, seconds):
        self.now += seconds


def usual_seconds(used):
    """Processor time [s], on a slow machine what a usual one would have needed: for limits on it."""
    begun = time.process_time()
    for number in range(200_000):
        divmod(number, 7)
    slowness = (time.process_time() - begun) / 0.01
    return used / max(slowness, 1.0)
