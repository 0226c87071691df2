// Wavelet bands of the visible interval, on demand, aligned with the waveforms.
"use strict";
(() => {
  const pq = window.pq;
  const WAIT = 300; // milliseconds
  const STRIP = 58; // pixels

  // One strip per band, each with its own scale, over a common time axis: left, width in pixels; from, to [s].
  // bands: [{name, range, from, step, low, high}] with low and high in base64, high is null where low holds samples.
  const drawStrips = (holder, bands, { left, width, from, to, unit, color }) => {
    const place = (t) => (left + (width * (t - from)) / (to - from)).toFixed(1);
    const whole = left + width + 10;
    const strips = bands.map((one, i) => {
      const [low, high] = [pq.floats(one.low), pq.floats(one.high)];
      const peak = low.reduce((size, value, j) => Math.max(size, Math.abs(value) || 0, Math.abs(high?.[j]) || 0), 0);
      const y = (value) => (STRIP / 2 - (peak ? value / peak : 0) * (STRIP / 2 - 6)).toFixed(1);
      let path = "";
      for (let j = 0; j < low.length; j += 1) {
        if (Number.isNaN(low[j])) continue;
        const x = place(one.from + j * one.step);
        path += `${path ? "L" : "M"}${x} ${y(low[j])}`;
        if (high) path += `L${x} ${y(high[j])}`;
      }
      return pq.svg("svg", { class: "band", width: whole, height: STRIP, viewBox: `0 0 ${whole} ${STRIP}`, role: "img", "data-band": one.name, "aria-label": `Band ${one.name}, ${one.range}, peak ${pq.si(peak, unit)}` },
        pq.svg("path", { class: "grid", d: `M${left} ${STRIP / 2}H${left + width}` }),
        pq.svg("path", { class: "wave", d: path, style: { stroke: color(i) } }),
        pq.svg("text", { class: "name", x: left - 6, y: STRIP / 2 - 3, "text-anchor": "end" }, one.name),
        pq.svg("text", { class: "soft", x: left - 6, y: STRIP / 2 + 11, "text-anchor": "end" }, `±${pq.number(peak, 2)}`),
        pq.svg("text", { class: "soft", x: left + 5, y: 11 }, one.range));
    });
    holder.replaceChildren(...strips);
  };

  pq.Bands = class {
    constructor(holder, page) {
      Object.assign(this, { page, isOpen: false });
      this.button = pq.el("button", { "aria-expanded": "false", on: { click: () => this.toggle() } }, "Wavelet bands");
      const channels = page.header.channels.map((one, i) => [one, i]).sort(([one], [other]) => (other.kind === "voltage") - (one.kind === "voltage"));
      this.channel = pq.el("select", { "aria-label": "Channel of the bands", hidden: true, on: { change: () => this.load() } },
        channels.map(([one, i]) => pq.el("option", { value: i }, one.name)));
      this.words = pq.el("span", { class: "soft", role: "status" });
      this.plot = pq.el("div", { class: "strips" });
      this.tools = pq.el("span", { class: "tools", hidden: true }, pq.savers("bands", (name) => pq.saveSvgs(name, this.plot, this.plot.querySelectorAll("svg"))));
      holder.append(pq.el("div", { class: "row heading" }, this.button, this.channel, this.tools, this.words), this.plot);
    }

    destroy() {
      this.gone = true;
      clearTimeout(this.timer);
      this.end?.abort();
    }

    toggle() {
      this.isOpen = !this.isOpen;
      this.button.setAttribute("aria-expanded", String(this.isOpen));
      this.channel.hidden = this.tools.hidden = !this.isOpen;
      this.words.textContent = "";
      this.plot.replaceChildren();
      this.asked = "";
      if (this.isOpen) this.load();
      else this.end?.abort();
    }

    moved() {
      if (!this.isOpen) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), WAIT);
    }

    async load() {
      const [from, to] = this.page.waves.range;
      const query = new URLSearchParams({ from, to, channel: this.channel.value }).toString();
      if (query === this.asked) return;
      this.end?.abort();
      this.asked = query;
      const end = (this.end = new AbortController());
      try {
        const found = await this.page.api(`/bands?${query}`, { signal: end.signal });
        if (end.signal.aborted || this.gone) return;
        this.draw(found, from, to);
      } catch (error) {
        if (error.name === "AbortError" || this.gone) return;
        this.asked = "";
        this.plot.replaceChildren();
        this.words.textContent = error.message;
      }
    }

    draw(found, from, to) {
      this.words.textContent = found.note || "";
      const { left, width } = this.page.waves;
      const hertz = ([low, high]) => (high < 1000 ? `${pq.number(low, 3)}–${pq.number(high, 3)} Hz` : `${pq.number(low / 1000, 3)}–${pq.number(high / 1000, 3)} kHz`);
      const { phase } = this.page.header.channels[found.channel] ?? {};
      drawStrips(this.plot, found.bands.map((one) => ({ ...one, range: hertz(one.edges_hz) })), { left, width, from, to, unit: found.unit, color: (i) => pq.phaseColor(phase, i) });
    }
  };
})();
