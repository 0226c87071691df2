// Statistics of the selected events: by month, by hour and weekday, SARFI of each station and year, magnitude against duration.
"use strict";
(() => {
  const pq = window.pq;
  const { askFor, count, typeTitle, readFilters, store } = pq.recordings;
  const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
  const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
  const LEVELS = ["90", "80", "70", "50", "10", "110", "120", "140", "ITIC", "SEMI"].map((level) => `SARFI-${level}`);
  const HIGHEST = 200; // percent, top of the chart of magnitudes
  const SHORTEST = 1e-4, LONGEST = 1e3; // seconds, its ends

  const MOST_MONTHS = 72; // beyond, years are counted

  // A period is a month, 2026-03, or a year, 2026.
  const periodName = (period) => (period.length > 4 ? `${MONTHS[Number(period.slice(5)) - 1]} ${period.slice(0, 4)}` : period);
  const nextPeriod = (period) => {
    const [year, month] = period.split("-").map(Number);
    return !month ? String(year + 1) : month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, "0")}`;
  };
  const byYear = (months) => {
    const years = new Map();
    for (const { month, total, types } of months) {
      const year = years.get(month.slice(0, 4)) ?? { month: month.slice(0, 4), total: 0, types: {} };
      years.set(year.month, year);
      year.total += total;
      for (const [type, n] of Object.entries(types)) year.types[type] = (year.types[type] ?? 0) + n;
    }
    return [...years.values()];
  };
  const number = (n) => n.toLocaleString("en");
  const onKeys = (act) => (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(event);
  };

  // A figure whose drawing fits its width.
  class Figure {
    constructor(holder, name, caption, note) {
      Object.assign(this, { name, drawn: 0 });
      this.count = pq.el("p", { class: "count soft", role: "status" });
      this.frame = pq.el("div", { class: "frame" });
      this.element = pq.el("figure", { class: "card chart", "data-chart": name }, pq.el("figcaption", {}, caption), this.count, this.frame,
        pq.el("div", { class: "tools" }, pq.savers(name, (file) => pq.saveSvg(file, this.frame.querySelector("svg")))), pq.el("p", { class: "note" }, note));
      holder.append(this.element);
      this.watcher = new ResizeObserver(() => this.frame.clientWidth !== this.drawn && this.draw());
      this.watcher.observe(this.frame);
      this.frame.addEventListener("pointerleave", pq.hideTip);
      this.frame.addEventListener("focusout", pq.hideTip);
    }

    destroy() {
      this.watcher.disconnect();
    }

    tip(element, text) {
      element.setAttribute("aria-label", text);
      element.addEventListener("pointermove", (event) => pq.tip(event, text));
      element.addEventListener("pointerleave", pq.hideTip);
      element.addEventListener("focus", () => {
        const box = element.getBoundingClientRect();
        pq.tip({ clientX: box.right, clientY: box.bottom }, text);
      });
      return element;
    }

    take(data) {
      this.data = data;
      this.draw();
    }

    draw() {
      this.drawn = this.frame.clientWidth;
      if (!this.data || !this.drawn) return;
      const focused = this.frame.contains(document.activeElement) ? document.activeElement.dataset.name : null;
      this.frame.replaceChildren(this.picture(Math.max(this.drawn, 260)));
      if (focused) this.frame.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  // Events of each month, stacked by type, or of each year if there are many; a bar is a button. A selected year shows its months.
  class Months extends Figure {
    constructor(holder, onmonth) {
      super(holder, "months", "Events per month", "Click a bar to select its time. Beyond six years, years are shown, and the months of a selected one. Events of recorders without a clock are left out.");
      this.onmonth = onmonth;
      this.all = pq.el("button", { "data-act": "all-times", on: { click: () => onmonth("", "") } }, "All times");
      this.element.querySelector(".tools").prepend(this.all);
    }

    picture(width) {
      const { from, to } = this.data;
      const all = this.data.months;
      const near = all.filter(({ month }) => (!from || month >= from.slice(0, 4)) && (!to || month < nextPeriod(to.slice(0, 4))));
      const months = all.length <= MOST_MONTHS ? all : (from || to) && near.length <= MOST_MONTHS ? near : byYear(all);
      this.all.hidden = !from && !to;
      const height = Math.round(Math.min(Math.max(width * 0.55, 220), 340)), left = 48, right = width - 8, top = 10, bottom = height - 34;
      const most = Math.max(1, ...months.map((one) => one.total));
      const wide = (right - left) / Math.max(months.length, 1);
      const y = (n) => bottom - ((bottom - top) * n) / most;
      const ticks = pq.ticks(0, most, 5).filter(Number.isInteger);
      const grid = ticks.flatMap((n) => [pq.svg("line", { class: "grid", x1: left, x2: right, y1: y(n), y2: y(n) }), pq.svg("text", { x: left - 6, y: y(n) + 4, "text-anchor": "end" }, number(n))]);
      const every = Math.max(1, Math.ceil(62 / wide));
      const isChosen = (month) => !from && !to ? true : (!from || nextPeriod(month) > from) && (!to || month < to);
      const bars = months.map((one, i) => {
        let under = 0;
        const parts = Object.keys(store.types).filter((type) => one.types[type]).map((type) => {
          const [low, high] = [y(under), y((under += one.types[type]))];
          return pq.svg("rect", { x: left + i * wide + 0.1 * wide, y: high, width: 0.8 * wide, height: low - high, style: { fill: pq.typeColor(type) } });
        });
        const press = () => this.onmonth(one.month, nextPeriod(one.month));
        const words = [`${periodName(one.month)}: ${count(one.total, "event")}`, ...Object.entries(one.types).map(([type, n]) => `${typeTitle({ type })} ${number(n)}`)].join("\n");
        return this.tip(pq.svg("g", { class: isChosen(one.month) ? "month" : "month off", role: "button", tabindex: one.total ? 0 : -1, "data-name": one.month, on: { click: press, keydown: onKeys(press) } },
          pq.svg("rect", { class: "reach", x: left + i * wide, y: top, width: wide, height: bottom - top }), parts), words);
      });
      const names = months.flatMap((one, i) => (i % every ? [] : [pq.svg("text", { x: left + (i + 0.5) * wide, y: bottom + 15, "text-anchor": "middle" }, one.month)]));
      const total = all.reduce((sum, one) => sum + one.total, 0);
      const [first, last] = [all[0]?.month, all.at(-1)?.month];
      this.count.textContent = months.length ? `${count(total, "event")}, ${first === last ? first : `${first} to ${last}`}` : "No event has a time.";
      return pq.svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Events per month" }, grid, bars, names, pq.svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }));
    }
  }

  // Magnitude against duration with the tolerance curves: points that lead to their events, or bins if there are many.
  class Tolerance extends Figure {
    constructor(holder) {
      super(holder, "tolerance", "Magnitude against duration", "Sags, interruptions, swells and transients: the worst phase. An arrow marks what the record cuts: it lasted longer. Below 0.1 ms, beyond 1000 s and above 200 % at the edge. Arrow keys go from point to point.");
      this.frame.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const points = [...this.frame.querySelectorAll("a.point")];
        const next = step && points[points.indexOf(document.activeElement) + step];
        if (!next) return;
        event.preventDefault();
        document.activeElement.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    }

    picture(width) {
      const { points, bins, curves, total } = this.data;
      const height = Math.round(Math.min(Math.max(width * 0.6, 260), 460)), left = 46, right = width - 12, top = 12, bottom = height - 40;
      const clip = (v, low, high) => Math.min(Math.max(v, low), high);
      const x = (s) => left + ((right - left) * Math.log10(clip(s, SHORTEST, LONGEST) / SHORTEST)) / Math.log10(LONGEST / SHORTEST);
      const y = (p) => bottom - ((bottom - top) * clip(p, 0, HIGHEST)) / HIGHEST;
      const times = ["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s", "1000 s"].map((text, i) => [10 ** (i - 4), text]);
      const grid = [...times.flatMap(([s, text], i) => [pq.svg("line", { class: "grid", x1: x(s), x2: x(s), y1: top, y2: bottom }),
        width < 420 && i % 2 ? "" : pq.svg("text", { x: x(s), y: bottom + 16, "text-anchor": i === 7 ? "end" : "middle" }, text)]),
      ...[0, 50, 100, 150, 200].flatMap((p) => [pq.svg("line", { class: "grid", x1: left, x2: right, y1: y(p), y2: y(p) }), pq.svg("text", { x: left - 6, y: y(p) + 4, "text-anchor": "end" }, `${p} %`)])];
      const lines = curves.map((curve, i) => {
        // From where it leaves zero.
        const lower = curve.lower.map(([s, p], k) => `${k ? `V${y(p).toFixed(1)}H` : p ? `M${x(SHORTEST).toFixed(1)} ${y(p).toFixed(1)}H` : "M"}${x(s ?? LONGEST).toFixed(1)}${k || p ? "" : ` ${y(0).toFixed(1)}`}`).join("");
        const upper = curve.upper.map(([s, p], k) => `${k ? "L" : "M"}${x(s ?? LONGEST).toFixed(1)} ${y(p).toFixed(1)}`).join("");
        return pq.svg("g", { class: `curve curve-${i}` }, pq.svg("path", { d: lower + upper }));
      });
      const legend = curves.map((curve, i) => [pq.svg("path", { class: `curve curve-${i}`, d: `M${right - 150} ${top + 12 + 17 * i}h26` }), pq.svg("text", { x: right - 118, y: top + 16 + 17 * i }, curve.title.split(",")[0])]);
      const most = Math.max(1, ...bins.map((one) => one.n));
      const range = (one) => `${pq.seconds(one.seconds[0])} to ${pq.seconds(one.seconds[1])}, ${pq.fixed(one.percent[0], 0)} to ${pq.fixed(one.percent[1], 0)} %`;
      const marks = [...bins.map((one) => this.tip(pq.svg("rect", { class: "bin", role: "img", x: x(one.seconds[0]), y: y(one.percent[1]), width: Math.max(x(one.seconds[1]) - x(one.seconds[0]), 1), height: Math.max(y(one.percent[0]) - y(one.percent[1]), 1),
        style: { fill: pq.typeColor(one.type), fillOpacity: 0.25 + (0.75 * Math.log(1 + one.n)) / Math.log(1 + most) } }), `${range(one)}: ${count(one.n, "event")}, most are ${typeTitle(one)}`)),
      ...points.map((one, i) => this.tip(pq.svg("a", { class: "point", href: pq.app.link("recordings", one.recording, { event: one.event }), tabindex: i ? -1 : 0, "data-name": `${one.recording}:${one.event}`, "data-seconds": one.seconds, "data-percent": one.percent },
        pq.svg("circle", { cx: x(one.seconds).toFixed(1), cy: y(one.percent).toFixed(1), r: 4.5, style: { fill: pq.typeColor(one.type) } }),
        one.cut ? pq.svg("path", { class: "longer", d: `M${(x(one.seconds) + 5).toFixed(1)} ${y(one.percent).toFixed(1)}h9m-4 -4l4 4l-4 4` }) : ""), `${one.title}: ${pq.fixed(one.percent, 1)} %, ${one.cut ? "≥ " : ""}${pq.seconds(one.seconds)}`))];
      this.count.textContent = bins.length ? `${count(total, "event")}, counted in fields: the stronger the color, the more` : count(total, "event");
      return pq.svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Magnitude against duration" }, grid, marks, lines, legend, pq.svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
        pq.svg("text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, "Duration"));
    }
  }

  pq.Statistics = class {
    constructor(holder, route) {
      this.holder = pq.el("div", { class: "recordings statistics" });
      holder.append(this.holder);
      Object.assign(this, { end: new AbortController() });
      this.head = pq.el("div", { class: "row head" });
      this.holder.append(this.head);
      this.filters = new pq.Filters(this.holder, { path: "statistics" });
      this.fault = pq.el("div");
      const both = pq.el("div", { class: "columns" });
      this.months = new Months(both, (from, to) => this.filters.set({ from, to }));
      this.tolerance = new Tolerance(both);
      this.hours = pq.el("figure", { class: "card hours", "data-chart": "hours" });
      this.holder.append(this.fault, both, this.hours);
      const chosen = (row) => pq.app.go("recordings", "", { ...this.given, station: String(row.station_id), from: String(row.year), to: String(row.year + 1), type: ["sag", "interruption", "swell"] });
      this.sarfi = new pq.Table(this.holder, { caption: "SARFI of each station and year", rows: [], key: (row) => `${row.station_id}-${row.year}`, limit: 200, empty: "No sag, interruption or swell with a time.", onclick: chosen,
        note: "IEEE 1564, numbers of events, not rates: a recorder keeps only what triggers it. SARFI-90 counts residual voltages below 90 %, SARFI-110 voltages above 110 %; SARFI-ITIC and SARFI-SEMI what lies below these curves. Events of a system within a minute count as one.",
        columns: [{ key: "station", title: "Station", text: (row) => row.station || "–" }, { key: "year", title: "Year", number: true, text: (row) => String(row.year) }, { key: "events", title: "Events", number: true }, ...LEVELS.map((name) => ({ key: name, title: name.slice(6), help: name, number: true }))] });
      this.sarfi.element.classList.add("sarfi");
      this.sarfi.tools.append(pq.el("button", { on: { click: () => pq.saveText("sarfi.csv", this.sarfi.csv(), "text/csv") } }, "Save CSV"));
      this.apply(route);
      this.head.querySelector("h1").focus({ preventScroll: true });
    }

    destroy() {
      this.end.abort();
      this.asked?.abort();
      this.filters.destroy();
      this.months.destroy();
      this.tolerance.destroy();
    }

    apply(route) {
      this.given = readFilters(route.query);
      this.head.replaceChildren(pq.el("h1", { tabindex: "-1" }, "Statistics"), pq.recordings.rooms("statistics", this.given));
      document.title = "Statistics · pqswarm";
      this.filters.show(this.given);
      this.load();
    }

    // Each part is drawn as soon as it comes. Months are counted over all time, with the selected ones marked.
    async load() {
      this.asked?.abort();
      const end = (this.asked = new AbortController());
      const ask = async (what, query, take) => {
        const answer = await pq.app.api(`/api/${what}?${query}`, { signal: end.signal });
        if (!end.signal.aborted) take(answer);
      };
      const query = askFor({ ...this.given, order: "" });
      try {
        await Promise.all([
          ask("months", askFor({ ...this.given, order: "", from: "", to: "" }), (found) => this.months.take({ ...found, from: this.given.from, to: this.given.to })),
          ask("events", `${query}&limit=1`, (found) => this.filters.show(this.given, found)),
          ask("scatter", query, (found) => this.tolerance.take(found)),
          ask("hours", query, (found) => this.drawHours(found.hours)),
          ask("sarfi", query, (found) => this.sarfi.update(found.rows.sort((a, b) => pq.compare(a.station, b.station) || a.year - b.year))),
        ]);
        this.fault.replaceChildren();
      } catch (error) {
        if (!end.signal.aborted) pq.app.fail(error, this.fault);
      }
    }

    // A table of weekdays and hours; on a narrow page the hours go down.
    drawHours(hours) {
      const most = Math.max(1, ...hours.flat());
      const cell = (day, hour) => {
        const n = hours[day][hour];
        return pq.el("td", { style: { background: n ? `color-mix(in srgb, var(--hero) ${Math.round(8 + (37 * n) / most)}%, var(--paper))` : "" }, title: `${DAYS[day]}, ${hour}:00 to ${hour + 1}:00: ${count(n, "event")}` }, n ? number(n) : "");
      };
      const names = { day: DAYS.map((name) => [name, name]), hour: [...Array(24).keys()].map((hour) => [hour, String(hour).padStart(2, "0")]) };
      const narrow = window.innerWidth < 640;
      const [across, down] = narrow ? [names.day, names.hour] : [names.hour, names.day];
      const table = pq.el("table", {}, pq.el("thead", {}, pq.el("tr", {}, pq.el("th", { scope: "col" }, narrow ? "Hour" : "Day"), across.map(([, name]) => pq.el("th", { scope: "col" }, name)))),
        pq.el("tbody", {}, down.map(([, name], i) => pq.el("tr", {}, pq.el("th", { scope: "row" }, name), across.map((_, k) => (narrow ? cell(k, i) : cell(i, k)))))));
      this.hours.replaceChildren(pq.el("figcaption", {}, "Events by hour and weekday"), pq.el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Events by hour and weekday" }, table), pq.el("p", { class: "note" }, "In the time of the recorders."));
    }

    changed() {
      this.filters.show(this.given);
      this.months.draw();
      this.tolerance.draw();
    }

    refresh() {
      this.load();
    }
  };
})();
