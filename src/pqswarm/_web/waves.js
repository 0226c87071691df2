// The waveform viewer: linked panels over one time axis, zoom down to samples, two cursors, colored events.
// `view(from, to, points, signal)` returns a promise of the minima and maxima of an interval.
"use strict";
window.pq = window.pq || {};
(() => {
  const pq = window.pq;
  const MAX_POINTS = 1000; // columns of a view: two points each
  const MARGIN = 0.15; // fraction of the interval requested beyond each end
  const WAIT = 60; // changes closer than this belong together: only the first and the last are requested [ms]
  const KEPT = 12; // cached views
  const LANE = 17; // pixels
  const MAX_LANES = 4;
  const MAX_EVENTS = 400; // drawn at most
  const CYCLES = 12; // shown around a short event
  const PRINT = { width: 680, height: 760 }; // on a printed page, below a heading [px]
  const GESTURE = 600; // changes closer than this are one step of the history [ms]
  const MAX_STEPS = 100; // of the history
  const AROUND = 1.6; // interval shown around a long event, relative to its duration

  const button = (text, label, act, attributes = {}) =>
    pq.el("button", { title: label, "aria-label": label, ...attributes, on: { click: act } }, text);

  // The time between the cursors as text.
  const length = (x) => {
    const size = Math.abs(x);
    if (size >= 1) return `${pq.fixed(x, size < 100 ? 4 : 3)} s`;
    return size >= 1e-3 || size === 0 ? `${pq.fixed(1e3 * x, 1)} ms` : `${pq.fixed(1e6 * x, 1)} µs`;
  };

  class Waves {
    constructor(holder, recording, view, options = {}) {
      Object.assign(this, { recording, view, options, width: 0, left: 58, active: "A", events: [], hidden: new Set(), views: [], shown: null, past: [], end: new AbortController() });
      this.seconds = recording.seconds || recording.n_samples / recording.sampling_rate;
      this.minSpan = Math.min(this.seconds, 8 / recording.sampling_rate);
      this.range = this.clamp(...(options.range ?? [0, this.seconds]));
      const [from, to] = this.range;
      this.cursors = { A: this.snap(from + 0.4 * (to - from)), B: this.snap(from + 0.6 * (to - from)), ...options.cursors };
      for (const [name, t] of Object.entries(this.cursors)) this.cursors[name] = Math.min(Math.max(t, 0), this.seconds);
      this.thresholds = options.thresholds ?? []; // of Urms [pu]
      this.movedAt = -Infinity;
      this.number = 0; // drawing counter: outdated panels are redrawn
      this.groups = pq.panels.listGroups(recording);
      this.chooseGroups(options.wanted ?? []);
      if (options.groups) this.groups.forEach((group, i) => { group.on = options.groups.includes(i); });
      this.initial = this.shownGroups().join();
      this.panels = this.groups.flatMap((group) => group.panels);
      if (!recording.sources) this.panels.push(pq.panels.frequencyPanel());
      if (recording.status?.length) this.panels.push(new pq.panels.StatusPanel(recording.status));
      this.build(holder);
      this.pointer = new pq.wavesInput.Pointer(this);
      this.observer = new ResizeObserver(([entry]) => this.resize(entry.contentRect.width));
      this.observer.observe(this.stage);
      window.addEventListener("beforeprint", () => this.print(true), { signal: this.end.signal });
      window.addEventListener("afterprint", () => this.print(false), { signal: this.end.signal });
      this.resize(this.stage.clientWidth);
      this.load();
    }

    build(holder) {
      const named = (this.named = this.options.label || this.recording.name || this.recording.source || "the recording");
      this.background = pq.svg("svg", { class: "waves-back", "aria-hidden": "true" });
      this.overlay = pq.svg("svg", { class: "waves-over" });
      this.lanes = pq.svg("svg", { class: "waves-events", "aria-label": "Events", role: "group" });
      this.axis = pq.svg("svg", { class: "waves-axis", height: 44, role: "img", "aria-label": "Time" });
      this.hoverBox = pq.el("div", { class: "waves-hover", hidden: true });
      this.stage = pq.el("div", { class: "waves-stage" }, this.background, pq.el("div", { class: "waves-flags" }), this.lanes,
        this.panels.map((panel) => panel.box), this.axis, this.overlay, this.hoverBox);
      this.place = pq.el("span", { class: "waves-place" });
      this.cursorButtons = { A: button("A", "Cursor A", () => this.choose("A")), B: button("B", "Cursor B", () => this.choose("B")) };
      this.steps = [button("‹", "Previous event (P)", () => this.goToEvent(-1)), button("›", "Next event (N)", () => this.goToEvent(1))];
      const bar = pq.el("div", { class: "waves-bar", role: "toolbar", "aria-label": "Waveforms" },
        pq.el("span", { class: "waves-set" }, button("−", "Zoom out (-)", () => this.zoom(2)), button("+", "Zoom in (+)", () => this.zoom(0.5)),
          button("All", "All: the whole recording (0)", () => this.showAll()), button("A–B", "A–B: the interval between the cursors (Z)", () => this.showBetween()),
          this.undo = button("↶", "Previous zoom (Backspace)", () => this.back(), { disabled: true })),
        pq.el("span", { class: "waves-set" }, this.cursorButtons.A, this.cursorButtons.B),
        this.stepSet = pq.el("span", { class: "waves-set", hidden: true }, this.steps[0], pq.el("span", { class: "waves-word" }, "event"), this.steps[1]),
        this.place, this.chooser = this.buildChooser(), pq.phaseChooser(),
        this.help = button("?", "Keyboard shortcuts (?)", () => this.toggleKeys(), { class: "waves-help", "aria-expanded": "false" }));
      this.keys = pq.el("dl", { class: "waves-keys", hidden: true },
        pq.wavesInput.KEYS.map(([key, words]) => pq.el("div", {}, pq.el("dt", {}, key), pq.el("dd", {}, words))));
      this.note = pq.el("p", { class: "waves-note", role: "status", hidden: true });
      this.spoken = pq.el("p", { class: "spoken", "aria-live": "polite" });
      this.readout = this.buildReadout();
      this.root = pq.el("section", { class: "waves", tabindex: "0", "aria-label": `Waveforms of ${named}; press ? for keyboard shortcuts`, "data-state": "loading" },
        bar, this.keys, this.note, pq.el("div", { class: "waves-body" }, this.stage, this.readout), this.spoken);
      for (const panel of this.panels) {
        panel.onchange = () => { this.writeLegend(panel); this.fillValues(); this.redraw(); };
        panel.heading.addEventListener("click", () => { panel.folded = !panel.folded; panel.write(); this.redraw(); });
        this.writeLegend(panel);
      }
      this.applyGroups();
      this.drawCursors();
      holder.append(this.root);
    }

    // The choice of systems and feeders, if there are more than two or three groups.
    buildChooser() {
      const words = pq.el("summary", {});
      const boxes = this.groups.map((group, i) => pq.el("label", { "data-group": i }, pq.el("input", { type: "checkbox", on: { change: (event) => { group.on = event.target.checked; this.regroup(); } } }),
        pq.el("strong", {}, group.title), pq.el("span", { class: "soft" }, ` ${group.members.map((channel) => channel.name).join(", ")}`)));
      const filter = pq.el("input", { type: "search", placeholder: "Search channels", "aria-label": "Search channels", on: { input: () => {
        const wanted = filter.value.trim().toLowerCase();
        boxes.forEach((box) => { box.hidden = !box.textContent.toLowerCase().includes(wanted); });
      } } });
      const set = (on) => { this.groups.forEach((group, i) => { if (!boxes[i].hidden) group.on = on; }); this.regroup(); };
      const list = pq.el("div", { class: "waves-groups" }, pq.el("div", { class: "row" }, filter, pq.el("button", { on: { click: () => set(true) } }, "Show these"), pq.el("button", { on: { click: () => set(false) } }, "Hide these")), boxes);
      const chooser = pq.el("details", { class: "waves-choose", hidden: this.groups.length < 3 }, words, list);
      this.writeChooser = () => {
        const shown = this.groups.filter((group) => group.on).reduce((sum, group) => sum + group.members.length, 0);
        words.textContent = `Channels: ${shown} of ${this.recording.channels.length}`;
        boxes.forEach((box, i) => { box.firstChild.checked = this.groups[i].on; });
      };
      return chooser;
    }
    shownGroups() { return this.groups.flatMap((group, i) => (group.on ? [i] : [])); }
    // Indices of the channels shown, of each recording; null if all are.
    wantedChannels(source = 0) {
      const own = this.groups.filter((group) => group.members[0].source === source);
      return own.every((group) => group.on) ? null : own.filter((group) => group.on).flatMap((group) => group.members.map((channel) => channel.index)).sort((a, b) => a - b);
    }
    // Show or hide groups of channels; what was not requested yet is.
    regroup() {
      this.applyGroups();
      this.refresh();
      this.redraw();
      this.options.ongroups?.();
    }
    applyGroups() {
      for (const group of this.groups) for (const panel of group.panels) panel.box.hidden = panel.off = !group.on;
      this.writeChooser();
    }
    setGroups(indices) {
      if (indices.join() === this.shownGroups().join()) return;
      this.groups.forEach((group, i) => { group.on = indices.includes(i); });
      this.regroup();
    }
    // Of the kinds with wanted channels, show only the groups of these.
    chooseGroups(names) {
      const has = ({ members }) => members.some((channel) => names.includes(channel.name));
      const alike = ({ kind, members: [{ source }] }) => this.groups.filter((one) => one.kind === kind && one.members[0].source === source);
      for (const group of this.groups) if (alike(group).some(has)) group.on = has(group);
    }
    narrow(names) {
      this.chooseGroups(names);
      this.regroup();
    }
    // Show the groups of some channels too.
    reveal(names = []) {
      const hidden = this.groups.filter((group) => !group.on && group.members.some((channel) => names.includes(channel.name)));
      if (!hidden.length) return;
      hidden.forEach((group) => { group.on = true; });
      this.regroup();
    }

    writeLegend(panel) {
      const buttons = panel.channels.map((channel) => {
        const own = button([pq.dashed(channel), channel.name], `${channel.name}: show or hide`, () => this.toggle(channel.name),
          { class: "waves-channel", "data-channel": channel.name, "aria-pressed": String(!this.hidden.has(channel.name)) });
        return own;
      });
      panel.legend.replaceChildren(...(panel.isMeasured || panel.kind === "status" ? [] : buttons), ...(panel.rest ? [panel.rest] : []));
    }

    buildReadout() {
      const cell = (name, title, wide) => pq.el("div", { class: wide ? "wide" : "" }, pq.el("dt", {}, title), pq.el("dd", { "data-read": name }));
      this.values = pq.el("tbody");
      const head = pq.el("tr", {}, ["Channel", "A", "B", "B − A"].map((text) => pq.el("th", { scope: "col" }, text)));
      const readout = pq.el("div", { class: "readout", role: "group", "aria-label": `At the cursors, ${this.named}` },
        pq.el("dl", {}, cell("delta", "Δt"), cell("cycles", "cycles"), cell("frequency", "1/Δt"), cell("angle", "angle"), cell("A", "A", true), cell("B", "B", true)),
        pq.el("div", { class: "waves-values", tabindex: "0", role: "region", "aria-label": `Values at the cursors, ${this.named}` }, pq.el("table", {}, pq.el("thead", {}, head), this.values)));
      this.read = (name) => readout.querySelector(`[data-read="${name}"]`);
      this.fillValues();
      return readout;
    }

    fillValues() {
      this.valueRows = [];
      for (const panel of this.panels) {
        for (const channel of panel.channels) {
          const kind = panel.kind === "urms" ? "urms" : "value";
          const cells = ["A", "B", "delta"].map((cursor) => pq.el("td", { "data-read": kind, "data-channel": channel.name, "data-cursor": cursor }));
          const swatch = pq.el("span", { class: "swatch", style: { background: channel.color } });
          const unit = pq.el("span", { class: "soft" });
          const row = pq.el("tr", {}, pq.el("th", { scope: "row" }, swatch, kind === "urms" ? `Urms ${channel.name}` : channel.name, " ", unit), cells);
          this.valueRows.push({ panel, channel, cells, row, unit });
        }
      }
      this.values.replaceChildren(...this.valueRows.map((one) => one.row));
    }

    // Conversion between pixels and time.
    left0() { return this.stage.getBoundingClientRect().left + this.left; }
    fractionAt(x) { return (x - this.left0()) / this.width; }
    timeAt(x) { return this.range[0] + this.fractionAt(x) * (this.range[1] - this.range[0]); }
    pixelOf(t) { return this.left0() + this.inPlot(t); }
    inPlot(t) { return ((t - this.range[0]) / (this.range[1] - this.range[0])) * this.width; }
    isInside(x) { return this.fractionAt(x) >= 0 && this.fractionAt(x) <= 1; }
    snap(t) {
      const rate = this.recording.sampling_rate;
      return Math.min(Math.max(Math.round(t * rate), 0), Math.max(this.recording.n_samples - 1, 0)) / rate;
    }
    clamp(from, to) {
      const span = Math.min(Math.max(to - from, this.minSpan), this.seconds);
      const start = Math.min(Math.max((from + to - span) / 2, 0), this.seconds - span);
      return Number.isFinite(start) && Number.isFinite(span) ? [start, start + span] : [0, this.seconds];
    }

    // Public methods.
    show(from, to) {
      const range = this.clamp(from, to);
      if (range[0] === this.range[0] && range[1] === this.range[1]) return;
      if (!this.returning && performance.now() - this.movedAt > GESTURE) this.past.push([...this.range]);
      if (this.past.length > MAX_STEPS) this.past.shift();
      this.undo.disabled = !this.past.length;
      this.range = range;
      this.root.dataset.state = "loading";
      clearTimeout(this.timer);
      const now = performance.now();
      if (now - this.movedAt < WAIT) this.timer = setTimeout(() => this.load(), WAIT);
      else this.load(); // the first of several changes, or the only one
      this.movedAt = now;
      this.changed();
    }
    back() {
      const range = this.past.pop();
      if (!range) return;
      this.returning = true;
      this.show(...range);
      this.returning = false;
    }
    showAll() { this.show(0, this.seconds); }
    showBetween() {
      const [from, to] = [this.cursors.A, this.cursors.B].sort((a, b) => a - b);
      if (to > from) this.show(from - 0.1 * (to - from), to + 0.1 * (to - from));
    }
    center(t, span = this.range[1] - this.range[0]) {
      const wide = Math.min(Math.max(span, this.minSpan), this.seconds);
      const start = Math.min(Math.max(t - wide / 2, 0), this.seconds - wide);
      this.show(start, start + wide);
    }
    pan(seconds) { this.center((this.range[0] + this.range[1]) / 2 + seconds); }
    zoom(factor, t = (this.range[0] + this.range[1]) / 2) {
      const [from, to] = this.range;
      const span = Math.min(Math.max((to - from) * factor, this.minSpan), this.seconds);
      const fraction = (Math.min(Math.max(t, from), to) - from) / (to - from);
      this.show(Math.max(0, t - fraction * span), Math.max(0, t - fraction * span) + span);
    }
    setCursor(name, t, byHand = false) {
      if (!Number.isFinite(t)) return;
      this.cursors[name] = Math.min(Math.max(t, 0), this.seconds);
      if (byHand) this.choose(name, false);
      clearTimeout(this.probing);
      this.probing = setTimeout(() => this.probe(), 120);
      this.changed();
    }
    choose(name, bring = true) {
      this.active = name;
      const t = this.cursors[name];
      if (bring && (t < this.range[0] || t > this.range[1])) {
        this.setCursor(name, this.snap(this.range[0] + (name === "A" ? 0.4 : 0.6) * (this.range[1] - this.range[0])));
      }
      this.changed();
    }
    setThresholds({ interruption, sag, swell }) {
      this.thresholds = [interruption, sag, swell].filter(Number.isFinite);
      this.redraw();
    }
    setEvents(events) {
      this.events = [...events].filter((one) => Number.isFinite(one.start)).map((one) => ({ ...one, end: Math.max(one.end ?? one.start, one.start) }))
        .sort((one, other) => one.start - other.start);
      this.stepSet.hidden = !this.events.length;
      const ends = []; // of the lanes
      for (const one of this.events) {
        const lane = ends.findIndex((end) => end <= one.start + 1e-9);
        one.lane = Math.min(lane < 0 ? ends.length : lane, MAX_LANES - 1);
        ends[one.lane] = Math.max(ends[one.lane] ?? 0, one.end);
      }
      this.lanes.setAttribute("height", ends.length ? ends.length * LANE + 3 : 0);
      this.changed();
    }
    goToEvent(direction) {
      const [from, to] = this.range;
      const last = this.events.findIndex((one) => one.index === this.lastEvent && one.end >= from && one.start <= to);
      const inSight = direction > 0 ? this.events.findIndex((one) => one.start >= from) : this.events.findLastIndex((one) => one.end <= to);
      const place = last >= 0 ? last + direction : inSight >= 0 || direction < 0 ? inSight : this.events.length - 1;
      const event = this.events[Math.min(Math.max(place, 0), this.events.length - 1)];
      if (event) this.goTo(event);
    }
    // View of an event: center, span, and the cursors at its start and at the end of its worst cycle, or of the event [s].
    placeOf({ start, end, worst_end: worst }) {
      const cycle = 1 / this.recording.nominal_frequency;
      const long = Math.max(end - start, 0);
      return { t: start + long / 2, span: Math.min(Math.max(CYCLES * cycle, AROUND * long), this.seconds), a: start, b: Math.min(worst ?? start + (long || cycle), this.seconds) };
    }
    goTo(event) {
      this.lastEvent = event.index;
      this.reveal(event.channels);
      const { t, span, a, b } = this.placeOf(event);
      this.center(t, span);
      this.setCursor("A", a);
      this.setCursor("B", b);
      this.options.onevent?.(event.index);
    }
    toggle(name) {
      if (!this.hidden.delete(name)) this.hidden.add(name);
      for (const own of this.root.querySelectorAll(".waves-channel")) {
        if (own.dataset.channel === name) own.setAttribute("aria-pressed", String(!this.hidden.has(name)));
      }
      this.redraw();
    }
    toggleKeys() {
      this.keys.hidden = !this.keys.hidden;
      this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
    }
    // Draw for paper: at the width of a page, smaller if the panels are higher than one.
    print(on) {
      this.stage.style.zoom = "";
      this.root.classList.toggle("printing", on);
      this.resize(on ? PRINT.width : this.stage.clientWidth);
      this.frame();
      const size = on ? Math.min(1, PRINT.height / this.stage.clientHeight) : 1;
      if (size < 1) {
        this.stage.style.zoom = size;
        this.resize(PRINT.width / size);
        this.frame();
      }
      const wide = this.left + this.width + 10, high = this.stage.clientHeight;
      for (const drawing of this.stage.querySelectorAll(":scope > svg, .waves-panel > svg")) {
        const isLayer = drawing === this.background || drawing === this.overlay;
        const own = isLayer ? high : drawing.getAttribute("height");
        if (!on) ["viewBox", "preserveAspectRatio"].forEach((name) => drawing.removeAttribute(name));
        else if (own) drawing.setAttribute("viewBox", `0 0 ${wide} ${own}`);
        if (on && isLayer) drawing.setAttribute("preserveAspectRatio", "none");
      }
    }
    refresh() {
      this.views = [];
      this.exact = null;
      this.load();
    }
    destroy() {
      this.end.abort();
      this.aborter?.abort();
      this.prober?.abort();
      this.observer.disconnect();
      cancelAnimationFrame(this.waiting);
      [this.timer, this.probing, this.telling, this.speaking].forEach(clearTimeout);
      this.root.remove();
      this.gone = true;
    }
  }

  Object.assign(Waves, { LANE, MAX_EVENTS, MAX_POINTS, MARGIN, KEPT, spanText: length });
  pq.Waves = Waves;
})();
