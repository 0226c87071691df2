"""Wait for what another process or thread does: far longer than it takes, and no longer than needed."""

import time

PATIENCE = 120.0  # seconds; machines are shared, and a wait ends as soon as its condition holds


def wait_until(condition, what="the condition holds", seconds=PATIENCE, pause=0.02):
    """Call `condition` until it returns something true, and return that; fail when the time is up."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain until {what}"
        time.sleep(pause)
    return value
