// The list: a page of events at a time, as the filters select them, and the recordings of the archive.
"use strict";
(() => {
  const pq = window.pq;
  const { classOf, count, typeTitle, magnitude, magnitudeText, durationText, when, swatch, stateText, askFor, isFiltered, readFilters, kept, store } = pq.recordings;
  const PAGE = 100; // rows of a request
  const MOST = 500; // rows that are loaded again after a change
  const EMPTY = "No recordings yet. Drop files here, or start pqswarm app with a folder of recordings; pqswarm make-samples writes some to try.";
  const LOADING = "Loading …";

  const fileName = (row) => row.path || row.source || "";
  const key = (row) => `${row.recording}:${row.event}`;
  const incident = (row) => (row.incident ? `${row.recording}/${row.incident}` : key(row));
  const said = (row, text) => pq.el("span", { class: "corrected", title: row.correction || null }, `${text} ✎`);
  const causeOf = (row) => (row.cause.startsWith("cause unknown") ? "unknown" : row.cause ? `${row.cause}, ${pq.percent(row.cause_probability, 0).replace(" ", "\u00a0")}` : row.incident ? `↳ incident ${row.incident}` : "");

  pq.recordings.columns = [
    { key: "time", title: "Time", text: when, value: (row) => row.when ?? row.offset_s, orders: { newest: "descending", oldest: "ascending" } },
    { key: "station", title: "Station", text: (row) => row.station || "–" },
    { key: "type", title: "Type", value: typeTitle, show: (row) => [swatch(row.type), row.category && row.category !== row.type && row.category.length < 28 ? row.category : typeTitle(row)] },
    { key: "phases", title: "Phases", help: "Phases, or channels if the phases are unknown", text: (row) => row.phases || row.channels },
    { key: "magnitude", title: "Magnitude", number: true, help: "Residual, maximum or peak voltage as a percentage of the reference", text: magnitudeText, value: magnitude },
    { key: "duration", title: "Duration", number: true, help: "From Urms(1/2) as in IEC 61000-4-30: up to one cycle longer than on the waveform; ≥ where the record cuts the event", text: durationText, value: (row) => row.duration_s },
    { key: "severity", title: "Severity", number: true, help: "After IEEE 1564: 1 is on the SEMI F47 curve, larger is worse", text: (row) => (Number.isFinite(row.severity) ? pq.fixed(row.severity, 2) : ""), orders: { worst: "descending" } },
    { key: "cause", title: "Cause", help: "Of the incident, at its main event; a pencil marks a cause by hand", show: (row) => (row.cause && row.cause_by_hand ? said(row, row.cause) : causeOf(row)) },
    { key: "label", title: "Class", help: "A pencil marks a class by hand", value: classOf, show: (row) => (row.by_hand ? said(row, classOf(row)) : classOf(row)) },
    { key: "file", title: "File", text: fileName, value: fileName },
  ];

  pq.EventList = class {
    constructor(holder, route, from) {
      this.holder = pq.el("div", { class: "recordings" });
      holder.append(this.holder);
      Object.assign(this, { end: new AbortController(), from, rows: [], next: "", open: new Set(), found: null });
      this.build(route);
      this.apply(route);
    }

    destroy() {
      this.end.abort();
      this.asked?.abort();
      this.watcher.disconnect();
      this.uploads.destroy();
      this.filters.destroy();
      this.sources.watcher.disconnect();
    }

    build(route) {
      this.summary = pq.el("p", { class: "soft summary" });
      this.holder.append(pq.el("div", { class: "row head" }, pq.el("h1", { tabindex: "-1" }, "Recordings"), (this.rooms = pq.recordings.rooms("", readFilters(route.query))), this.summary));
      this.uploads = new pq.Uploads(this.holder, { limit: () => store.limit, onanalyzed: (one) => this.jump(one) });
      this.bar = pq.el("progress", { max: 1, value: 0, "aria-label": "Analysis" });
      this.progressWords = pq.el("span", { role: "status" });
      this.progress = pq.el("div", { class: "row analyzing", hidden: true }, this.bar, this.progressWords);
      this.note = pq.el("p", { class: "note" });
      this.holder.append(this.progress, this.note);
      this.filters = new pq.Filters(this.holder, { path: "", order: true });
      this.fault = pq.el("div");
      this.holder.append(this.fault);
      const columns = pq.recordings.columns.map((column) => (column.key === "type" ? { ...column, show: (row) => [column.show(row), this.opener(row)] } : column));
      this.table = new pq.Table(this.holder, { caption: "Events", columns, rows: [], key, empty: LOADING,
        rowClass: (row) => [row.under ? "under" : "", row.hidden ? "struck" : ""].join(" ").trim(), isHidden: (row) => row.under && !this.open.has(row.under),
        onsort: (column) => this.sort(column), onmore: () => this.load({ more: true }), onclick: (row) => pq.app.go("recordings", row.recording, { event: row.event }) });
      this.table.element.classList.add("events");
      this.table.caption.classList.add("spoken");
      this.exports = pq.el("div", { class: "tools", role: "group", "aria-label": "Export" });
      this.table.element.append(this.exports);
      this.watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.next && this.load({ more: true }), { root: this.table.scroll, rootMargin: "400px" });
      this.sources = new pq.RecordingTable(this.holder, this.end.signal);
    }

    apply(route) {
      this.given = readFilters(route.query);
      kept.link = pq.app.link("recordings", "", this.given);
      this.open.clear();
      this.rooms.replaceWith((this.rooms = pq.recordings.rooms("", this.given)));
      const query = askFor({ ...this.given, order: "", text: this.given.text });
      const save = (text, more, title) => pq.el("a", { class: "button", href: `/api/table.csv?${[query, more].filter(Boolean).join("&")}`, download: true, title }, text);
      this.exports.replaceChildren(save("Export CSV", "", "All selected events, with commas and points"), save("CSV (semicolons)", askFor({ separator: ";", decimal: "," }), "All selected events, for a spreadsheet with decimal commas"));
      this.filters.show(this.given);
      if (store.known && !this.found) this.changed();
      this.load();
    }

    sort({ orders }) {
      const names = Object.keys(orders);
      const now = this.given.order || "newest";
      const order = names[(names.indexOf(now) + 1) % names.length];
      this.filters.set({ order: order === "newest" || order === now ? "" : order });
    }

    // Load the first page, the next one, or as much as is shown again.
    async load({ more = false, again = false } = {}) {
      if (more && this.loading) return;
      this.asked?.abort();
      const end = (this.asked = new AbortController());
      Object.assign(this, { loading: true, stale: false });
      const limit = again ? Math.min(Math.max(this.rows.length, PAGE), MOST) : PAGE;
      try {
        const answer = await pq.app.api(`/api/events?${askFor(this.given, { limit, after: more ? this.next : "" })}`, { signal: end.signal });
        if (end.signal.aborted) return;
        this.fault.replaceChildren();
        const first = more ? this.rows.length : 0;
        this.rows = [...this.rows.slice(0, first), ...answer.rows];
        Object.assign(this, { next: answer.next, found: answer });
        this.draw(first, again);
      } catch (error) {
        if (error.name === "AbortError") return;
        if (more && error.status === 400) this.load();
        else pq.app.fail(error, this.fault);
      } finally {
        if (this.asked === end) this.loading = false;
        if (this.stale && !end.signal.aborted) this.load({ again: true });
      }
    }

    // Put the events of an incident below its main event; in the order of severity, below the worst.
    folded() {
      const groups = new Map();
      for (const row of this.rows) {
        const group = groups.get(incident(row));
        if (group) group.push(row);
        else groups.set(incident(row), [row]);
      }
      return [...groups.values()].flatMap((rows) => {
        const head = (this.given.order !== "worst" && rows.find((row) => row.cause)) || rows[0];
        return [head, ...rows.filter((row) => row !== head)].map((row) => Object.assign(row, { under: row === head ? "" : key(head), others: row === head ? rows.length - 1 : 0 }));
      });
    }

    opener(row) {
      if (!row.others) return "";
      const mine = key(row);
      const press = () => {
        if (!this.open.delete(mine)) this.open.add(mine);
        const open = this.open.has(mine);
        button.setAttribute("aria-expanded", String(open));
        for (const one of this.table.body.rows) {
          if (one.dataset.under === mine) one.hidden = !open;
        }
      };
      const button = pq.el("button", { class: "small others", "aria-expanded": String(this.open.has(mine)), "aria-label": `${count(row.others, "other event")} of this incident`, title: `${count(row.others, "other event")} of this incident`, on: { click: press } }, `+${row.others}`);
      return button;
    }

    draw(first = 0, again = false) {
      const { total } = this.found;
      const top = this.table.scroll.scrollTop;
      this.table.options.empty = store.facets.total || isFiltered(this.given) ? "No event matches the filters." : !store.known ? LOADING : store.counts.files || store.recordings.length ?
        (this.progress.hidden ? `No disturbance found.${store.counts.failed ? " Unreadable recordings are listed below, with the reason." : ""}` : "No events yet: the analysis is running.") : EMPTY;
      this.table.show(this.given.order || "newest", this.folded(), this.next ? `${this.rows.length.toLocaleString("en")} of ${total.toLocaleString("en")} events shown. ` : "");
      this.table.rows.forEach((row, i) => row.under && (this.table.body.rows[i].dataset.under = row.under));
      this.table.scroll.scrollTop = first || again ? top : 0;
      this.watcher.disconnect();
      const more = this.table.body.querySelector("tr.more");
      if (more) this.watcher.observe(more);
      this.exports.hidden = !total;
      this.filters.show(this.given, this.found);
      this.return();
    }

    // The state of the archive has changed.
    changed() {
      const { counts, folder } = store;
      this.note.textContent = store.note;
      this.summary.textContent = counts.recordings ? `${count(store.facets.total, "event")} in ${count(counts.recordings, "recording")} in ${folder}` : folder;
      this.uploads.settle(store.recordings);
      this.drawProgress();
      this.filters.show(this.given);
      if (this.found) this.draw(this.rows.length);
      this.sources.changed();
    }

    // Events may have come: load the visible rows again.
    refresh() {
      if (this.loading) this.stale = true; // what is on its way may be older
      else this.load({ again: true });
      this.sources.refresh();
    }

    // On the way back from a recording, select its row.
    return() {
      if (!this.from || !this.rows.length) return;
      this.choose(this.from);
      this.from = null;
    }

    choose(recording, focus = true) {
      const row = [...this.table.body.rows].find((one) => one.dataset.key?.startsWith(`${recording}:`) && !one.hidden);
      if (!row) return;
      this.table.select(row.dataset.key);
      row.scrollIntoView({ block: "nearest" });
      if (focus) row.focus({ preventScroll: true });
    }

    // A dropped file was analyzed: its row, if it is loaded, and its line above.
    jump(one) {
      this.wanted = one.id;
      this.load({ again: true }).then(() => {
        this.choose(one.id, false);
        this.uploads.list.scrollIntoView({ block: "center" });
      });
    }

    progressed(one) {
      this.drawProgress();
      if (one) this.uploads.settle(store.recordings);
      this.sources.progressed(one);
    }

    drawProgress() {
      const { waiting = 0, files = 0 } = store.counts;
      const open = store.recordings.filter((one) => one.state === "working" || (one.state === "waiting" && !one.reason));
      this.progress.hidden = !open.length;
      if (!open.length) return;
      const now = open.find((one) => one.state === "working");
      const left = Math.max(waiting, open.length);
      const all = Math.max(files, left);
      this.bar.value = all ? (all - left + open.reduce((sum, one) => sum + (one.fraction || 0), 0)) / all : 0;
      this.progressWords.textContent = `Analyzing ${(all - left + 1).toLocaleString("en")} of ${all.toLocaleString("en")}${now ? `: ${now.name}, ${Math.round(100 * (now.fraction || 0))} %` : ""}`;
    }
  };

  // All recordings of the archive, newest first, a page at a time.
  pq.RecordingTable = class {
    constructor(holder, signal) {
      Object.assign(this, { signal, rows: [], next: "", words: "", state: "" });
      this.element = pq.el("div", { class: "sources" });
      holder.append(this.element);
      const input = pq.el("input", { type: "search", placeholder: "Search", "aria-label": "Search recordings", on: { change: () => { this.words = input.value.trim(); this.load(); } } });
      const state = pq.el("select", { "aria-label": "Result", on: { change: () => { this.state = state.value; this.load(); } } },
        [["", "all results"], ["done", "analyzed"], ["failed", "failed"]].map(([value, text]) => pq.el("option", { value }, text)));
      this.table = new pq.Table(this.element, { caption: "All recordings", rows: [], key: (one) => one.id, empty: LOADING, onsort: () => {}, onmore: () => this.load(this.next),
        onclick: (one) => pq.app.go("recordings", one.id), columns: [
          { key: "name", title: "Recording" },
          { key: "station", title: "Station", text: (one) => one.station || "–" },
          { key: "start", title: "Start", text: (one) => (one.start ? one.start.replace("T", " ").slice(0, 23) : "–") },
          { key: "seconds", title: "Length", number: true, text: (one) => (Number.isFinite(one.seconds) ? pq.seconds(one.seconds) : "") },
          { key: "n_channels", title: "Channels", number: true },
          { key: "state", title: "Result", show: (one) => pq.el("span", { class: `state ${one.state}${one.n_events ? "" : " nothing"}` }, stateText(one)) },
          { key: "upload", title: "Upload", show: (one) => (one.upload ? this.remover(one) : "") },
        ] });
      this.table.tools.append(input, state);
      // Loaded when it comes into sight, so that the events come first.
      this.watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.begin());
      this.watcher.observe(this.element);
    }

    begin() {
      this.watcher.disconnect();
      this.begun = true;
      this.load();
    }

    async load(after = "", limit = PAGE) {
      try {
        const answer = await pq.app.api(`/api/archive?${askFor({ after, limit, text: this.words, state: this.state })}`, { signal: this.signal });
        this.rows = after ? [...this.rows, ...answer.recordings] : answer.recordings;
        Object.assign(this, { next: answer.next, total: answer.total });
        this.changed();
      } catch (error) {
        pq.app.fail(error, this.element);
      }
    }

    refresh() {
      if (this.begun) this.load("", Math.min(Math.max(this.rows.length, PAGE), MOST));
    }

    // Files that wait, are analyzed or failed come first: they are not in the archive yet.
    changed() {
      const pending = this.words || this.state === "done" ? [] : store.recordings.filter((one) => one.state === "failed" || (!this.state && one.state !== "analyzed"));
      const listed = new Set(pending.map((one) => one.id));
      const rows = [...pending, ...this.rows.filter((one) => !listed.has(one.id))];
      this.table.options.empty = store.known && this.begun ? (this.words || this.state ? "No recording matches." : EMPTY) : LOADING;
      this.element.hidden = store.known && !store.counts.files && !rows.length;
      this.table.show("", rows, this.next ? `${this.rows.length.toLocaleString("en")} of ${this.total.toLocaleString("en")} recordings shown. ` : "");
    }

    progressed(one) {
      const cell = one && this.table.row(one.id)?.querySelector(".state");
      if (!cell) return;
      cell.className = `state ${one.state}`;
      cell.textContent = stateText(one);
    }

    remover(one) {
      const remove = async () => {
        try {
          await pq.app.api(`/api/recordings/${one.id}`, { method: "DELETE", signal: this.signal });
        } catch (error) {
          pq.app.fail(error, this.element);
        }
      };
      return pq.el("button", { class: "small", "aria-label": `Remove ${one.name}`, title: "Remove this upload", on: { click: remove } }, "Remove");
    }
  };
})();
