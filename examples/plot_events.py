"""
The 14 events
=============

The paper distinguishes fourteen classes of power-quality events, with one function for each row of its Table 1. Each
event here is drawn from the ranges of that table, with a seed that reproduces it.
"""

from pqswarm.events import PRESETS, generate
from pqswarm.report import plot_gallery, save_figure

events = [generate(name, seed=4) for name in PRESETS["paper"].classes]
figure = plot_gallery(events)
save_figure(figure, "events.png")

# %%
# An event stores everything needed to regenerate it.

sag = events[2]
print(sag.label, {name: round(value, 4) for name, value in sag.parameters.items()})
print(f"{sag.signal.size} samples, {sag.cycles:g} cycles of {sag.frequency:g} Hz at {sag.sampling_rate:g} Hz")

# %%
# Set the parameters you know; the others are drawn. On the command line: ``pqswarm plot sag --set depth=0.4``.

mine = generate("sag", seed=4, depth=0.4, start=0.2, duration=0.1)
print({name: round(value, 4) for name, value in mine.parameters.items()})
