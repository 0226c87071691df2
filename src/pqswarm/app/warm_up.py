"""Loads in advance what the first verdicts and measurements need: libraries, the model and compiled code."""

import logging
from threading import Thread

from pqswarm.app.workbench import Page, Workbench

__all__ = ["WarmUp"]

_LOG = logging.getLogger("pqswarm.app")


class WarmUp:
    """Loads once, when the first page is opened, in a thread that nobody waits for, not even the end of the process."""

    def __init__(self, workbench: Workbench) -> None:
        self._thread = Thread(target=_warm_up, args=(workbench,), name="warm-up", daemon=True)

    def start(self, _: Page) -> None:
        """Begin, if it has not begun."""
        if self._thread.ident is None:
            self._thread.start()


def _warm_up(workbench: Workbench) -> None:
    try:
        import numpy as np

        from pqswarm.identify import default_model, identify
        from pqswarm.measure import measure_at
        from pqswarm.recordings import Channel, Recording

        time = np.arange(3200) / 6400
        wave = 325.0 * np.cos(2 * np.pi * 50 * time) * np.where((time > 0.2) & (time < 0.3), 0.5, 1.0)
        recording = Recording((Channel("U", "V", "A", wave),), 6400.0, 50.0)
        for work in (
            lambda: measure_at(recording, 0.1),
            lambda: identify(recording, model=workbench.model or default_model()),
        ):
            if workbench.jobs.is_closed:
                return
            work()
    except Exception:  # noqa: BLE001 (who asks for a verdict is told)
        _LOG.debug("cannot warm up", exc_info=True)
