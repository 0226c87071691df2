// Charts of data computed by the server: line chart, scatter plot and feature map.
"use strict";
(() => {
  const pq = window.pq;

  const label = (v) => {
    const size = Math.abs(v);
    const text = size >= 1e6 ? `${+(v / 1e6).toPrecision(3)}M` : size >= 1e4 ? `${+(v / 1e3).toPrecision(3)}k` : String(+v.toPrecision(6));
    return text.replace("-", "−");
  };
  // Ticks of a logarithmic axis: powers of ten, with 2 and 5 in between if there are few.
  const logTicks = (low, high) => {
    const powers = pq.logTicks(low, high);
    if (powers.length > 3) return powers;
    const ticks = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p += 1) {
      for (const digit of powers.length > 2 ? [1, 3] : [1, 2, 5]) ticks.push(digit * 10 ** p);
    }
    const fit = ticks.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    return fit.length > 1 ? fit : pq.ticks(low, high, 5).filter((v) => v > 0);
  };

  // Base of charts with two axes: figure, legend, axes, and fitting to the available width.
  class Chart {
    constructor(holder, options, kind) {
      this.hidden = new Set();
      this.caption = pq.el("figcaption");
      this.legend = pq.el("div", { class: "tools legend", role: "group", "aria-label": "Series" });
      this.tools = pq.el("div", { class: "tools" });
      this.svg = pq.svg("svg", { class: "plot", role: "img" });
      this.note = pq.el("p", { class: "note" });
      this.element = pq.el("figure", { class: `chart ${kind}` }, this.caption, this.legend, this.svg, this.note, this.tools);
      holder.append(this.element);
      this.options = {};
      this.log = { x: Boolean(options.x?.log), y: Boolean(options.y?.log) };
      this.scales = {};
      for (const axis of ["x", "y"]) {
        if (!options[axis]?.scale) continue;
        this.scales[axis] = pq.el("button", { "data-log": axis, on: { click: () => { this.log[axis] = !this.log[axis]; this.draw(); } } }, options[axis].scale);
        this.tools.append(this.scales[axis]);
      }
      this.tools.append(
        pq.el("button", { "data-save": "csv", on: { click: () => pq.saveText(`${this.options.name || "chart"}.csv`, this.csv(), "text/csv") } }, "CSV"),
        ...pq.savers(() => this.options.name || "chart", (name) => pq.saveSvg(name, this.svg)));
      this.svg.addEventListener("pointermove", (event) => this.point(event));
      this.svg.addEventListener("pointerleave", () => this.leave());
      this.watcher = new ResizeObserver(() => this.available !== this.width && this.draw());
      this.watcher.observe(this.element);
      this.update(options);
    }

    update(options) {
      this.options = { ...this.options, ...options };
      this.caption.textContent = this.options.caption || "";
      this.note.textContent = this.options.note || "";
      this.svg.setAttribute("aria-label", this.options.caption || "");
      this.legend.replaceChildren(...this.options.series.map((one) => pq.el("button", {
        "data-series": one.name, "aria-pressed": String(!this.hidden.has(one.name)), class: "entry",
        title: "Show or hide", on: { click: () => this.toggle(one.name) },
      }, pq.el("span", { class: "swatch", style: { background: one.colour } }), one.name)));
      this.draw();
    }

    toggle(name) {
      if (!this.hidden.delete(name)) this.hidden.add(name);
      for (const button of this.legend.children) button.setAttribute("aria-pressed", String(!this.hidden.has(button.dataset.series)));
      this.leave();
      this.draw();
    }

    // The available width [pixel].
    get available() {
      return Math.max(this.element.clientWidth || 600, 240);
    }

    get shown() {
      return this.options.series.filter((one) => !this.hidden.has(one.name));
    }

    leave() {
      pq.hideTip();
    }

    destroy() {
      this.watcher.disconnect();
      this.element.remove();
    }

    // Position of the pointer in drawing units.
    place(event) {
      const box = this.svg.getBoundingClientRect();
      return [(event.clientX - box.left) * (this.width / box.width), (event.clientY - box.top) * (this.height / box.height)];
    }

    // Draw the axes for the given values; this.x and this.y then map values to positions.
    axes(xs, ys) {
      this.width = this.available;
      this.height = Math.round(Math.min(Math.max(this.width * 0.58, 230), 400));
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      for (const axis of ["x", "y"]) this.scales[axis]?.setAttribute("aria-pressed", String(this.log[axis]));
      const range = (values, log, floor) => {
        const fit = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
        let low = fit.length ? fit.reduce((a, b) => Math.min(a, b)) : log ? 1 : 0;
        let high = fit.length ? fit.reduce((a, b) => Math.max(a, b)) : log ? 10 : 1;
        if (!(high > low)) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(high) * 0.1 || 1)];
        if (floor !== undefined && !log) low = Math.min(low, floor);
        const pad = log ? 1.04 : (high - low) * 0.04;
        return log ? [low / (floor === undefined ? pad : 1), high * pad] : [floor === low ? low : low - pad, high + pad];
      };
      const box = { left: 52, right: this.width - 12, top: 14, bottom: this.height - 42 };
      const scale = ([low, high], from, to, log) => {
        const f = log ? Math.log10 : (v) => v;
        const [a, b] = [f(low), f(high)];
        return Object.assign((v) => from + ((f(v) - a) / (b - a)) * (to - from), {
          low, high, back: (p) => { const v = a + ((p - from) / (to - from)) * (b - a); return log ? 10 ** v : v; } });
      };
      this.x = scale(range(xs, this.log.x, this.options.x.from), box.left, box.right, this.log.x);
      this.y = scale(range(ys, this.log.y, this.options.y.from), box.bottom, box.top, this.log.y);
      const parts = [];
      const many = Math.max(3, Math.round((box.right - box.left) / 90));
      for (const v of this.log.x ? logTicks(this.x.low, this.x.high) : pq.ticks(this.x.low, this.x.high, many)) {
        parts.push(pq.svg("line", { class: "grid", x1: this.x(v), x2: this.x(v), y1: box.top, y2: box.bottom }),
          pq.svg("text", { x: this.x(v), y: box.bottom + 16, "text-anchor": "middle" }, label(v)));
      }
      for (const v of this.log.y ? logTicks(this.y.low, this.y.high) : pq.ticks(this.y.low, this.y.high, 6)) {
        parts.push(pq.svg("line", { class: "grid", x1: box.left, x2: box.right, y1: this.y(v), y2: this.y(v) }),
          pq.svg("text", { x: box.left - 6, y: this.y(v) + 4, "text-anchor": "end" }, label(v)));
      }
      parts.push(pq.svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }),
        pq.svg("text", { x: (box.left + box.right) / 2, y: this.height - 6, "text-anchor": "middle" }, this.options.x.title),
        pq.svg("text", { x: 13, y: (box.top + box.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(box.top + box.bottom) / 2})` }, this.options.y.title));
      for (const one of this.options.marks || []) {
        const [v, to] = one.x !== undefined ? [one.x, this.x] : [one.y, this.y];
        if (!(v >= to.low && v <= to.high)) continue;
        const p = to(v);
        const d = one.x !== undefined ? `M${p} ${box.top}V${box.bottom}` : `M${box.left} ${p}H${box.right}`;
        parts.push(pq.svg("path", { class: "mark", d }),
          one.x !== undefined ? pq.svg("text", { class: "small", x: p - 4, y: box.top + 10, "text-anchor": "end" }, one.title)
            : pq.svg("text", { class: "small", x: (box.left + box.right) / 2, y: p - 5, "text-anchor": "middle" }, one.title));
      }
      this.box = box;
      return parts;
    }
  }

  // new pq.LineChart(holder, {name, caption, series: [{name, colour, strong, points: [[x, y, low, high], ...], tip}], x: {title, log, scale}, y, marks})
  // Lines are step functions. Low and high, if given, are shaded for the line at the pointer.
  pq.LineChart = class extends Chart {
    constructor(holder, options) {
      super(holder, options, "lines");
    }

    draw() {
      const { shown } = this;
      const points = shown.flatMap((one) => one.points);
      const parts = this.axes(points.map((p) => p[0]), points.map((p) => p[1]));
      this.band = pq.svg("path", { class: "band" });
      this.cross = pq.svg("path", { class: "cross" });
      parts.push(this.band, this.cross);
      const seen = ([x, y]) => (!this.log.x || x > 0) && (!this.log.y || y > 0);
      this.paths = new Map();
      for (const one of [...shown].sort((a, b) => Boolean(a.strong) - Boolean(b.strong))) {
        const kept = one.points.filter(seen);
        const d = kept.map((p, i) => (i ? `H${this.x(p[0]).toFixed(1)}V${this.y(p[1]).toFixed(1)}` : `M${this.x(p[0]).toFixed(1)} ${this.y(p[1]).toFixed(1)}`)).join("");
        const path = pq.svg("path", { class: one.strong ? "line strong" : "line", "data-series": one.name, d: d || "M0 0", stroke: one.colour });
        this.paths.set(one.name, path);
        parts.push(path);
        const last = kept.at(-1);
        if (last) parts.push(pq.svg("circle", { cx: this.x(last[0]), cy: this.y(last[1]), r: one.strong ? 4 : 3, fill: one.colour }));
      }
      this.svg.replaceChildren(...parts);
    }

    point(event) {
      const [x, y] = this.place(event);
      const at = this.x.back(Math.min(Math.max(x, this.box.left), this.box.right));
      const here = this.shown.map((one) => [one, one.points.findLast((p) => p[0] <= at)]).filter(([, p]) => p && (!this.log.y || p[1] > 0));
      if (!here.length) return this.leave();
      const [near] = here.reduce((best, one) => (Math.abs(this.y(one[1][1]) - y) < Math.abs(this.y(best[1][1]) - y) ? one : best));
      this.cross.setAttribute("d", `M${x} ${this.box.top}V${this.box.bottom}`);
      const limit = (v) => this.y(Math.min(Math.max(v, this.y.low), this.y.high)).toFixed(1);
      const spread = near.points.filter((p) => p[2] !== undefined && p[2] !== null && p[3] !== null && (!this.log.x || p[0] > 0));
      const edge = (k, list) => list.map((p) => `${this.x(p[0]).toFixed(1)} ${limit(p[k])}`).join("L");
      this.band.setAttribute("d", spread.length > 1 ? `M${edge(3, spread)}L${edge(2, [...spread].reverse())}Z` : "");
      this.band.setAttribute("fill", near.colour);
      for (const [name, path] of this.paths) path.classList.toggle("near", name === near.name);
      const words = here.sort((a, b) => a[1][1] - b[1][1]).map(([one, p]) => this.options.tip(one, p));
      pq.tip(event, [this.options.at(Math.floor(at)), ...words].join("\n"));
      return undefined;
    }

    leave() {
      super.leave();
      this.band?.setAttribute("d", "");
      this.cross?.setAttribute("d", "");
      for (const path of this.paths?.values() || []) path.classList.remove("near");
    }

    csv() {
      const { series, columns } = this.options;
      return pq.csv([["series", ...(columns || ["x", "y", "low", "high"])], ...series.flatMap((one) => one.points.map((p) => [one.name, ...p]))]);
    }
  };

  const SHAPES = {
    s: "M-3.5-3.5h7v7h-7z", D: "M0-5L5 0L0 5L-5 0z", "^": "M0-5L4.8 4H-4.8z", v: "M0 5L4.8-4H-4.8z", P: "M-1.5-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
    X: "M-4-4L4 4M4-4L-4 4", "<": "M-5 0L4 4.8V-4.8z", ">": "M5 0L-4 4.8V-4.8z", o: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  };

  // new pq.Scatter(holder, {series: [{name, colour, marker}], points: [{x, y, series, title, id}], lines: [{title, points}], onclick, x, y, marks})
  pq.Scatter = class extends Chart {
    constructor(holder, options) {
      super(holder, options, "points");
      this.svg.addEventListener("click", (event) => {
        const found = this.nearest(event);
        if (found && this.options.onclick) this.options.onclick(found);
      });
    }

    draw() {
      const looks = new Map(this.shown.map((one) => [one.name, one]));
      this.points = this.options.points.filter((p) => looks.has(p.series));
      const front = (this.options.lines || []).flatMap((one) => one.points);
      const levels = (this.options.marks || []).map((one) => one.y).filter(Number.isFinite);
      const most = [...this.points.map((p) => p.y), ...levels].reduce((a, b) => Math.max(a, b), -Infinity);
      const near = front.filter((p) => p[1] <= most * 1.05);
      const parts = this.axes([...this.points.map((p) => p.x), ...near.map((p) => p[0])], [...this.points.map((p) => p.y), ...near.map((p) => p[1]), ...levels]);
      for (const one of this.options.lines || []) {
        const kept = one.points.filter((p) => near.includes(p));
        const d = kept.map((p, i) => (i ? `H${this.x(p[0]).toFixed(1)}V${this.y(p[1]).toFixed(1)}` : `M${this.x(p[0]).toFixed(1)} ${this.y(p[1]).toFixed(1)}`)).join("");
        if (d) parts.push(pq.svg("path", { class: "front", "data-line": one.title, d }));
      }
      const order = [...this.points].sort((a, b) => (a.id === this.options.chosen) - (b.id === this.options.chosen));
      for (const p of order) {
        const look = looks.get(p.series);
        const chosen = p.id === this.options.chosen;
        parts.push(pq.svg("path", { class: chosen ? "point chosen" : "point", "data-id": p.id, "data-series": p.series, d: SHAPES[look.marker] || SHAPES.o, transform: `translate(${this.x(p.x).toFixed(1)} ${this.y(p.y).toFixed(1)})${chosen ? " scale(1.7)" : ""}`, fill: look.colour, stroke: look.colour }));
      }
      this.svg.replaceChildren(...parts);
    }

    select(id) {
      this.options.chosen = id;
      this.draw();
    }

    nearest(event) {
      const [x, y] = this.place(event);
      let best = null;
      let nearest = 24;
      for (const p of this.points) {
        const far = Math.hypot(this.x(p.x) - x, this.y(p.y) - y);
        if (far < nearest) [best, nearest] = [p, far];
      }
      return best;
    }

    point(event) {
      const found = this.nearest(event);
      this.svg.classList.toggle("can", Boolean(found));
      if (found) pq.tip(event, found.title);
      else pq.hideTip();
    }

    csv() {
      const { columns, points } = this.options;
      return pq.csv([columns.map((one) => one[0]), ...points.map((p) => columns.map((one) => one[1](p)))]);
    }
  };

  // new pq.FeatureMap(holder, {name, caption, note, rows: [{title, more}], columns: [title], cells: rows of {share, tip}, csv: () => lines})
  pq.FeatureMap = class {
    constructor(holder, options) {
      this.caption = pq.el("figcaption");
      this.choices = pq.el("div", { class: "tools", role: "group", "aria-label": "Algorithm" });
      this.frame = pq.el("div", { class: "frame", tabindex: 0, role: "region" });
      this.note = pq.el("p", { class: "note" });
      this.tools = pq.el("div", { class: "tools" },
        pq.el("button", { "data-save": "csv", on: { click: () => pq.saveText(`${this.options.name}.csv`, pq.csv(this.options.csv()), "text/csv") } }, "CSV"),
        pq.savers(() => this.options.name, (name) => pq.saveSvg(name, this.frame.querySelector("svg"))));
      this.element = pq.el("figure", { class: "chart features" }, this.caption, this.choices, this.frame, this.note, this.tools);
      this.frame.addEventListener("pointermove", (event) => {
        const cell = event.target.closest("[data-cell]");
        if (!cell) return pq.hideTip();
        const [i, j] = cell.dataset.cell.split(",").map(Number);
        pq.tip(event, this.options.cells[i][j].tip);
        return undefined;
      });
      this.frame.addEventListener("pointerleave", () => pq.hideTip());
      holder.append(this.element);
      this.update(options);
    }

    update(options) {
      this.options = { ...this.options, ...options };
      const { rows, columns, cells } = this.options;
      this.caption.textContent = this.options.caption || "";
      this.note.textContent = this.options.note || "";
      this.frame.setAttribute("aria-label", this.options.caption || "Feature map");
      this.choices.replaceChildren(...(this.options.choices || []).map((one) => pq.el("button", {
        "data-choice": one.name, "aria-pressed": String(one.name === this.options.chosen), on: { click: () => this.options.onchoose(one.name) },
      }, pq.el("span", { class: "swatch", style: { background: one.colour } }), one.name)));
      const narrow = window.innerWidth < 560; // the screen of a phone: no more than names
      const more = (row) => (row.more && !narrow ? row.more : "");
      const most = narrow ? 16 : 30;
      const letters = Math.max(3, ...rows.map((row) => Math.min(row.title.length, most) + (more(row) ? more(row).length + 2 : 0)));
      const left = 8 + letters * 6.6;
      const [wide, high] = [columns.length > 20 || narrow ? 27 : 44, 26];
      const top = 20 + Math.max(...columns.map((one) => Math.min(one.length, 22))) * 4.8;
      const width = left + columns.length * wide + (narrow ? 26 : 60);
      const height = top + rows.length * high + 6;
      const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
      const parts = columns.map((one, j) => pq.svg("text", { x: 0, y: 0, transform: `translate(${left + j * wide + wide / 2} ${top - 6}) rotate(-45)` }, cut(one, 22)));
      rows.forEach((row, i) => {
        const y = top + i * high;
        parts.push(pq.svg("text", { x: 4, y: y + high / 2 + 4 }, cut(row.title, most), more(row) ? pq.svg("tspan", { class: "faint", dx: 6 }, more(row)) : null));
        columns.forEach((_, j) => {
          const { share } = cells[i][j];
          const x = left + j * wide;
          parts.push(pq.svg("rect", { class: "cell", "data-cell": `${i},${j}`, x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 3, "fill-opacity": share > 0 ? 0.08 + 0.92 * share : 0 }));
          if (share > 0) parts.push(pq.svg("text", { class: share > 0.5 ? "figure full" : "figure", x: x + wide / 2, y: y + high / 2 + 4, "text-anchor": "middle" }, share < 0.005 ? "<1" : String(Math.round(100 * share))));
        });
      });
      this.frame.replaceChildren(pq.svg("svg", { class: "map", role: "img", "aria-label": this.options.caption, viewBox: `0 0 ${width} ${height}`, width, height }, parts));
    }

    destroy() {
      this.element.remove();
    }
  };
})();
