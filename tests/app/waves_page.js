// Waves that the page itself makes, and the viewer over them.
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
