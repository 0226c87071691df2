// The list: all events in a table and on tolerance curves, and all recordings.
"use strict";
(() => {
  const pq = window.pq;
  const { className, kindTitle, magnitude, magnitudeText, durationText, when, agreementWord, swatch, stateText, store } = pq.recordings;
  const MAX_ROWS = 300; // drawn initially
  const EMPTY = "No recordings yet. Drop files here, or start pqswarm app with a folder of recordings; pqswarm sample writes some to try.";
  const LOADING = "Loading …";
  // The columns of /api/table.csv.
  const EXPORTED = ["source", "path", "station", "date", "time", "offset_s", "incident", "cause", "cause_probability", "kind", "category", "phases", "channels", "system", "magnitude", "unit", "volts", "duration_s", "cycles",
    "sag_type", "class", "probability", "runner_up", "runner_up_probability", "rule_class", "agreement", "sentence", "reference_volts", "reference", "frequency", "sampling_rate", "caveats",
    "corrected", "corrected_by"];

  const kept = (pq.recordings.kept = { order: null, link: pq.app.link("recordings") }); // order and filters of the list, for the way back

  const fileName = (row) => row.path || row.source || "";
  const key = (row) => `${row.recording}:${row.event}`;
  const label = (row) => row.correction?.label || row.class;

  pq.recordings.columns = [
    { key: "station", title: "Station", text: (row) => row.station || "–" },
    { key: "time", title: "Time", text: when, value: (row) => (row.date ? `${row.date} ${row.time}` : row.offset_s) },
    { key: "kind", title: "Kind", value: kindTitle, show: (row) => [swatch(row.kind), row.category && row.category !== row.kind && row.category.length < 28 ? row.category : kindTitle(row)] },
    { key: "phases", title: "Phases", help: "Phases, or channels if the phases are unknown", text: (row) => row.phases || row.channels },
    { key: "magnitude", title: "Magnitude", number: true, help: "Residual, maximum or peak voltage as a percentage of the reference", text: magnitudeText, value: magnitude },
    { key: "duration", title: "Duration", number: true, help: "From Urms(1/2) as in IEC 61000-4-30: up to one cycle longer than on the waveform", text: durationText, value: (row) => row.duration_s },
    { key: "cause", title: "Cause", help: "Of the incident, at its main event; ↳ marks other events of an incident", value: (row) => row.cause,
      show: (row) => pq.el("span", { title: row.cause }, row.cause.startsWith("cause unknown") ? "unknown" : row.cause ? `${row.cause}, ${pq.percent(row.cause_probability, 0)}` : row.incident ? `↳ incident ${row.incident}` : "") },
    { key: "class", title: "Class", help: "By the model; a pencil marks a corrected class", value: (row) => className(label(row)),
      show: (row) => (row.correction?.label ? pq.el("span", { class: "corrected", title: `Corrected by ${row.correction.by}` }, `${className(label(row))} ✎`) : className(row.class)) },
    { key: "probability", title: "Prob.", number: true, help: "Probability of the class, by the model", text: (row) => (Number.isFinite(row.probability) ? pq.percent(row.probability, 0) : "") },
    { key: "agreement", title: "Agreement", help: "Whether rules and model agree", value: agreementWord,
      show: (row) => pq.el("span", { class: /^agree/.test(agreementWord(row)) ? "agree" : /^disagree/.test(agreementWord(row)) ? "disagree" : "soft", title: row.agreement }, agreementWord(row)) },
    { key: "file", title: "File", text: fileName, value: fileName },
  ];

  pq.EventList = class {
    constructor(holder, route, from) {
      this.holder = pq.el("div", { class: "recordings" });
      holder.append(this.holder);
      this.end = new AbortController();
      this.from = from;
      this.kinds = new Set();
      this.all = [];
      this.build();
      this.apply(route);
    }

    destroy() {
      this.end.abort();
      this.curves?.abort();
      clearTimeout(this.timer);
      clearTimeout(this.linking);
      this.uploads.destroy();
      Object.assign(kept, { order: this.table.order, link: this.link() });
    }

    link() {
      return pq.app.link("recordings", "", this.query());
    }

    query() {
      return { kind: [...this.kinds].join(","), station: this.wanted, text: this.words.value.trim() };
    }

    build() {
      this.summary = pq.el("p", { class: "soft summary" });
      this.holder.append(pq.el("div", { class: "row head" }, pq.el("h1", { tabindex: "-1" }, "Recordings"), this.summary));
      this.uploads = new pq.Uploads(this.holder, { limit: () => store.limit, ondone: () => {} });
      this.bar = pq.el("progress", { max: 1, value: 0, "aria-label": "Analysis" });
      this.progressWords = pq.el("span", { role: "status" });
      this.progress = pq.el("div", { class: "row analysing", hidden: true }, this.bar, this.progressWords);
      this.note = pq.el("p", { class: "note" });
      this.chips = pq.el("div", { class: "chips", role: "group", "aria-label": "Kinds of events" });
      this.station = pq.el("select", { "aria-label": "Station", on: { change: () => this.filter() } });
      this.words = pq.el("input", { type: "search", placeholder: "Search", "aria-label": "Search events", on: { input: () => this.filter() } });
      this.count = pq.el("span", { class: "soft count", role: "status" });
      this.save = pq.el("button", { on: { click: () => this.export() } }, "Export CSV");
      this.filters = pq.el("div", { class: "row filters", role: "search" }, this.chips, this.station, this.words, this.count, this.save);
      this.holder.append(this.progress, this.note, this.filters);
      this.table = new pq.Table(this.holder, { caption: "Events", columns: pq.recordings.columns, rows: [], key, empty: LOADING, limit: MAX_ROWS,
        onclick: (row) => pq.app.go("recordings", row.recording, { event: row.event }) });
      this.table.order = kept.order;
      this.table.element.classList.add("events");
      this.table.caption.classList.add("spoken");
      this.charts = pq.el("div", { class: "columns curves" });
      this.others = pq.el("section", { class: "sources" });
      this.holder.append(this.charts, this.others);
      this.list = new pq.Table(this.others, { caption: "All recordings", rows: [], key: (one) => one.id, limit: MAX_ROWS, empty: LOADING,
        onclick: (one) => pq.app.go("recordings", one.id), columns: [
          { key: "name", title: "Recording" },
          { key: "station", title: "Station", text: (one) => one.station || "–" },
          { key: "start", title: "Start", text: (one) => (one.start ? one.start.replace("T", " ").slice(0, 23) : "–") },
          { key: "seconds", title: "Length", number: true, text: (one) => (Number.isFinite(one.seconds) ? pq.seconds(one.seconds) : "") },
          { key: "n_channels", title: "Channels", number: true },
          { key: "state", title: "Result", value: (one) => `${["failed", "working", "waiting", "analysed"].indexOf(one.state)} ${stateText(one)}`,
            show: (one) => pq.el("span", { class: `state ${one.state}${one.n_events ? "" : " nothing"}` }, stateText(one)) },
          { key: "upload", title: "Upload", value: (one) => String(one.upload), show: (one) => (one.upload ? this.remover(one) : "") },
        ] });
    }

    remover(one) {
      const remove = async () => {
        try {
          await pq.app.api(`/api/recordings/${one.id}`, { method: "DELETE", signal: this.end.signal });
        } catch (error) {
          pq.app.fail(error, this.others);
        }
      };
      return pq.el("button", { class: "small", "aria-label": `Remove ${one.name}`, title: "Remove this upload", on: { click: remove } }, "Remove");
    }

    // Filters of the deep link: kinds, station, search words.
    apply(route) {
      this.kinds = new Set((route.query.get("kind") || "").split(",").filter(Boolean));
      this.wanted = route.query.get("station") || "";
      this.words.value = route.query.get("text") || "";
      if (store.known) this.changed();
    }

    filter() {
      this.wanted = this.station.value;
      this.draw();
      clearTimeout(this.linking);
      this.linking = setTimeout(() => pq.app.go("recordings", "", this.query(), { replace: true }), 200);
    }

    // By time; events of recorders without a clock come last.
    order() {
      const moment = (row) => (row.date ? `${row.date} ${row.time}` : "without");
      const before = (a, b) => (moment(a) === moment(b) ? a.offset_s - b.offset_s : moment(a) < moment(b) ? -1 : 1);
      this.all = store.rows.filter((row) => row.kind !== "none").sort(before);
    }

    filtered({ kinds = true } = {}) {
      const asked = this.words.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      const text = (row) => [row.station, when(row), kindTitle(row), row.category, row.phases, row.channels, className(row.class), className(row.correction?.label), row.agreement, fileName(row)].join(" ").toLowerCase();
      return this.all.filter((row) => (!kinds || !this.kinds.size || this.kinds.has(row.kind)) && (!this.wanted || row.station === this.wanted) &&
        (!asked.length || asked.every((word) => text(row).includes(word))));
    }

    changed() {
      const known = store.recordings;
      this.order();
      const stations = [...new Set(store.rows.map((row) => row.station).filter(Boolean))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
      this.station.replaceChildren(pq.el("option", { value: "" }, "all stations"), ...stations.map((name) => pq.el("option", { value: name }, name)));
      if (this.wanted && !stations.includes(this.wanted)) this.station.append(pq.el("option", { value: this.wanted }, this.wanted));
      this.station.value = this.wanted;
      this.station.hidden = stations.length < 2 && !this.wanted;
      this.note.textContent = store.note;
      this.uploads.settle(known);
      this.drawProgress();
      this.draw();
      this.list.options.empty = EMPTY;
      this.list.update(known);
      this.list.element.hidden = !known.length;
      const n = this.all.length;
      this.summary.textContent = known.length ? `${store.total > store.rows.length ? store.total : n} ${n === 1 ? "event" : "events"} in ${known.length} ${known.length === 1 ? "recording" : "recordings"} in ${store.folder}` : store.folder;
      this.return();
    }

    // On the way back from a recording, select its row.
    return() {
      if (!this.from) return;
      const row = [...this.table.body.rows].find((one) => one.dataset.key?.startsWith(`${this.from}:`));
      this.from = null;
      if (!row) return;
      this.table.select(row.dataset.key);
      row.scrollIntoView({ block: "nearest" });
      row.focus({ preventScroll: true });
    }

    // Progress of one analysis; only its cell is redrawn.
    progressed(one) {
      this.drawProgress();
      const cell = one && this.list.row(one.id)?.querySelector(".state");
      if (!cell) return;
      cell.className = `state ${one.state}`;
      cell.textContent = stateText(one);
    }

    drawProgress() {
      const all = store.recordings;
      const open = all.filter((one) => one.state === "working" || (one.state === "waiting" && !one.reason));
      this.progress.hidden = !open.length;
      if (!open.length) return;
      const now = open.find((one) => one.state === "working");
      this.bar.value = all.length ? (all.length - open.length + open.reduce((sum, one) => sum + (one.share || 0), 0)) / all.length : 0;
      this.progressWords.textContent = `Analysing ${all.length - open.length + 1} of ${all.length}${now ? `: ${now.name}, ${Math.round(100 * (now.share || 0))} %` : ""}`;
    }

    draw() {
      const among = this.filtered({ kinds: false });
      const order = Object.keys(store.kinds);
      const present = [...new Set(this.all.map((row) => row.kind))].sort((a, b) => order.indexOf(a) - order.indexOf(b));
      const focused = this.chips.contains(document.activeElement) ? document.activeElement.dataset.kind : null;
      this.chips.replaceChildren(...present.map((kind) => pq.el("button", { class: "chip", "data-kind": kind, "aria-pressed": String(this.kinds.has(kind)),
        on: { click: () => { if (!this.kinds.delete(kind)) this.kinds.add(kind); this.filter(); } } },
      swatch(kind), store.kinds[kind]?.title ?? kind, pq.el("span", { class: "soft" }, ` ${among.filter((row) => row.kind === kind).length}`))));
      if (focused) this.chips.querySelector(`[data-kind="${CSS.escape(focused)}"]`)?.focus();
      const rows = this.filtered();
      const all = this.all.length;
      const failed = store.recordings.filter((one) => one.state === "failed").length;
      this.count.textContent = all ? (rows.length === all ? "" : `${rows.length} of ${all} events`) : "";
      this.filters.hidden = !all;
      this.save.disabled = !rows.length;
      this.table.options.empty = all ? "No event matches the filters." : store.recordings.length ?
        (this.progress.hidden ? `No disturbance found.${failed ? " Unreadable recordings are listed below, with the reason." : ""}` : "No events yet: the analysis is running.") : store.known ? EMPTY : LOADING;
      this.table.update(rows);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.loadCurves(rows), this.charts.childElementCount ? 300 : 0);
    }

    // Tolerance curves, drawn by the server; events that do not match the search are hidden.
    async loadCurves(rows) {
      this.curves?.abort();
      const end = (this.curves = new AbortController());
      if (!this.all.some((row) => row.point)) {
        this.charts.replaceChildren();
        return;
      }
      const query = new URLSearchParams([...[...this.kinds].map((kind) => ["kind", kind]), ...(this.wanted ? [["station", this.wanted]] : [])]).toString();
      try {
        const { charts } = await pq.app.api(`/api/curves${query ? `?${query}` : ""}`, { signal: end.signal });
        if (end.signal.aborted) return;
        const shown = new Set(rows.map(key));
        const focused = this.charts.contains(document.activeElement) ? document.activeElement.dataset.row : null;
        this.charts.replaceChildren(...charts.map((chart) => this.chart(chart, shown)));
        if (focused) this.charts.querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus();
      } catch (error) {
        pq.app.fail(error, this.charts);
      }
    }

    chart(chart, shown) {
      const frame = pq.el("div", { class: "frame" });
      frame.innerHTML = chart.svg; // SVG of the server, which escapes all texts
      let left = 0;
      for (const point of frame.querySelectorAll(".point")) {
        const off = !shown.has(point.dataset.row);
        point.classList.toggle("off", off);
        left += off ? 0 : 1;
        point.setAttribute("fill", pq.kindColour(point.dataset.kind));
      }
      const drawing = frame.querySelector("svg");
      const total = frame.querySelectorAll(".point").length;
      const say = (event) => {
        const point = event.target.closest?.(".point");
        if (point) pq.tip(event, point.getAttribute("aria-label"));
        else pq.hideTip();
      };
      const focus = (event) => {
        const box = event.target.getBoundingClientRect();
        say({ target: event.target, clientX: box.right, clientY: box.bottom });
      };
      frame.addEventListener("pointermove", say);
      frame.addEventListener("focusin", focus);
      frame.addEventListener("focusout", pq.hideTip);
      frame.addEventListener("pointerleave", pq.hideTip);
      frame.querySelectorAll("title").forEach((title) => title.remove());
      return pq.el("figure", { class: "card tolerance", "data-chart": chart.name },
        pq.el("figcaption", {}, chart.caption),
        pq.el("p", { class: "count soft" }, left < total ? `${left} of ${total} points shown.` : chart.counts), frame,
        pq.el("div", { class: "tools" }, pq.savers(chart.name, (name) => pq.saveSvg(name, drawing))),
        pq.el("p", { class: "note" }, chart.note));
    }

    export() {
      const corrected = { corrected: (row) => row.correction?.label ?? "", corrected_by: (row) => row.correction?.by ?? "" };
      pq.saveText("events.csv", this.table.csv(EXPORTED.map((name) => ({ key: name, value: corrected[name] }))), "text/csv");
    }
  };
})();
