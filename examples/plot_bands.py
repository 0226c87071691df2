"""
The nine bands of a transient
=============================

A wavelet transform (sym6, eight levels) splits the voltage into nine bands. Each band shows a different part of an
event: an oscillation of a few kHz appears in bands D1 to D4, the fundamental stays in D8 and A8.
"""

import matplotlib.pyplot as plt
import numpy as np

from pqswarm.events import generate
from pqswarm.features import band_edges, band_names, decompose, describe_band, extract, feature_names
from pqswarm.report import plot_event, save_figure

event = generate("oscillatory_transient", seed=3, transient_frequency=2000, transient_onset=0.3)
figure = plot_event(event)
save_figure(figure, "bands.png")

# %%
# Eleven functions of each band give the 99 features. Which of them differ from an undisturbed voltage?

sine = generate("pure_sinusoid", seed=3, amplitude=1.0)
bands = band_names(8)
energy = [feature_names().index(f"{band}.energy") for band in bands]
disturbed, steady = (extract(each.signal, each.sampling_rate)[0][energy] for each in (event, sine))

_, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
place = np.arange(len(bands))
axis.bar(place - 0.2, steady, 0.4, label="pure sinusoid", color="#9aa5b1")
axis.bar(place + 0.2, disturbed, 0.4, label="2 kHz transient", color="#d24b00")
edges = [f"{band}\n{describe_band(*edge)}" for band, edge in zip(bands, band_edges(25_000, 8), strict=True)]
axis.set_xticks(place, [words.replace("to ", "to\n").replace("below ", "below\n") for words in edges], fontsize=8)
axis.set(yscale="log", ylabel="energy of the band")
axis.legend(frameon=False)
plt.show()

# %%
# The coefficients themselves, for your own features:

print({band: values.shape[-1] for band, values in zip(bands, decompose(event.signal, 8), strict=True)})
