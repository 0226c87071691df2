// Panels of the waveform viewer: which channels share a panel, and how views become lines and bands.
"use strict";
window.pq = window.pq || {};
(() => {
  const pq = window.pq;
  const MAX_IN_PANEL = 6;
  const MAX_OPEN = 3; // groups of a kind that are shown initially
  const TITLES = { voltage: "Voltage", direct: "DC voltage", current: "Current", other: "Other", urms: "Urms(1/2)", frequency: "Frequency", status: "Status" };
  const HEIGHTS = { voltage: 190, direct: 90, current: 150, other: 120, urms: 120, frequency: 90 };
  const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
  const SWING = 0.25; // cycles per column up to which the waveform is drawn, not its envelope
  const MAX_COLUMNS = 1000; // of a path
  const BEYOND = 0.2; // fraction of an interval drawn beyond each end
  const LEAST_HERTZ = 0.2; // shown of the frequency: less is noise
  const MAX_ROWS = 12; // of status channels shown initially
  const ROW = 18; // pixels of a status channel

  // Large values in units without SI prefixes get a power of ten.
  const powerOf = (size) => (size < 1e4 ? [1, ""] : size < 1e7 ? [1e3, "10³ "] : size < 1e10 ? [1e6, "10⁶ "] : [1e9, "10⁹ "]);

  // A view with its numbers decoded: floats, integers over a range, of which -32768 is a gap, or, of a synthetic one, arrays.
  const unpack = (values, { least, scale }) => (typeof values !== "string" ? values ?? null : scale === undefined ? pq.floats(values)
    : Float32Array.from(pq.integers(values), (step) => (step === -32768 ? NaN : least + (step + 32767) * scale)));
  const track = (from, step, exact, channels) => {
    const lines = new Map(channels.map((one) => [one.index, { low: unpack(one.low, one), high: unpack(one.high, one) }]));
    const n = Math.max(0, ...[...lines.values()].map((line) => line.low.length));
    return { from, step, exact, n, lines, to: from + n * step };
  };
  const known = new WeakMap();
  const readView = (view) => {
    if (!known.has(view)) known.set(view, unpackView(view));
    return known.get(view);
  };
  // A view of several recordings has a part for each.
  const unpackView = (view) => view.parts ? { ...view, parts: view.parts.map(unpackView) } : ({
    from: view.from, to: view.to, step: view.step, exact: Boolean(view.exact), fraction: view.fraction ?? 1,
    waves: track(view.from, view.step, Boolean(view.exact), view.channels),
    urms: view.urms && view.urms.channels.length
      ? track(view.urms.from, view.urms.step, !view.urms.channels.some((one) => one.high), view.urms.channels)
      : null,
    frequency: view.frequency ? track(view.frequency.from, view.frequency.step, !view.frequency.high, [{ index: 0, ...view.frequency }]) : null,
  });

  // Minimum and maximum at a point in time, or null if unknown.
  const valueAt = (track, index, t) => {
    const line = track?.lines.get(index);
    if (!line) return null;
    const place = (t - track.from) / track.step;
    let i = track.exact ? Math.round(place) : Math.floor(place + 1e-9);
    if (i === line.low.length) i -= 1; // the end itself
    if (!(i >= 0 && i < line.low.length)) return null;
    const low = line.low[i];
    const high = line.high ? line.high[i] : low;
    return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : null;
  };

  // Channels of one unit share a panel until a phase repeats: that starts another system or feeder. Channels that are
  // neither voltage nor current are grouped by unit only.
  const groups = (channels, byUnit) => {
    const found = [];
    for (const channel of channels) {
      const phase = channel.phase.slice(0, 1);
      const open = found.findLast((group) => group[0].unit === channel.unit && group[0].source === channel.source);
      const same = open && (byUnit || (open === found.at(-1) && !(phase && open.some((other) => other.phase.slice(0, 1) === phase))));
      const fits = same && open.length < MAX_IN_PANEL;
      if (fits) open.push(channel);
      else found.push([channel]);
    }
    return found;
  };

  // What the names of a group have in common, such as the feeder; empty if that says nothing.
  const commonName = (members) => {
    const [first, ...others] = members.map((channel) => channel.name);
    let n = others.length ? first.length : 0;
    while (n && !others.every((name) => name.startsWith(first.slice(0, n)))) n -= 1;
    const text = first.slice(0, n).replace(/[\s_.:/|·([-]*((phase|ph)?[\s_.:/|·([-]*|[uvi])$/i, ""); // "Bus I U" and "Bus I " are Bus I
    return text.length > 1 ? text : "";
  };

  // Groups of channels: systems, feeders, or what has one unit. The first of each kind are shown initially.
  const listGroups = (recording) => {
    const channels = recording.channels.map((channel, index) => ({ index, ...channel, phase: channel.phase || "", source: channel.source ?? 0 }));
    const listed = [];
    for (const kind of ["voltage", "direct", "current", "other"]) {
      const own = channels.filter((channel) => channel.kind === kind);
      const alive = groups(own.filter((channel) => !channel.is_dead), kind === "other" || kind === "direct");
      const found = [...alive, ...groups(own.filter((channel) => channel.is_dead), true)];
      found.forEach((members, number) => {
        const colors = new Set();
        members.forEach((channel, place) => {
          channel.color = pq.phaseColor(channel.phase, place);
          for (let next = place; colors.has(channel.color) && next < place + 6; next += 1) channel.color = pq.phaseColor("", next + 1);
          channel.dash = channel.color.replace("--phase", "--dash");
          colors.add(channel.color);
        });
        const own = commonName(members);
        const many = members[0].is_dead ? ` without signal${found.length - alive.length > 1 ? ` ${number - alive.length + 1}` : ""}` : alive.length > 1 ? `${own && new Set(alive.map(commonName)).size === alive.length ? "" : ` ${number + 1}`}${own ? ` ${own}` : ""}` : "";
        const panels = [new Panel(kind, `${TITLES[kind]}${many}`, members)];
        if (kind === "voltage") panels.push(new Panel("urms", `${TITLES.urms}${many}`, members));
        const before = found.slice(0, number).filter(([other]) => other.source === members[0].source).length;
        listed.push({ kind, title: `${TITLES[kind]}${many}`, members, panels, on: !members[0].is_dead && before < (recording.sources ? 1 : MAX_OPEN) });
      });
    }
    return listed;
  };

  class Panel {
    constructor(kind, title, channels, folded = false) {
      Object.assign(this, { kind, title, channels, folded, factor: 1, digits: 2, drawn: null });
      this.height = HEIGHTS[kind];
      this.unit = kind === "urms" ? "pu" : channels[0]?.unit ?? "";
      this.isMeasured = kind === "urms" || kind === "frequency"; // not recorded: shown once it is there
      this.heading = pq.el("button", { class: "waves-fold", "aria-expanded": String(!folded) });
      this.grid = pq.svg("path", { class: "grid" });
      this.labels = pq.svg("g", { class: "labels" });
      this.levels = pq.svg("g", { class: "levels" });
      this.series = pq.svg("g", { class: "series" });
      this.plot = pq.svg("svg", { class: "plot", y: 0 }, this.levels, this.series);
      const names = channels.map((channel) => channel.name).join(", ");
      this.svg = pq.svg("svg", { "data-panel": kind, role: "img", "aria-label": `${title}: ${names}` }, this.grid, this.labels, this.plot);
      this.legend = pq.el("div", { class: "waves-legend" });
      this.box = pq.el("div", { class: "waves-panel", "data-kind": kind }, pq.el("div", { class: "waves-head" }, this.heading, this.legend), this.svg);
      this.write();
    }

    write() {
      const unit = this.unit ? ` [${this.units}]` : "";
      if (this.heading.textContent !== `${this.title}${unit}`) this.heading.textContent = `${this.title}${unit}`;
      this.svg.style.display = this.folded ? "none" : "";
      this.heading.setAttribute("aria-expanded", String(!this.folded));
    }

    of(view) {
      const part = view?.parts ? view.parts[this.channels[0]?.source ?? 0] : view;
      return this.isMeasured ? part?.[this.kind] : part?.waves;
    }

    format(value, digits = this.digits) {
      return pq.fixed(value / this.factor, digits);
    }

    get units() {
      return `${this.prefix ?? ""}${this.unit}`;
    }

    // A value, or the two values that enclose it.
    say(pair) {
      if (!pair) return "–";
      const [low, high] = pair.map((value) => this.format(value));
      return low === high ? low : `${low} … ${high}`;
    }

    limits(track, shown, range, thresholds) {
      let low = Infinity, high = -Infinity;
      const first = Math.max(0, Math.floor((range[0] - track.from) / track.step));
      const stop = Math.min(track.n, Math.ceil((range[1] - track.from) / track.step) + 1);
      for (const channel of shown) {
        const line = track.lines.get(channel.index);
        if (!line) continue;
        for (let i = first; i < stop; i += 1) {
          if (line.low[i] < low) low = line.low[i];
          const top = line.high ? line.high[i] : line.low[i];
          if (top > high) high = top;
        }
      }
      if (this.kind === "urms") {
        low = Math.min(low, 0.88, ...thresholds.filter((level) => level > 0.5));
        high = Math.max(high, 1.12, ...thresholds);
        return [low < 0.6 ? 0 : low - 0.02, Math.min(high + 0.03, Math.max(3, high))];
      }
      if (!(high >= low)) return [-1, 1];
      const short = LEAST_HERTZ - (high - low);
      if (this.kind === "frequency" && short > 0) return [low - short / 2, high + short / 2];
      const pad = 0.07 * (high - low) || 0.1 * Math.abs(high) || 1;
      return [low - pad, high + pad];
    }

    // Draw the channels in an interval and somewhat beyond.
    draw(view, range, { width, left, hidden, frequency, thresholds, number }) {
      const known = this.of(view);
      const track = known && widen(thin(known, range), this.isMeasured ? 0 : frequency);
      const shown = this.channels.filter((channel) => !hidden.has(channel.name));
      const [low, high] = track ? this.limits(track, shown, range, thresholds) : [-1, 1];
      const height = this.height;
      const y = (value) => height - ((value - low) / (high - low)) * height;
      this.scale(low, high, width, left, y);
      this.drawn = { range: [...range], view, number };
      this.series.removeAttribute("transform");
      const cycles = track ? track.step * frequency : 0;
      const lines = [];
      for (const channel of track ? shown : []) {
        const line = track.lines.get(channel.index);
        if (!line) continue;
        const mode = !line.high ? "line" : cycles > SWING ? "band" : "swing";
        const d = trace(track, line, range, width, y, mode);
        const path = pq.svg("path", { class: mode, "data-channel": channel.name, d });
        path.style.setProperty("--own", channel.color);
        path.style.setProperty("--dash", channel.dash);
        lines.push(path);
        if (mode === "line" && track.step / (range[1] - range[0]) * width > 5) {
          const dots = pq.svg("path", { class: "dots", d: trace(track, line, range, width, y, "dots") });
          dots.style.setProperty("--own", channel.color);
          lines.push(dots);
        }
      }
      this.series.replaceChildren(...lines);
      this.levels.replaceChildren(...(this.kind === "urms" ? thresholds : []).filter((level) => level > low && level < high).flatMap((level) => [
        pq.svg("path", { class: "threshold", "data-level": level, d: `M0 ${y(level).toFixed(1)}H${width}` }),
        pq.svg("text", { class: "halo", x: width - 5, y: (y(level) + (y(level) < 15 || (level < 1 && y(level) < height - 14) ? 12 : -4)).toFixed(1), "text-anchor": "end" }, String(level)),
      ]));
      this.write();
    }

    scale(low, high, width, left, y) {
      const size = Math.max(Math.abs(low), Math.abs(high));
      const plain = this.isMeasured || !["V", "A", "W", "var", "VA", "Hz"].includes(this.unit);
      [this.factor, this.prefix] = plain ? powerOf(size) : PREFIXES.find(([minimum]) => size >= minimum * 1.0001) || PREFIXES[3];
      const ticks = pq.ticks(low, high, Math.max(2, Math.round(this.height / 34)));
      const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / this.factor : 1;
      const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) + (Math.abs(step * 10 ** Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) % 1) > 1e-6 ? 1 : 0));
      this.digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(size / this.factor, 1e-3)))));
      const inside = ticks.filter((value) => y(value) > 5 && y(value) < this.height - 4);
      this.grid.setAttribute("d", inside.map((value) => `M${left} ${y(value).toFixed(1)}h${width}`).join("") + `M${left} ${this.height - 0.5}h${width}M${left + 0.5} 0v${this.height}M${left} .5h${width}M${left + width - 0.5} 0v${this.height}`);
      this.labels.replaceChildren(...inside.map((value) =>
        pq.svg("text", { x: left - 6, y: (y(value) + 4).toFixed(1), "text-anchor": "end" }, pq.fixed(value / this.factor + 0, digits))));
      for (const [name, value] of [["x", left], ["width", width], ["height", this.height]]) this.plot.setAttribute(name, value);
      this.svg.setAttribute("height", this.height);
    }

    // While finer values are loading, scale the current drawing.
    stretch(range, width) {
      if (!this.drawn) return;
      const [start, end] = this.drawn.range;
      const scale = (end - start) / (range[1] - range[0]);
      const shift = ((start - range[0]) / (range[1] - range[0])) * width;
      if (scale === 1 && shift === 0) this.series.removeAttribute("transform");
      else this.series.setAttribute("transform", `matrix(${scale} 0 0 1 ${shift} 0)`);
    }
  }

  // Merge columns if a path would have too many points.
  const thin = (track, range) => {
    const visible = ((1 + 2 * BEYOND) * (range[1] - range[0])) / track.step;
    const each = Math.ceil(Math.min(track.n, visible) / MAX_COLUMNS);
    if (each < 3) return track;
    const n = Math.ceil(track.n / each);
    const lines = new Map();
    for (const [index, line] of track.lines) {
      const low = new Float32Array(n).fill(NaN), high = new Float32Array(n).fill(NaN);
      for (let i = 0; i < line.low.length; i += 1) {
        const k = Math.floor(i / each), top = line.high ? line.high[i] : line.low[i];
        if (!(low[k] <= line.low[i])) low[k] = Number.isFinite(line.low[i]) ? line.low[i] : low[k];
        if (!(high[k] >= top)) high[k] = Number.isFinite(top) ? top : high[k];
      }
      lines.set(index, { low, high });
    }
    return { from: track.from - (track.exact ? 0.5 * track.step : 0), step: track.step * each, exact: false, n, lines };
  };

  // Columns narrower than a cycle get the extremes of the cycle around them: their own extremes would beat with the grid.
  const widen = (track, frequency) => {
    const cycles = track.step * frequency;
    if (track.exact || cycles <= SWING || cycles > 1.5) return track;
    const reach = Math.ceil(0.5 / cycles);
    const over = (values, better) => values.map((own, i) => {
      let best = own;
      if (Number.isFinite(own)) for (let k = Math.max(0, i - reach); k <= Math.min(values.length - 1, i + reach); k += 1) if (better(values[k], best)) best = values[k];
      return best;
    });
    const lines = new Map([...track.lines].map(([index, line]) => [index, line.high ? { low: over(line.low, (a, b) => a < b), high: over(line.high, (a, b) => a > b) } : line]));
    return { ...track, lines };
  };

  // The path of a channel, at most two points per column; gaps stay gaps.
  const trace = (track, line, range, width, y, mode) => {
    const scale = width / (range[1] - range[0]);
    const beyond = BEYOND * (range[1] - range[0]);
    const first = Math.max(0, Math.floor((range[0] - beyond - track.from) / track.step));
    const stop = Math.min(line.low.length, Math.ceil((range[1] + beyond - track.from) / track.step) + 1);
    const start = track.from + (track.exact ? 0 : 0.5 * track.step) - range[0];
    const tenth = (value) => Math.round(value * 10) / 10;
    const x = (i) => tenth((start + i * track.step) * scale);
    const { low, high } = line;
    const parts = [];
    for (let i = first; i < stop; i += 1) {
      if (!Number.isFinite(low[i])) continue;
      let end = i;
      while (end < stop && Number.isFinite(low[end])) end += 1;
      if (mode === "dots") {
        for (let k = i; k < end; k += 1) parts.push(`M${x(k)} ${tenth(y(low[k]))}h0`);
      } else if (mode === "line") {
        parts.push("M");
        for (let k = i; k < end; k += 1) parts.push(`${x(k)} ${tenth(y(low[k]))}`);
        if (end === i + 1) parts.push("h0");
      } else if (mode === "band") {
        parts.push("M");
        for (let k = i; k < end; k += 1) parts.push(`${x(k)} ${tenth(y(high[k]))}`);
        for (let k = end - 1; k >= i; k -= 1) parts.push(`${x(k)} ${tenth(y(low[k]))}`);
        parts.push("Z");
      } else {
        parts.push("M");
        let last = (low[i] + high[i]) / 2;
        for (let k = i; k < end; k += 1) {
          const up = Math.abs(last - low[k]) <= Math.abs(last - high[k]);
          const [one, other] = up ? [low[k], high[k]] : [high[k], low[k]];
          parts.push(`${x(k - 0.25)} ${tenth(y(one))} ${x(k + 0.25)} ${tenth(y(other))}`);
          last = other;
        }
      }
      i = end;
    }
    return parts.join(" ");
  };

  // Status signals, one row each; constant ones can be shown on demand.
  class StatusPanel extends Panel {
    constructor(status) {
      const all = status.map((one, index) => ({ ...one, index, unit: "", phase: "", color: "var(--soft)", status: true }));
      const moving = all.filter((one) => one.changes.some(([, value]) => value !== one.changes[0][1]));
      const few = moving.slice(0, MAX_ROWS);
      super("status", TITLES.status, few, !few.length);
      const rest = all.length - few.length;
      if (!rest) return;
      const still = all.length - moving.length;
      const more = still === rest ? `show ${rest} constant` : `${rest} more: show`;
      this.rest = pq.el("button", { class: "waves-rest", on: { click: () => {
        this.channels = this.channels === all ? few : all;
        this.folded = !this.channels.length;
        this.rest.textContent = this.channels === all ? "show fewer" : more;
        this.drawn = null;
        this.onchange?.();
      } } }, more);
    }

    stateAt(channel, t) {
      return channel.changes.findLast(([moment]) => moment <= t)?.[1] ?? null; // not known before the first
    }

    say(state) {
      return state === null ? "–" : String(state);
    }

    stretch() {}

    draw(view, range, { width, left, hidden, number }) {
      const shown = this.channels.filter((channel) => !hidden.has(channel.name));
      this.height = Math.max(ROW, ROW * shown.length);
      this.drawn = { range: [...range], view, number };
      const scale = width / (range[1] - range[0]);
      const rows = shown.flatMap((channel, row) => {
        const top = row * ROW + 4, bottom = row * ROW + ROW - 4;
        const parts = [];
        let last = -Infinity, state = this.stateAt(channel, range[0]), at = 0;
        const fill = (x) => state && parts.push(`M${at} ${bottom}V${top}H${x}V${bottom}Z`);
        for (const [moment, value] of channel.changes) {
          const x = Math.round((moment - range[0]) * scale * 10) / 10;
          if (moment <= range[0] || x > width || value === state) continue;
          if (x - last < 0.5 && !value) continue; // finer than the screen
          fill(x);
          [at, last, state] = [x, x, value];
        }
        fill(width);
        const name = channel.name.length > 40 ? `${channel.name.slice(0, 39)}…` : channel.name;
        return [
          pq.svg("path", { class: "rail", d: `M0 ${bottom + 0.5}H${width}` }),
          pq.svg("path", { class: "status", "data-channel": channel.name, d: parts.join("") }),
          pq.svg("text", { class: "halo", x: 6, y: bottom }, name),
        ];
      });
      this.series.replaceChildren(...rows);
      this.grid.setAttribute("d", `M${left + 0.5} 0v${this.height}M${left + width - 0.5} 0v${this.height}`);
      for (const [name, value] of [["x", left], ["width", width], ["height", this.height]]) this.plot.setAttribute(name, value);
      this.svg.setAttribute("height", this.height);
      this.write();
    }
  }

  // The frequency over time, one line.
  const frequencyPanel = () => new Panel("frequency", TITLES.frequency, [{ index: 0, name: "frequency", unit: "Hz", phase: "", source: 0, color: "var(--ink)", dash: "none" }]);

  pq.panels = { listGroups, frequencyPanel, StatusPanel, readView, valueAt };
})();
