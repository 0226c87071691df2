// Around a recording: what other meters saw at that time, and notes of people.
"use strict";
(() => {
  const pq = window.pq;
  const { count, durationText, typeTitle, magnitudeText, moment, swatch } = pq.recordings;
  const delay = (seconds) => `${seconds < 0 ? "−" : "+"}${pq.seconds(Math.abs(seconds))}`;

  pq.Around = class {
    constructor(holder, page) {
      Object.assign(this, { page, notes: [] });
      this.others = pq.el("section", { class: "around", "aria-labelledby": "others-title" });
      this.said = pq.el("details", { class: "notes" });
      holder.append(this.others, this.said);
    }

    // The archive knows a recording once it was analyzed.
    load() {
      this.loadOthers(5);
      this.loadNotes();
    }

    async loadOthers(seconds) {
      const within = pq.el("select", { "aria-label": "Time around this recording", on: { change: () => this.loadOthers(Number(within.value)) } },
        [[1, "1 s"], [5, "5 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"]].map(([value, text]) => pq.el("option", { value, selected: value === seconds }, text)));
      const head = pq.el("div", { class: "row heading" }, pq.el("h2", { id: "others-title" }, "What other meters saw"), pq.el("label", { class: "soft" }, "within ", within));
      if (!this.page.header.start) {
        this.others.replaceChildren(head, pq.el("p", { class: "note" }, "This recording has no time."));
        return;
      }
      try {
        const { events } = await this.page.api(`/others?${new URLSearchParams({ seconds })}`);
        Object.assign(this, { head, events });
        this.draw();
      } catch (error) {
        pq.app.fail(error, this.others);
      }
    }

    // Delays count from the chosen event, or else from the main one.
    draw() {
      const { events, head, page: { analysis, event } } = this;
      if (!head) return;
      const start = (analysis.events[event] ?? pq.recordings.mainEvent(analysis))?.start ?? 0;
      this.others.replaceChildren(head);
      if (!events.length) this.others.append(pq.el("p", { class: "note" }, "Nothing."));
      else {
        const together = (row) => pq.el("a", { href: pq.app.link("recordings", this.page.id, { with: row.recording }), "aria-label": `Overlay with ${row.station || row.path}` }, "Overlay");
        new pq.Table(this.others, { caption: "Events of other recordings at that time", rows: events, key: (row) => `${row.recording}:${row.event}`, limit: 50,
          onclick: (row) => pq.app.go("recordings", row.recording, { event: row.event }), columns: [
            { key: "station", title: "Station", text: (row) => `${row.station || row.path}${row.same_station ? " (the same)" : ""}` },
            { key: "delay", title: "Delay", number: true, help: "From the start of the chosen event of this recording, or else of its main event", value: (row) => row.delay, text: (row) => delay(row.delay - start) },
            { key: "type", title: "Type", value: typeTitle, show: (row) => [swatch(row.type), row.category || typeTitle(row)] },
            { key: "phases", title: "Phases", text: (row) => row.phases || row.channels },
            { key: "magnitude", title: "Magnitude", number: true, text: magnitudeText },
            { key: "duration", title: "Duration", number: true, text: durationText, value: (row) => row.duration_s },
            { key: "overlay", title: "Together", value: () => "", show: together },
          ] }).caption.classList.add("spoken");
      }
    }

    async loadNotes(change = () => this.page.api("/notes")) {
      try {
        const known = this.notes.length;
        this.notes = (await change()).notes;
        this.said.open ||= this.notes.length > known;
        this.drawNotes();
      } catch (error) {
        pq.app.fail(error, this.said);
      }
    }

    drawNotes() {
      const text = pq.el("textarea", { name: "text", rows: 2, required: true, maxlength: 2000 });
      const by = pq.el("input", { name: "by", required: true, maxlength: 80, autocomplete: "name", value: pq.recordings.name });
      const marked = pq.el("input", { type: "checkbox", name: "marked" });
      const go = (one) => {
        this.page.waves.center((one.start + one.end) / 2, Math.max(2 * (one.end - one.start), this.page.waves.minSpan));
        this.page.waves.setCursor("A", one.start);
        this.page.waves.setCursor("B", one.end);
      };
      const place = (one) => (one.start === null ? "" : pq.el("button", { class: "small", title: "Show this stretch", on: { click: () => go(one) } }, `${pq.fixed(one.start, 4)} to ${pq.fixed(one.end, 4)} s`));
      const add = (event) => {
        event.preventDefault();
        pq.recordings.name = by.value.trim();
        const ends = Object.values(this.page.waves.cursors).sort((a, b) => a - b);
        this.loadNotes(() => this.page.api("/notes", { method: "POST", json: { text: text.value.trim(), by: by.value.trim(), ...(marked.checked ? { start: ends[0], end: ends[1] } : {}) } }));
      };
      const remove = (one) => this.loadNotes(() => this.page.api(`/notes?${new URLSearchParams({ number: one.number, by: pq.recordings.name || one.by })}`, { method: "DELETE" }));
      this.said.replaceChildren(pq.el("summary", {}, this.notes.length ? `${count(this.notes.length, "note")} by hand` : "Add a note"),
        pq.el("ul", {}, this.notes.map((one) => pq.el("li", {}, pq.el("p", {}, place(one), " ", one.text), pq.el("span", { class: "soft" }, `${one.by}, ${moment(one.at)} `), pq.el("button", { class: "small", "aria-label": `Remove the note of ${one.by}`, on: { click: () => remove(one) } }, "Remove")))),
        pq.el("form", { on: { submit: add } }, pq.el("label", { class: "wide" }, "Note on this recording", text), pq.el("label", {}, "Your name", by), pq.el("label", { class: "mark" }, marked, " on the stretch from A to B"), pq.el("button", { type: "submit" }, "Add note")));
    }
  };
})();
