// Wavelet bands of the stretch that is shown, on demand, below the waveforms and to their scale of time.
"use strict";
(() => {
  const pq = window.pq;
  const WAIT = 300; // milliseconds
  const STRIP = 58; // pixels

  pq.Bands = class {
    constructor(holder, page) {
      Object.assign(this, { page, isOpen: false });
      this.button = pq.el("button", { "aria-expanded": "false", on: { click: () => this.toggle() } }, "Wavelet bands");
      const channels = page.header.channels.map((one, i) => [one, i]).sort(([one], [other]) => (other.kind === "voltage") - (one.kind === "voltage"));
      this.channel = pq.el("select", { "aria-label": "Channel of the bands", hidden: true, on: { change: () => this.load() } },
        channels.map(([one, i]) => pq.el("option", { value: i }, one.name)));
      this.words = pq.el("span", { class: "soft", role: "status" });
      this.plot = pq.el("div", { class: "strips" });
      holder.append(pq.el("div", { class: "row heading" }, this.button, this.channel, this.words), this.plot);
    }

    destroy() {
      this.gone = true;
      clearTimeout(this.timer);
      this.end?.abort();
    }

    toggle() {
      this.isOpen = !this.isOpen;
      this.button.setAttribute("aria-expanded", String(this.isOpen));
      this.channel.hidden = !this.isOpen;
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
        const found = await this.page.api(`/bands?${query}`, { signal: AbortSignal.any([end.signal, this.page.end.signal]) });
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
      this.plot.replaceChildren(...found.bands.map((band, i) => {
        const [low, high] = [pq.floats(band.low), pq.floats(band.high)];
        const most = (high ?? low).reduce((size, x, j) => Math.max(size, Math.abs(x) || 0, Math.abs(low[j]) || 0), 0);
        const x = (j) => (left + (width * (band.from + j * band.step - from)) / (to - from)).toFixed(1);
        const y = (value) => (STRIP / 2 - (most ? value / most : 0) * (STRIP / 2 - 6)).toFixed(1);
        let path = "";
        for (let j = 0; j < low.length; j += 1) {
          if (Number.isNaN(low[j])) continue;
          path += `${path ? "L" : "M"}${x(j)} ${y(low[j])}`;
          if (high) path += `L${x(j)} ${y(high[j])}`;
        }
        return pq.svg("svg", { class: "strip", width: left + width + 10, height: STRIP, role: "img", "data-band": band.name, "aria-label": `Band ${band.name}, ${hertz(band.edges_hz)}, at most ${pq.si(most, found.unit)}` },
          pq.svg("line", { class: "grid", x1: left, x2: left + width, y1: STRIP / 2, y2: STRIP / 2 }),
          pq.svg("path", { class: "wave", d: path, style: { stroke: pq.phaseColour(this.page.header.channels[found.channel]?.phase, i) } }),
          pq.svg("text", { x: left - 6, y: STRIP / 2 - 3, "text-anchor": "end", class: "name" }, band.name),
          pq.svg("text", { x: left - 6, y: STRIP / 2 + 11, "text-anchor": "end", class: "soft" }, `±${pq.number(most, 2)}`),
          pq.svg("text", { x: left + 5, y: 11, class: "soft" }, `${hertz(band.edges_hz)}`));
      }));
    }
  };
})();
