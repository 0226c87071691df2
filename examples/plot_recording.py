"""
What happened in a recording?
=============================

A generated event is written as COMTRADE, read back like any recording, described by the rules of IEC
61000-4-30 in IEEE 1159 terms, and classified by a trained model. On the command line, ``pqswarm identify event.cfg``
does both.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.events import generate
from pqswarm.identify import identify
from pqswarm.identify.show.figures import plot_event
from pqswarm.measure import characterize
from pqswarm.recordings import Channel, Recording, read, write_comtrade

PEAK = 230 * np.sqrt(2)
times = {"start": 0.2, "duration": 0.15}
sag = generate("sag_with_harmonics", seed=1, depth=0.38, h5=0.04, h7=0.03, h11=0.02, h13=0.01, **times)
transient = generate(
    "oscillatory_transient", seed=1, transient_frequency=1500, transient_amplitude=0.5, transient_onset=0.2
)
channels = (Channel("Ua", "V", "A", PEAK * sag.signal), Channel("Ub", "V", "B", PEAK * transient.signal))
made = Recording(channels, sag.sampling_rate, sag.frequency, source="generated for this page")

with TemporaryDirectory() as folder:
    recording = read(write_comtrade(made, Path(folder, "event.cfg")))
print(f"{recording.format}: {recording.duration:.2f} s at {recording.sampling_rate:g} Hz")

# %%
# The result, with the reference for 1 pu and the thresholds:

found = characterize(recording)
print(found.text())

# %%
# Everything behind it is there as plain records: ``found.events``, ``found.as_dict()``.

_, axes = plt.subplots(3, 1, figsize=(8.5, 6), sharex=True, layout="constrained")
for axis, channel in zip(axes, recording.channels, strict=False):
    axis.plot(recording.time, channel.samples, color="#0b6fd6", lw=0.6)
    axis.set(ylabel=f"{channel.name} [V]")
for result in found.channels:
    axes[2].plot(found.series.time, found.urms_of(result), label=result.name)
for event in found.events:
    if event.type == "transient":
        axes[1].axvline(event.start, color="#d24b00", lw=1, ls="--")
    else:
        axes[2].axvspan(event.start, event.end, color="#d24b00", alpha=0.15)
for limit in (found.thresholds.sag, found.thresholds.swell):
    axes[2].axhline(limit, color="#9aa5b1", lw=0.8, ls=":")
axes[2].set(ylabel="Urms(1/2) [pu]", xlabel="time [s]", ylim=(0.5, 1.2))
axes[2].legend(frameon=False)
axes[0].set_title("; ".join(found.sentences()[:2]), fontsize=9, loc="left", wrap=True)
plt.show()

# %%
# The model was trained on generated events. It assigns one of 16 classes to each event and states whether the rules
# agree.

analysis = identify(recording)
for found in analysis.events:
    print(found.text())
figure = plot_event(recording, analysis)
