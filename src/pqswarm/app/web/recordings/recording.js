// The page of a recording: events, results, waveforms, and measurements at the cursors.
"use strict";
(() => {
  const pq = window.pq;
  const { typeTitle, magnitudeText } = pq.recordings;
  const LINK_WAIT = 250; // milliseconds
  const MANY = 4; // groups of channels beyond which only those of the event are shown at first
  const round = (x) => Number(x.toFixed(9));
  const given = (query, name) => {
    const value = Number.parseFloat(query.get(name) ?? "");
    return Number.isFinite(value) ? value : null;
  };

  pq.RecordingPage = class {
    constructor(holder, id, route) {
      Object.assign(this, { holder, id, route, event: null, analysis: null, answer: "", header: null, waves: null });
      this.end = new AbortController();
      this.build();
      this.open();
    }

    destroy() {
      this.flush();
      this.end.abort();
      this.waves?.destroy();
      this.cursors?.destroy();
      this.verdict?.destroy();
    }

    api(path, options = {}) {
      return pq.app.api(`/api/recordings/${this.id}${path}`, { signal: this.end.signal, ...options });
    }

    build() {
      this.title = pq.el("h1", { tabindex: "-1" }, "…");
      this.facts = pq.el("p", { class: "soft facts" });
      this.references = pq.el("p", { class: "soft references", "data-read": "references" });
      this.tools = pq.el("div", { class: "tools", role: "group", "aria-label": "Export" });
      this.progress = pq.el("div", { class: "row analyzing", role: "status", hidden: true });
      this.notes = pq.el("details", { class: "note", hidden: true });
      this.events = pq.el("section", { class: "own-events", "aria-label": "Events of this recording" });
      this.brief = pq.el("section", { class: "brief", "aria-label": "Result", hidden: true });
      this.side = pq.el("section", { class: "card verdict", "aria-label": "Evidence and correction", hidden: true });
      this.near = pq.el("section", { class: "near", "aria-label": "Other meters and notes" });
      this.stage = pq.el("section", { class: "stage", "aria-label": "Waveforms" });
      this.instruments = pq.el("section", { class: "instruments", "aria-label": "At the cursors" });
      this.holder.append(pq.el("div", { class: "recording" },
        pq.el("div", { class: "title" }, pq.el("div", { class: "row" }, pq.el("a", { class: "back", href: pq.recordings.kept.link }, "← All events"), this.title),
          this.facts, this.references, this.notes, this.progress),
        this.events, this.brief, this.stage, this.tools, this.near, this.side, this.instruments));
    }

    async open() {
      try {
        this.header = await this.api("");
      } catch (error) {
        this.title.textContent = "This recording cannot be shown";
        pq.app.fail(error, this.holder);
        return;
      }
      this.writeHeader();
      this.title.focus({ preventScroll: true });
      window.scrollTo(0, 0);
      this.buildTable();
      const place = this.place(this.route.query);
      this.verdict = new pq.VerdictCard(this.brief, this.side, this);
      this.around = new pq.Around(this.near, this);
      this.waves = new pq.Waves(this.stage, this.header, (...asked) => this.view(...asked), { range: place.range ?? undefined, cursors: place.cursors, groups: place.groups,
        onchange: (state) => this.moved(state), onevent: (index) => this.choose(index, false), ongroups: () => this.moved(this.waves) });
      if (!this.header.is_kept) this.cursors = new pq.CursorReadings(this.instruments, this.id, this.waves);
      this.cursors?.show(this.waves.cursors);
      await this.loadAnalysis();
    }

    async view(from, to, points, signal, channels) {
      const found = await this.api(`/view?${new URLSearchParams({ from, to, points, ...(channels ? { channels } : {}) })}`, { signal });
      this.hasUrms = Boolean(found.urms);
      this.writeUrms();
      return found;
    }

    // After a restart Urms(1/2) is measured again: until then say so.
    writeUrms() {
      const isMeasured = this.hasUrms || this.header.is_kept || !this.analysis?.references.length || this.header.seconds * this.header.nominal_frequency < 3;
      if (this.analysis?.state === "analyzed" && this.progress.hidden !== isMeasured) {
        this.progress.hidden = isMeasured;
        this.progress.replaceChildren(pq.el("progress", { "aria-label": "Urms(1/2)" }), "Urms(1/2) is being measured; it appears below the voltages.");
      }
    }

    writeHeader() {
      const { name, station, start, seconds, sampling_rate: rate, channels, format, status } = this.header;
      this.title.textContent = station ? `${station} · ${name}` : name;
      const facts = [format, start ? start.replace("T", " ").slice(0, 23) : "", pq.seconds(seconds), pq.si(rate, "Hz"),
        `${channels.length} ${channels.length === 1 ? "channel" : "channels"}${status.length ? ` and ${status.length} status` : ""}`];
      this.facts.textContent = facts.filter(Boolean).join(" · ");
      this.writeNotes();
      const link = (text, path, title) => pq.el("a", { class: "button", href: `/api/recordings/${this.id}${path}`, download: true, title }, text);
      const table = pq.el("a", { class: "button", href: `/api/table.csv?recording=${this.id}`, download: true, title: "Events of this recording" }, "Events (CSV)");
      const samples = link("Samples (CSV)", "/raw.csv", "Samples of the visible interval");
      samples.addEventListener("click", () => {
        const [from, to] = this.waves.range;
        samples.href = `/api/recordings/${this.id}/raw.csv?${new URLSearchParams({ from, to })}`;
      });
      this.sheet = link("Sheet (PDF)", "/sheet.pdf", "One page for the chosen incident, or for each incident, to forward");
      if (this.header.is_kept) this.tools.replaceChildren(table);
      else this.tools.replaceChildren(this.sheet, link("Page (HTML)", "/page.html", "A single file that works offline"), table, samples, pq.el("span", { class: "soft" }, "Waveforms:"), ...pq.savers(name.replace(/[^\w.-]+/g, "_"), (file) => this.saveWaves(file)));
      this.name();
    }

    // Assumptions made while reading; caveats are listed with the result.
    writeNotes() {
      const notes = [...new Set([...this.header.notes, ...(this.analysis?.notes ?? [])])];
      this.notes.hidden = !notes.length;
      this.notes.replaceChildren(pq.el("summary", {}, `${notes.length} ${notes.length === 1 ? "note" : "notes"} on this recording`), pq.el("ul", {}, notes.map((text) => pq.el("li", {}, text))));
    }

    name() {
      if (this.header) document.title = `${this.header.station || this.header.name} · pqswarm`;
    }

    buildTable() {
      const kept = ["type", "phases", "magnitude", "duration", "cause", "label"];
      const columns = kept.map((key) => pq.recordings.columns.find((column) => column.key === key));
      const moment = (row) => `${pq.fixed(row.start, 4)} s`;
      const volts = (row) => `${magnitudeText(row)}${Number.isFinite(row.volts) ? ` (${pq.si(row.volts, "V")})` : ""}`;
      const at = columns.findIndex((column) => column.key === "magnitude");
      columns.splice(at, 1, { ...columns[at], text: volts, help: "In percent of 1 pu and in volts: residual or maximum RMS, or peak" }, { key: "sag_type", title: "Sag type", help: "After Bollen" });
      this.table = new pq.Table(this.events, { caption: "Events", rows: [], key: (row) => row.event, limit: 200, empty: "Not analyzed yet.", onclick: (row) => this.choose(row.event), onsort: () => {},
        columns: [{ key: "start", title: "Start", number: true, text: moment, help: "Time since the first sample" }, ...columns] });
    }

    // The file or the server may have been replaced.
    async openAgain() {
      try {
        const header = await this.api("");
        if (JSON.stringify(header) !== JSON.stringify(this.header)) {
          pq.recordings.reopen();
          return;
        }
        this.waves?.refresh();
        await this.loadAnalysis();
      } catch (error) {
        pq.app.fail(error, this.holder);
      }
    }

    async loadAnalysis() {
      try {
        const text = await this.api("/analysis", { text: true });
        if (text === this.answer) return;
        const before = this.analysis?.state;
        [this.answer, this.analysis] = [text, JSON.parse(text)];
        if (before) this.openAgain(); // also the channels that hold nothing are known now
      } catch (error) {
        pq.app.fail(error, this.events);
        return;
      }
      const { state, events, reason, thresholds, no_event_reason: nothing } = this.analysis;
      this.writeProgress(state, this.analysis.fraction, reason);
      this.writeReferences();
      this.writeUrms();
      if (state === "analyzed" && !this.analysis.incidents.length) this.sheet.remove();
      this.table.options.empty = state === "analyzed" ? `${nothing[0]?.toUpperCase() ?? ""}${nothing.slice(1)}.` : state === "failed" ? reason : "Not analyzed yet.";
      this.table.update(events);
      this.writeNotes();
      if (thresholds) this.waves.setThresholds(thresholds);
      this.waves.setEvents(events.map((one) => ({ start: one.start, end: one.end, type: one.type, index: one.event,
        worst_end: one.worst_end, channels: one.parts.map((part) => part.channel), title: [typeTitle(one), one.phases.replaceAll(" ", ""), one.parts[0].system, magnitudeText(one)].filter(Boolean).join(" ") })));
      this.flush();
      if (state === "analyzed") {
        this.around.load();
        this.apply(this.route, true);
      }
    }

    // What 1 pu is, and where that comes from.
    writeReferences() {
      const groups = new Map();
      for (const one of this.analysis.references) {
        const words = `${pq.si(one.volts, "V")} (${one.source})`;
        groups.set(words, [...(groups.get(words) ?? []), one.channel]);
      }
      const said = [...groups].map(([words, names]) => (groups.size > 1 ? `${names.join(", ")} ${words}` : words));
      this.references.textContent = said.length ? `1 pu: ${said.join("; ")}` : "";
      this.references.title = this.references.textContent;
    }

    writeProgress(state, fraction, reason) {
      this.progress.hidden = state === "analyzed";
      const words = { waiting: reason || "Queued for analysis.", working: `${this.analysis?.state === "analyzed" ? "Measuring Urms(1/2)" : "Analyzing"}: ${Math.round(100 * (fraction || 0))} %`, failed: `The analysis failed: ${reason}` }[state] ?? "";
      this.progress.classList.toggle("error", state === "failed");
      this.progress.replaceChildren(...(state === "working" ? [pq.el("progress", { max: 1, value: fraction || 0, "aria-label": "Analysis" })] : []), words);
    }

    message(message) {
      if (message.state === "again") {
        this.openAgain();
        return;
      }
      if (!this.header || message.id.split("-")[0] !== this.id.split("-")[0]) return;
      if (message.state === "working") this.writeProgress("working", message.fraction, "");
      if (message.state === "analyzed" || message.state === "failed") {
        this.writeProgress(message.state, 1, message.reason ?? "");
        this.loadAnalysis();
        if (message.urms) this.waves?.refresh();
      }
      if (message.state === "corrected") {
        this.takeAnalysis();
      }
    }

    // Something was corrected: the view stays as it is.
    async takeAnalysis() {
      try {
        this.answer = await this.api("/analysis", { text: true });
        this.analysis = JSON.parse(this.answer);
        this.table.update(this.analysis.events);
        this.select(this.analysis.events[this.event] ?? null);
      } catch (error) {
        pq.app.fail(error, this.events);
      }
    }

    // Target of a link: interval, cursors, event.
    place(query) {
      const [t, span, a, b] = ["t", "span", "a", "b"].map((name) => given(query, name));
      const cursors = { ...(a === null ? {} : { A: a }), ...(b === null ? {} : { B: b }) };
      const groups = query.has("groups") ? query.get("groups").split(",").filter(Boolean).map(Number) : null;
      return { range: t !== null && span > 0 ? [t - span / 2, t + span / 2] : null, cursors, event: given(query, "event"), groups };
    }

    placeOf(event) {
      const { t, span, a, b } = this.waves.placeOf(event);
      return { t: round(t), span: round(span), event: event.event, a: round(a), b: round(b), groups: this.groups() };
    }

    // The choice of channels for the address, unless it is the initial one.
    groups() {
      const shown = this.waves.shownGroups().join();
      return shown === this.waves.initial && !this.route.query.has("groups") ? null : shown;
    }

    apply(route, first = false) {
      clearTimeout(this.linking);
      this.linking = 0;
      this.route = route;
      this.name();
      if (!this.waves) return;
      const { range, cursors, event, groups } = this.place(route.query);
      const found = event === null ? null : this.analysis?.events[event] ?? null;
      if (groups) this.waves.setGroups(groups);
      else this.reveal(found, first);
      if (range) this.waves.show(...range);
      else if (found) {
        const place = this.placeOf(found);
        this.waves.center(place.t, place.span);
        Object.assign(cursors, { A: cursors.A ?? place.a, B: cursors.B ?? place.b });
      } else if (!first) this.waves.showAll?.();
      for (const [name, t] of Object.entries(cursors)) this.waves.setCursor(name, t);
      this.select(found ?? (this.analysis?.events.length === 1 ? this.analysis.events[0] : null));
    }

    // Show the channels of an event, at first those of the main one.
    reveal(event, first) {
      const shown = event ?? (first && this.analysis ? pq.recordings.mainEvent(this.analysis) : null);
      const concerned = shown ? pq.recordings.concerned(shown, this.analysis, this.header.channels) : [];
      if (first && this.waves.shownGroups().length > MANY) this.waves.narrow(concerned);
      this.waves.reveal(concerned);
      if (first) this.waves.initial = this.waves.shownGroups().join();
    }

    select(event) {
      this.event = event?.event ?? null;
      this.table.select(this.event);
      this.sheet.hidden = event ? event.hidden : !this.analysis?.events.some((one) => !one.hidden);
      this.sheet.href = `/api/recordings/${this.id}/sheet.pdf${event ? `?event=${event.event}` : ""}`;
      this.side.hidden = !this.analysis?.events.length;
      this.verdict.show(event, this.analysis);
      this.around.draw();
    }

    choose(index, scroll = true) {
      const event = this.analysis?.events[index];
      if (!event) return;
      this.flush();
      const query = this.placeOf(event);
      if (pq.app.link("recordings", this.id, query) === window.location.hash) this.apply(pq.app.parse());
      else pq.app.go("recordings", this.id, query);
      if (scroll && this.stage.getBoundingClientRect().top > window.innerHeight - 160) this.stage.scrollIntoView({ block: "start" });
    }

    // Write the view into the address, so that a reload restores it.
    moved({ cursors }) {
      this.cursors?.show(cursors);
      clearTimeout(this.linking);
      this.linking = 0;
      if (this.analysis?.state !== "analyzed" && this.route.query.has("event")) return; // the link leads to an event that is not known yet
      this.linking = setTimeout(() => this.write(), LINK_WAIT);
    }

    write() {
      this.linking = 0;
      const now = pq.app.parse();
      if (now.section !== "recordings" || now.path !== this.id || !this.waves) return;
      const [from, to] = this.waves.range;
      const whole = to - from >= this.waves.seconds - 1e-9;
      const query = { ...(whole && this.event === null ? {} : { t: round((from + to) / 2), span: round(to - from) }), event: this.event, a: round(this.waves.cursors.A), b: round(this.waves.cursors.B), groups: this.groups() };
      // A new zoom is a new entry of the browser's history; a moved cursor is not.
      const isZoom = now.query.has("a") && ["t", "span"].some((name) => (now.query.get(name) ?? "") !== String(query[name] ?? ""));
      pq.app.go("recordings", this.id, query, { replace: !isZoom, quiet: true });
      this.route = pq.app.parse();
    }

    flush() {
      if (!this.linking) return;
      clearTimeout(this.linking);
      this.write();
    }

    saveWaves(file) {
      const { stage } = this.waves;
      pq.saveSvgs(file, stage, stage.querySelectorAll(":scope > svg, .waves-panel > svg, .swatch-line"), stage.querySelectorAll(".waves-fold, .waves-channel"));
    }
  };
})();
