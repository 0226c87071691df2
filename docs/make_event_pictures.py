"""Draw one event of each class for the table of event classes.

    python docs/make_event_pictures.py [FOLDER]

writes ``CLASS.png``, transparent, to FOLDER (default ``docs/_static/events``). Events are drawn from seeds and fixed
parameters, so the pictures are reproducible.
"""

import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.make_pictures import shrink  # noqa: E402

from pqswarm.events import generate  # noqa: E402
from pqswarm.report.style import FAINT, STYLE, WAVE  # noqa: E402

TIMES = {"start": 0.235, "duration": 0.05}
HARMONICS = {"h5": 0.15, "h7": 0.1, "h11": 0.08, "h13": 0.05}
TRANSIENT = {
    "transient_amplitude": 1.2,
    "transient_damping": 100.0,
    "transient_frequency": 1000.0,
    "transient_onset": 0.235,
}
FLICKER = {"flicker_depth": 0.07, "flicker_frequency": 20.0}
PARAMETERS = {
    "pure_sinusoid": {"amplitude": 1.0},
    "dc_offset": {"amplitude": 1.0, "offset": 0.1},
    "sag": {"depth": 0.5, **TIMES},
    "swell": {"rise": 0.5, **TIMES},
    "interruption": {"depth": 0.98, **TIMES},
    "flicker": FLICKER,
    "notching": {"notch_depth": 0.4, "notch_position": 0.003, "notch_width": 0.001},
    "harmonics": HARMONICS,
    "oscillatory_transient": TRANSIENT,
    "sag_with_harmonics": {"depth": 0.5, **TIMES, **HARMONICS},
    "swell_with_harmonics": {"rise": 0.5, **TIMES, **HARMONICS},
    "flicker_with_harmonics": {**FLICKER, **HARMONICS},
    "sag_with_transient": {"depth": 0.5, **TIMES, **TRANSIENT},
    "swell_with_transient": {"rise": 0.5, **TIMES, **TRANSIENT},
}
"""Parameters of the event in each picture."""
SHOWN = (0.2, 0.32)
"""First and last time of a picture [s]."""


def main() -> None:
    """Draw the classes of Table 1."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "_static" / "events"
    out.mkdir(parents=True, exist_ok=True)
    for name, parameters in PARAMETERS.items():
        event = generate(name, seed=0, preset="paper", source="model", **parameters)
        first, last = (round(moment * event.sampling_rate) for moment in SHOWN)
        with mpl.rc_context(STYLE):
            figure = Figure(figsize=(2.0, 0.75))
            axis = figure.add_axes((0.0, 0.02, 1.0, 0.96))
            axis.set_axis_off()
            axis.axhline(0, color=FAINT, lw=0.6)
            axis.plot(event.signal[first:last], color=WAVE, lw=0.9)
            axis.set_ylim(-2.3, 2.3)
            figure.savefig(out / f"{name}.png", dpi=160, transparent=True)
        shrink(out / f"{name}.png")


if __name__ == "__main__":
    main()
