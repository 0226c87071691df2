// Stations: their recordings and events, and the site of each, edited here.
"use strict";
(() => {
  const pq = window.pq;
  const { count, moment } = pq.recordings;
  const EXAMPLE = 'nominal_voltage = { line_to_line = "20 kV" }\nnominal_frequency = 50\nreference = "auto"\n';

  pq.Stations = class {
    constructor(holder) {
      this.holder = pq.el("div", { class: "recordings stations" });
      holder.append(this.holder);
      Object.assign(this, { end: new AbortController(), stations: [], chosen: null });
      document.title = "Stations · pqswarm";
      const title = pq.el("h1", { tabindex: "-1" }, "Stations");
      this.fault = pq.el("div");
      this.holder.append(pq.el("div", { class: "row head" }, title, pq.recordings.rooms("stations")), this.fault);
      this.table = new pq.Table(this.holder, { caption: "Stations", rows: [], key: (one) => one.id, limit: 500, empty: "Loading …", onclick: (one) => this.edit(one),
        note: "The station is the name in the recording. Nominal voltage, frequency and all else of a site hold for all its recordings; without a site, 1 pu is found out for each recording.", columns: [
          { key: "name", title: "Station", text: (one) => one.name || "without a name" },
          { key: "n_recordings", title: "Recordings", number: true },
          { key: "n_events", title: "Events", number: true, show: (one) => pq.el("a", { href: pq.app.link("recordings", "", { station: one.id }), "aria-label": `${count(one.n_events, "event")} of ${one.name || "the station without a name"}` }, one.n_events.toLocaleString("en")) },
          { key: "first", title: "First", text: (one) => moment(one.first) },
          { key: "last", title: "Last", text: (one) => moment(one.last) },
          { key: "site", title: "Site", text: (one) => one.site.split("\n").filter((line) => line.trim() && !line.startsWith("#")).join("; ") || "–" },
          { key: "by", title: "Edited", text: (one) => (one.by ? `${one.by}, ${moment(one.at)}` : "") },
        ] });
      this.table.caption.classList.add("spoken");
      this.form = pq.el("section", { class: "card site", "aria-label": "Site", hidden: true });
      this.holder.append(this.form);
      this.load();
      title.focus({ preventScroll: true });
    }

    destroy() {
      this.end.abort();
    }

    apply() {}

    async load() {
      try {
        this.stations = (await pq.app.api("/api/stations", { signal: this.end.signal })).stations;
        this.table.options.empty = "No recording was analyzed yet.";
        this.table.update(this.stations);
      } catch (error) {
        pq.app.fail(error, this.fault);
      }
    }

    refresh() {
      this.load();
    }

    // Values that most sites need have a field of their own; the text of the site has all.
    edit(station) {
      this.chosen = station;
      this.table.select(station.id);
      const found = (pattern) => new RegExp(pattern, "m").exec(station.site)?.[1] ?? "";
      const voltage = pq.el("input", { name: "voltage", placeholder: "20 kV", value: found('line_to_line\\s*=\\s*"?([^"\\n}]+?)"?\\s*[}\\n]') });
      const frequency = pq.el("select", { name: "frequency" }, ["", "50", "60"].map((value) => pq.el("option", { value, selected: found("^nominal_frequency\\s*=\\s*(\\d+)") === value }, value ? `${value} Hz` : "as recorded")));
      const reference = pq.el("select", { name: "reference" }, ["auto", "nominal", "pre-event"].map((value) => pq.el("option", { value, selected: found('^reference\\s*=\\s*"([^"]+)"') === value }, value)));
      const text = pq.el("textarea", { name: "site", rows: 8, spellcheck: "false", placeholder: EXAMPLE }, station.site);
      const by = pq.el("input", { name: "by", required: true, maxlength: 80, autocomplete: "name", value: pq.recordings.name });
      this.words = pq.el("p", { role: "status" }, "");
      this.problem = pq.el("p", { class: "error", role: "alert", hidden: true });
      this.again = pq.el("button", { "data-act": "again", hidden: !station.n_recordings, on: { click: () => this.analyseAgain(station) } }, `Analyze again (${count(station.n_recordings, "recording")})`);
      // A field changes its line of the text, or adds one at its start.
      const put = (name, line) => {
        const lines = text.value.split("\n").filter((one) => !new RegExp(`^\\s*${name}\\s*=`).test(one));
        text.value = [...(line ? [line] : []), ...lines].join("\n");
      };
      const quoted = (value) => (/^[\d.]+$/.test(value) ? value : JSON.stringify(value));
      voltage.addEventListener("input", () => put("nominal_voltage", voltage.value.trim() && `nominal_voltage = { line_to_line = ${quoted(voltage.value.trim())} }`));
      frequency.addEventListener("change", () => put("nominal_frequency", frequency.value && `nominal_frequency = ${frequency.value}`));
      reference.addEventListener("change", () => put("reference", `reference = "${reference.value}"`));
      const save = (event) => {
        event.preventDefault();
        pq.recordings.name = by.value.trim();
        this.save(station, text.value, by.value.trim());
      };
      const label = (title, input) => pq.el("label", {}, title, input);
      this.form.hidden = false;
      this.form.replaceChildren(pq.el("h2", {}, `Site of ${station.name || "the station without a name"}`),
        pq.el("form", { on: { submit: save } }, label("Nominal voltage, line to line", voltage), label("Frequency", frequency), label("1 pu is", reference),
          pq.el("label", { class: "wide" }, "All of the site, as in a site file (TOML)", text), label("Your name", by),
          pq.el("div", { class: "row" }, pq.el("button", { type: "submit" }, "Save"), this.again)), this.words, this.problem,
        pq.el("p", { class: "note" }, "A saved site applies to new recordings. Earlier ones keep their values until they are analyzed again. Corrections and notes stay."));
      this.form.scrollIntoView({ block: "nearest" });
      voltage.focus({ preventScroll: true });
    }

    async act(request, told) {
      this.problem.hidden = true;
      try {
        this.words.textContent = told(await request());
        this.load();
      } catch (error) {
        if (error.name === "AbortError") return;
        this.problem.hidden = false;
        this.problem.textContent = error.message;
      }
    }

    save(station, site, by) {
      this.act(() => pq.app.api(`/api/stations/${station.id}`, { method: "PUT", json: { site, by }, signal: this.end.signal }), (answer) => {
        this.again.hidden = !answer.recordings;
        this.again.textContent = `Analyze again (${count(answer.recordings, "recording")})`;
        return answer.recordings ? `Saved. ${count(answer.recordings, "recording was", "recordings were")} analyzed without it.` : "Saved.";
      });
    }

    analyseAgain(station) {
      this.act(() => pq.app.api("/api/again", { method: "POST", json: { station: station.id }, signal: this.end.signal }), (answer) => {
        this.again.hidden = true;
        return `${count(answer.files, "file is", "files are")} analyzed again.`;
      });
    }
  };
})();
