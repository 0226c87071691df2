// Drawing of the waveform viewer: views are fetched on demand, and everything is drawn once per frame.
"use strict";
window.pq = window.pq || {};
(() => {
  const pq = window.pq;
  const { LANE, MAX_EVENTS, MAX_POINTS, MARGIN, KEPT, spanText: length } = pq.Waves;

  // Time since the first sample as an axis label.
  const axisUnit = (to) => (to < 2e-3 ? [1e6, "µs"] : to < 2 ? [1e3, "ms"] : to < 600 ? [1, "s"] : to < 3600 ? [1, "min:s"] : [1, "h:min:s"]);
  const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400]; // s
  const clockTicks = (from, to, n) => {
    const step = CLOCK_STEPS.find((one) => one * n >= to - from);
    if ((to - from) / n < 1 || !step) return pq.ticks(from, to, n);
    return Array.from({ length: Math.floor(to / step) - Math.ceil(from / step) + 1 }, (_, i) => (Math.ceil(from / step) + i) * step);
  };
  const clockLike = (t, digits) => {
    const whole = Math.round(t * 10 ** digits) / 10 ** digits;
    const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
    const seconds = (whole % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
    return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
  };
  const moment = (t) => (t >= 600 ? `${clockLike(t, 4)}` : t >= 2 ? `${t.toFixed(5)} s` : `${(1e3 * t).toFixed(2)} ms`);

  const methods = {
    // Fetching.
    wanted() {
      const [from, to] = this.range;
      const beyond = MARGIN * (to - from);
      const points = Math.max(50, Math.min(MAX_POINTS, Math.round(this.width * (1 + 2 * MARGIN)) || 600));
      return [Math.max(0, from - beyond), Math.min(this.seconds, to + beyond), points];
    },

    // The finest cached view that covers the interval.
    best(from = this.range[0], to = this.range[1]) {
      const slack = 1.01 / this.recording.sampling_rate;
      const fit = this.views.filter((view) => view.from <= from + slack && view.to >= to - slack);
      return fit.sort((one, other) => one.step - other.step)[0] ?? (this.recording.is_kept ? this.views[0] : null) ?? null; // of a deleted recording there is only one
    },

    load() {
      if (this.gone) return;
      clearTimeout(this.timer);
      this.aborter?.abort();
      const [from, to, points] = this.wanted();
      const best = this.best();
      if (best && best.fraction >= 1 && (best.exact || best.step <= (1.7 * (to - from)) / points)) {
        this.settle("ready");
        return;
      }
      const aborter = (this.aborter = new AbortController());
      this.settle("loading");
      Promise.resolve(this.view(from, to, points, aborter.signal, this.wantedChannels())).then(
        (view) => !aborter.signal.aborted && !this.gone && this.accept(view),
        (error) => {
          if (aborter.signal.aborted || this.gone || error?.name === "AbortError") return;
          this.settle("failed", `The waveforms cannot be shown: ${error?.message ?? error}`);
        });
    },

    accept(view) {
      const read = pq.panels.readView(view);
      this.views = this.views.filter((one) => one.fraction >= 1 && one !== read);
      if (this.views.length >= KEPT) this.views.splice(1, 1); // the first is that of the whole, most often
      this.views.push(read);
      if (read.fraction < 1) this.timer = setTimeout(() => this.load(), 400);
      const reading = read.fraction < 1 ? `Reading: ${Math.round(100 * read.fraction)} %` : "";
      this.settle(read.fraction < 1 ? "reading" : "ready", reading);
      this.probe();
    },

    settle(state, words = "") {
      this.root.dataset.state = state;
      this.note.textContent = words;
      this.note.hidden = !words;
      this.changed();
    },

    // The samples at the cursors, where the view is coarser.
    async probe() {
      this.prober?.abort();
      const prober = (this.prober = new AbortController());
      const step = 1 / this.recording.sampling_rate;
      for (const name of ["A", "B"]) {
        const t = this.snap(this.cursors[name]);
        const near = this.best(t, t);
        if (!near || near.exact || this.exact?.[name]?.t === t) continue;
        try {
          const view = await this.view(Math.max(0, t - 2 * step), Math.min(this.seconds, t + 3 * step), 8, prober.signal, this.wantedChannels());
          if (prober.signal.aborted || this.gone) return;
          if (!view.exact) continue;
          this.exact = { ...this.exact, [name]: { t, view: pq.panels.readView(view) } };
        } catch {
          return; // the picture has what can be said
        }
        this.changed();
      }
    },

    // Drawing, once per frame.
    changed() {
      if (this.waiting || this.gone) return;
      this.waiting = requestAnimationFrame(() => {
        this.waiting = 0;
        this.frame();
      });
    },

    redraw() {
      this.number += 1;
      this.changed();
    },

    resize(width) {
      if (!width) return;
      this.left = width < 560 ? 46 : 60;
      const inner = Math.max(60, Math.floor(width - this.left - 10));
      if (inner === this.width) return;
      this.width = inner;
      this.redraw();
      clearTimeout(this.timer);
      if (this.views.length) this.timer = setTimeout(() => this.load(), 150);
    },

    frame() {
      if (!this.width || this.gone) return;
      const best = this.best() ?? this.shown;
      const fresh = best && best !== this.shown;
      // The best view is drawn once it covers the interval; until then the last drawing is scaled.
      if (fresh) this.shown = best;
      const [from, to] = this.range;
      for (const panel of this.panels) {
        if (panel.isMeasured) panel.box.hidden = panel.off || !panel.channels.some((channel) => panel.of(this.shown)?.lines.has(channel.index));
        if (panel.folded || panel.box.hidden) continue;
        const drawn = panel.drawn;
        const moved = drawn && (drawn.range[0] !== from || drawn.range[1] !== to);
        const settled = this.root.dataset.state === "ready" && moved;
        if (!drawn || drawn.view !== this.shown || drawn.number !== this.number || settled || (moved && panel.kind === "status")) {
          panel.draw(this.shown, this.range, { width: this.width, left: this.left, hidden: this.hidden, frequency: this.recording.nominal_frequency, thresholds: this.thresholds, number: this.number });
        } else panel.stretch(this.range, this.width);
      }
      if (this.shown) {
        this.root.dataset.step = this.shown.step;
        this.root.dataset.exact = this.shown.exact;
      }
      const coarse = this.shown && !this.shown.exact && (this.shown.step / (to - from)) * this.width > 4;
      if (this.options.coarse && this.root.dataset.state === "ready") {
        this.note.textContent = coarse ? this.options.coarse : "";
        this.note.hidden = !coarse;
      }
      const height = this.stage.clientHeight;
      this.drawTime(height);
      this.drawEvents(height);
      this.drawCursors(height);
      this.writeReadout();
      this.tell();
    },

    drawTime(height) {
      const [from, to] = this.range;
      const [scale, unit] = axisUnit(to);
      const ticks = (unit.includes(":") ? clockTicks : pq.ticks)(from * scale, to * scale, Math.max(2, Math.floor(this.width / 95)));
      const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
      let digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      if (Math.abs((step * 10 ** digits) % 1) > 1e-6 && Math.abs(((step * 10 ** digits) % 1) - 1) > 1e-6) digits += 1;
      const x = (tick) => (this.left + this.inPlot(tick / scale)).toFixed(1);
      this.lines = ticks.map((tick) => `M${x(tick)} 0V${height - 40}`).join("");
      const texts = ticks.filter((tick) => +x(tick) > this.left + 8).map((tick) => pq.svg("text", { x: x(tick), y: 16, "text-anchor": +x(tick) > this.left + this.width - 24 ? "end" : "middle" },
        unit.includes(":") ? clockLike(tick, digits) : pq.fixed(tick, digits)));
      const middle = (from + to) / 2;
      const clock = pq.clock(this.recording.start, middle);
      const narrow = this.width < 420;
      this.axis.replaceChildren(...texts,
        pq.svg("text", { class: "soft", x: this.left, y: 36 }, `${narrow ? "time" : "time from the first sample"} [${unit}]`),
        clock ? pq.svg("text", { class: "soft", x: this.left + this.width, y: 36, "text-anchor": "end" }, `${narrow ? "" : "center "}${narrow ? "" : `${this.recording.start.slice(0, 10)} `}${clock}`) : "");
      const cycles = (to - from) * this.recording.nominal_frequency;
      this.place.textContent = `${length(to - from)}${cycles < 1000 ? ` (${pq.fixed(cycles, 1)} cycles)` : ""} from ${moment(from)}`;
    },

    drawEvents(height) {
      const [from, to] = this.range;
      const shown = this.events.filter((one) => one.end >= from && one.start <= to).slice(0, MAX_EVENTS);
      const shades = [], bars = [];
      for (const one of shown) {
        const start = Math.max(0, this.inPlot(one.start));
        const wide = Math.max(Math.min(this.width, this.inPlot(one.end)) - start, 2);
        const color = pq.typeColor(one.type);
        const whole = one.end - one.start > 0.95 * this.seconds && this.events.length > 1; // steady: its lane says it
        if (!whole) shades.push(pq.svg("rect", { class: "shade", x: (this.left + start).toFixed(1), y: 0, width: wide.toFixed(1), height: Math.max(0, height - 44), style: { fill: color } }));
        const title = one.title || one.type;
        const bar = Math.max(wide, 8), letters = Math.floor((bar - 8) / 6.6);
        const words = title.slice(0, Math.max(letters, 0) + 1).replace(/[\s,(]*\S*$/, "").replace(/[\s,]*\([^)]*$/, "");
        const text = title.length <= letters ? title : /\w$/.test(words) ? words : ""; // whole words of its label
        bars.push(pq.svg("g", { class: "event", "data-event": one.index, "data-type": one.type, role: "button", tabindex: "-1", "aria-label": title, on: { click: () => this.goTo(one), pointermove: (event) => pq.tip(event, title), pointerleave: pq.hideTip } },
          pq.svg("rect", { x: (this.left + start).toFixed(1), y: one.lane * LANE + 1, width: bar.toFixed(1), height: LANE - 2, rx: 3, style: { fill: color } }),
          text ? pq.svg("text", { x: (this.left + start + 5).toFixed(1), y: one.lane * LANE + LANE - 5 }, text) : ""));
      }
      this.background.replaceChildren(pq.svg("path", { class: "grid", d: this.lines ?? "" }), ...shades);
      pq.hideTip();
      this.lanes.replaceChildren(...bars);
    },

    drawCursors(height = 0) {
      this.marks ??= Object.fromEntries(["A", "B"].map((name) => {
        const group = pq.svg("g", { class: "cursor", "data-cursor": name, role: "slider", tabindex: "0", "aria-label": `Cursor ${name}`, on: { focus: () => this.choose(name, false) } },
          pq.svg("path", { class: "reach" }), pq.svg("path", { class: "rule" }), pq.svg("path", { class: "flag", d: "M-9 1h18v12l-9 6l-9 -6z" }), pq.svg("text", { "text-anchor": "middle", y: 12 }, name));
        this.overlay.append(group);
        return [name, group];
      }));
      this.band ??= this.overlay.insertBefore(pq.svg("rect", { class: "between", y: 20 }), this.overlay.firstChild);
      this.selection ??= this.overlay.appendChild(pq.svg("rect", { class: "selection", y: 0, visibility: "hidden" }));
      this.hair ??= this.overlay.insertBefore(pq.svg("path", { class: "hair", visibility: "hidden" }), this.overlay.firstChild);
      for (const [name, group] of Object.entries(this.marks)) {
        const t = this.cursors[name], x = this.left + this.inPlot(t);
        const out = x < this.left - 0.5 || x > this.left + this.width + 0.5;
        group.classList.toggle("out", out);
        group.classList.toggle("active", name === this.active);
        const at = out ? (x < this.left ? this.left + 4 : this.left + this.width - 4) : x;
        group.setAttribute("transform", `translate(${at.toFixed(2)} 0)`);
        group.dataset.time = t;
        group.setAttribute("aria-valuenow", t);
        group.setAttribute("aria-valuemin", 0);
        group.setAttribute("aria-valuemax", this.seconds);
        group.setAttribute("aria-valuetext", moment(t));
        for (const kind of ["reach", "rule"]) group.querySelector(`.${kind}`).setAttribute("d", out ? "" : `M0 18V${Math.max(18, height - 40)}`);
        this.cursorButtons[name].setAttribute("aria-pressed", String(name === this.active));
      }
      const [a, b] = [this.cursors.A, this.cursors.B].sort((one, other) => one - other).map((t) => Math.min(Math.max(this.inPlot(t), 0), this.width));
      for (const [key, value] of [["x", this.left + a], ["width", b - a], ["height", Math.max(0, height - 64)]]) this.band.setAttribute(key, value.toFixed(1));
      if (this.overlay.lastChild !== this.marks[this.active] && height) this.overlay.append(this.marks[this.active]);
    },

    select(stretch) {
      const [from, to] = (stretch ?? [0, 0]).map((t) => Math.min(Math.max(this.inPlot(t), 0), this.width)).sort((a, b) => a - b);
      for (const [key, value] of [["x", this.left + from], ["width", to - from], ["height", this.stage.clientHeight - 40], ["visibility", stretch ? "visible" : "hidden"]]) this.selection.setAttribute(key, value);
    },

    // Values at the pointer.
    hover(event, cursor) {
      const inside = event && this.isInside(event.clientX) && !event.target.closest("button, .event");
      this.hoverBox.hidden = !inside;
      this.hair.setAttribute("visibility", inside ? "visible" : "hidden");
      this.stage.classList.toggle("grab", Boolean(inside && cursor));
      if (!inside) return;
      const box = this.stage.getBoundingClientRect();
      const t = this.timeAt(event.clientX);
      const x = event.clientX - box.left, y = event.clientY - box.top;
      this.hair.setAttribute("d", `M${x.toFixed(1)} 0V${box.height - 40}`);
      const panel = this.panels.find((one) => one.svg.contains(event.target)) ?? this.panels[0];
      const clock = pq.clock(this.recording.start, t);
      const lines = panel.channels.filter((channel) => !this.hidden.has(channel.name)).slice(0, 12).map((channel) => pq.el("div", {},
        pq.el("span", { class: "swatch", style: { background: channel.color } }), pq.el("span", { class: "name" }, channel.name),
        pq.el("span", { class: "value" }, channel.status ? panel.say(panel.stateAt(channel, t)) : `${panel.say(pq.panels.valueAt(panel.of(this.shown), channel.index, t))} ${panel.units}`)));
      this.hoverBox.replaceChildren(pq.el("strong", {}, moment(t)), clock ? pq.el("span", { class: "soft" }, ` ${clock}`) : "", ...lines);
      const wide = this.hoverBox.offsetWidth, high = this.hoverBox.offsetHeight;
      this.hoverBox.style.transform = `translate(${Math.round(x + 16 + wide > box.width ? Math.max(0, x - wide - 14) : x + 16)}px, ${Math.round(Math.min(y + 14, box.height - high - 4))}px)`;
    },

    // Cursor readout.
    writeReadout() {
      const { A, B } = this.cursors;
      const delta = B - A, frequency = this.recording.nominal_frequency, cycles = delta * frequency;
      const write = (name, text, value) => {
        const cell = this.read(name);
        if (cell.textContent !== text) cell.textContent = text;
        cell.dataset.value = value;
      };
      write("delta", length(delta), delta);
      write("cycles", `${pq.fixed(cycles, Math.abs(cycles) < 0.9995 && cycles ? 2 : 1)} cycles`, cycles);
      write("frequency", delta ? `${pq.si(1 / Math.abs(delta), "Hz")}` : "–", delta ? 1 / Math.abs(delta) : 0);
      const angle = 360 * (cycles - Math.round(cycles)); // within half a turn
      write("angle", Math.abs(cycles) <= 2 ? `${pq.fixed(angle, 1)}°` : "–", angle);
      for (const name of ["A", "B"]) {
        const clock = pq.clock(this.recording.start, this.cursors[name]);
        write(name, `${moment(this.cursors[name])}${clock ? ` · ${clock}` : ""}`, this.cursors[name]);
      }
      for (const { panel, channel, cells, row, unit } of this.valueRows) {
        if (unit.textContent !== panel.units) unit.textContent = panel.units;
        row.hidden = this.hidden.has(channel.name) || panel.box.hidden || (panel.isMeasured && !panel.of(this.shown)?.lines.has(channel.index));
        const found = ["A", "B"].map((name) => this.valueOf(panel, channel, name));
        const whole = found.every((pair) => pair && pair[0] === pair[1]);
        const texts = channel.status ? [...found.map((state) => panel.say(state)), ""] :
          [...found.map((pair) => panel.say(pair)), whole ? panel.say([found[1][0] - found[0][0], found[1][0] - found[0][0]]) : "–"];
        cells.forEach((cell, i) => {
          if (cell.textContent !== texts[i]) cell.textContent = texts[i];
          if (i < 2 && found[i] && !channel.status) cell.dataset.value = found[i][0];
        });
      }
    },

    valueOf(panel, channel, name) {
      const t = this.cursors[name];
      if (channel.status) return panel.stateAt(channel, t);
      const exact = this.exact?.[name];
      if (!panel.isMeasured && exact && exact.t === this.snap(t)) return pq.panels.valueAt(panel.of(exact.view), channel.index, exact.t);
      return pq.panels.valueAt(panel.of(this.best(t, t) ?? this.shown), channel.index, t);
    },

    // Listeners are notified after a short pause, screen readers after a longer one.
    tell() {
      const state = JSON.stringify([this.range, this.cursors]);
      if (state === this.told) return;
      this.told = state;
      this.telling ??= setTimeout(() => {
        this.telling = undefined;
        this.options.onchange?.({ range: [...this.range], cursors: { ...this.cursors } });
      }, 100);
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => {
        this.spoken.textContent = `Cursor ${this.active} at ${moment(this.cursors[this.active])}, delta t ${this.read("delta").textContent}, ${this.read("cycles").textContent}`;
      }, 700);
    },
  };
  for (const [name, method] of Object.entries(methods)) Object.defineProperty(pq.Waves.prototype, name, { value: method, writable: true });
})();
