"""A page with the waveform viewer alone, over waves that the page itself makes."""

import json

from pqswarm._web import VIEWER, read_scripts, read_styles

PROVIDER = """
const seconds = 10, rate = 6400, n = seconds * rate;
const wave = (phase, level) => Float32Array.from({ length: n }, (_, i) =>
  (level && i >= 2 * rate && i < 2.5 * rate ? level : 1) * 16000 * Math.sin(2 * Math.PI * (50 * i / rate - phase / 3)));
const data = [wave(0, 0.5), wave(1), wave(2), wave(0).map((x) => x / 100)];
data[1][3 * rate] = NaN;
window.asked = [];
window.answer = (from, to, points, wait = 0, signal = null) => new Promise((done, fail) => {
  asked.push([from, to, points]);
  const first = Math.max(0, Math.floor(from * rate)), stop = Math.min(n, Math.ceil(to * rate));
  const exact = stop - first <= 2 * points, step = exact ? 1 : Math.ceil((stop - first) / points);
  const parts = Math.ceil((stop - first) / step);
  const channels = data.map((x, index) => {
    const low = new Float32Array(parts).fill(Infinity), high = new Float32Array(parts).fill(-Infinity);
    for (let k = first; k < stop; k += 1) {
      const i = Math.floor((k - first) / step);
      if (!(x[k] >= low[i])) low[i] = x[k];
      if (!(x[k] <= high[i])) high[i] = x[k];
    }
    return { index, low, high: exact ? null : high };
  });
  const count = Math.floor(seconds * 100) - 1;
  const level = Float32Array.from({ length: count }, (_, i) => (i >= 200 && i < 249 ? 0.5 : 1));
  const urms = { from: 0.01, step: 0.01, channels: [{ index: 0, low: level, high: null }] };
  signal?.addEventListener("abort", () => { window.aborted = (window.aborted ?? 0) + 1; });
  const view = { from: first / rate, to: stop / rate, n: parts, step: step / rate, exact, fraction: 1, channels, urms };
  if (wait === Infinity) window.release = () => done(view);
  else setTimeout(() => done(view), wait);
});
const view = (from, to, points, signal) => answer(from, to, points, window.wait ?? 0, signal);
window.viewer = new pq.Waves(document.getElementById("holder"), header, view,
  { thresholds: [0.1, 0.9, 1.1],
    onevent: (index) => { window.chosen = index; }, onchange: (state) => { window.state = state; } });
viewer.setEvents(events);
"""


def write_page(path, names=("UA", "UB", "UC", "IA"), title="sag on phase A"):
    """Write the page: ten seconds of three voltages and a current, phase A at half from 2.0 to 2.5 s."""
    channels = [
        {"name": name, "unit": "A" if i == 3 else "V", "phase": "ABCA"[i], "kind": "current" if i == 3 else "voltage"}
        for i, name in enumerate(names)
    ]
    header = {"name": names[0], "start": "2026-03-04T05:06:07.089000", "seconds": 10, "n_samples": 64_000}
    header |= {"sampling_rate": 6400, "nominal_frequency": 50, "channels": channels}
    header["status"] = [
        {"name": f"{names[0]} trip", "changes": [[0, 0], [2.1, 1], [2.5, 0]]},
        {"name": "spare", "changes": [[0, 0]]},
    ]
    events = [
        {"start": 2.0, "end": 2.5, "type": "sag", "title": title, "index": 7},
        {"start": 6.0, "end": 6.0, "type": "transient", "title": "transient", "index": 9},
    ]
    data = f"const header = {json.dumps(header)}, events = {json.dumps(events)};".replace("<", "\\u003c")
    style = read_styles("colours.css", "base.css", "waves.css") + "body { padding: 10px; }"
    path.write_text(
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="data:,"><title>waves</title><style>{style}</style><div id=holder></div>'
        f"<script>{read_scripts(*VIEWER)}</script><script>{data}{PROVIDER}</script>",
        encoding="utf-8",
    )
    return path
