// The events section: choose a class, set its parameters, and see the waveform and the verdict of rules and model.
"use strict";
(() => {
  const pq = window.pq;
  const { api } = pq.app;
  const WAIT = 30; // delay after the last change before the request is sent [ms]
  const NOISE = 40; // default SNR [dB]
  const OWN = ["class", "preset", "source", "seed", "noise"];

  let bench = null;

  class Bench {
    constructor(holder, query) {
      this.fields = new Map();
      this.read(query);
      this.build(holder);
      this.loadClasses();
      this.ask();
    }

    // The address is the state: parameters that it does not name are drawn by the preset.
    read(query) {
      const word = (name, other) => query.get(name) || other;
      this.state = { class: word("class", "sag"), preset: word("preset", "paper"), source: word("source", "model"), seed: word("seed", "1"), noise: word("noise", "") };
      this.given = Object.fromEntries([...query].filter(([name]) => !OWN.includes(name)));
    }

    query() {
      return { class: this.state.class, preset: this.state.preset, source: this.state.source === "model" ? "" : this.state.source, seed: this.state.seed, noise: this.state.noise, ...this.given };
    }

    spec(more = {}, query = this.query()) {
      const words = Object.entries({ ...query, ...more }).filter(([, value]) => value !== "" && value !== null && value !== undefined);
      return new URLSearchParams(words).toString();
    }

    build(holder) {
      const choose = (name) => pq.el("select", { id: `bench-${name}`, on: { change: (event) => this.set({ [name]: event.target.value }, true) } });
      this.strip = pq.el("div", { class: "strip scroll", role: "group", "aria-label": "Event classes", tabindex: 0 });
      this.presets = choose("preset");
      this.sources = choose("source");
      this.seed = pq.el("input", { id: "bench-seed", type: "number", min: 0, step: 1, on: { input: () => this.seed.value !== "" && this.set({ seed: this.seed.value }) } });
      this.noise = new pq.bench.Field({ name: "noise", title: "Added noise (SNR)", unit: "dB", meaning: "White noise added by the recorder", low: 0, high: 80, step: 1, log: false, usual: [20, 50], given: false, value: NOISE, hint: "levels in the paper: 20 to 50" },
        (_, value) => this.set({ noise: value === null ? String(NOISE) : String(value) }));
      this.noisy = pq.el("input", { type: "checkbox", id: "bench-noisy", on: { change: () => this.set({ noise: this.noisy.checked ? String(NOISE) : "" }) } });
      this.form = pq.el("div", { class: "fields" });
      this.code = pq.el("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "Python code for this event" });
      this.files = ["csv", "comtrade"].map((kind) => pq.el("a", { class: "button", download: "", "data-format": kind }, kind === "csv" ? "CSV" : "COMTRADE (zip)"));
      this.copied = pq.el("span", { class: "soft", role: "status" });
      const label = (name, text, control) => pq.el("label", { for: `bench-${name}` }, pq.el("span", {}, text), control);
      const form = pq.el("form", { class: "card bench-form", "aria-label": "Event", on: { submit: (event) => event.preventDefault() } },
        pq.el("div", { class: "choices" }, label("preset", "Preset", this.presets), label("source", "Source", this.sources), label("seed", "Seed", this.seed)),
        this.seedError = pq.el("p", { class: "error", role: "alert", hidden: true }),
        pq.el("div", { class: "row" }, pq.el("button", { "data-act": "another", on: { click: () => this.set({ seed: String(Number(this.state.seed) + 1) }) } }, "Draw another event"),
          pq.el("button", { "data-act": "reset", on: { click: () => this.reset() } }, "Reset")),
        this.mini = pq.el("p", { class: "mini", "aria-hidden": "true" }),
        this.form,
        pq.el("fieldset", { "data-group": "noise" }, pq.el("legend", {}, pq.el("label", { for: "bench-noisy" }, this.noisy, " Noise")), this.noise.element));
      this.verdict = pq.el("section", { class: "card opinions", "aria-label": "Verdict", "aria-live": "polite" }, pq.el("p", { class: "soft" }, "Working …"));
      this.wave = pq.el("div", { class: "wave" });
      this.bands = pq.el("div", { class: "figure" });
      this.features = pq.el("div");
      this.featureNote = pq.el("p", { class: "note" });
      const copy = pq.el("button", { on: { click: () => this.copy() } }, "Copy");
      const take = pq.el("section", { class: "card take" }, pq.el("h2", {}, "Export"), pq.el("div", { class: "row" }, this.files, copy, this.copied), this.code);
      const fold = (name, title, ...inside) => pq.el("details", { class: "card", open: true, "data-part": name }, pq.el("summary", {}, pq.el("h2", {}, title)), ...inside);
      this.root = pq.el("div", { class: "bench", "data-state": "working" },
        pq.el("h1", {}, "Events"),
        this.strip,
        this.problem = pq.el("p", { class: "error", role: "alert", hidden: true }),
        pq.el("div", { class: "bench-body" },
          pq.el("div", { class: "bench-show" }, this.verdict, pq.el("div", { class: "card" }, this.wave)),
          form,
          pq.el("div", { class: "bench-more" },
            fold("sweep", "Sweep one parameter", this.buildSweep()),
            fold("bands", "Wavelet bands", pq.el("p", { class: "note" }, "The voltage [pu] in each band of the sym6 wavelet transform, each with its own scale."), this.bands),
            fold("features", "Features", this.featureNote, this.features), take)));
      holder.append(this.root);
      this.observer = new ResizeObserver(() => this.redraw());
      this.observer.observe(this.root);
    }

    buildSweep() {
      this.over = pq.el("select", { id: "sweep-over", on: { change: () => this.offerSweep(true) } });
      const number = (id, more) => pq.el("input", { type: "number", step: "any", id, ...more });
      this.sweepFrom = number("sweep-from");
      this.sweepTo = number("sweep-to");
      this.steps = number("sweep-steps", { min: 2, max: 101, step: 1, value: 41 });
      this.start = pq.el("button", { "data-act": "sweep", on: { click: () => (this.sweeper ? this.stopSweep() : this.runSweep()) } }, "Sweep");
      this.sweepNote = pq.el("span", { class: "soft", role: "status" });
      this.sweepFigure = pq.el("div", { class: "figure" });
      const label = (id, text, control) => pq.el("label", { for: id }, pq.el("span", {}, text), control);
      return pq.el("div", {},
        pq.el("p", { class: "note" }, "Varies one parameter and keeps the others fixed, to find where the verdicts of rules and model change."),
        pq.el("div", { class: "choices" }, label("sweep-over", "Parameter", this.over), label("sweep-from", "From", this.sweepFrom), label("sweep-to", "To", this.sweepTo), label("sweep-steps", "Steps", this.steps)),
        pq.el("div", { class: "row" }, this.start, this.sweepNote), this.sweepFigure);
    }

    // Changes.
    set(change, fresh = false) {
      Object.assign(this.state, change);
      if (fresh) this.given = {};
      this.changed();
    }
    move(name, value) {
      if (value === null) delete this.given[name];
      else this.given[name] = String(value);
      this.changed();
    }
    reset() {
      this.given = {};
      this.state.noise = "";
      this.changed();
    }
    changed() {
      pq.app.go("events", "", this.query(), { replace: true });
      this.root.dataset.state = "working";
      this.aborter?.abort();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(), WAIT);
    }

    async loadClasses() {
      try {
        const answer = await api(`/api/events/classes?${new URLSearchParams({ preset: this.state.preset })}`);
        this.presets.replaceChildren(...answer.presets.map((name) => pq.el("option", { value: name }, name)));
        this.classes = answer.classes;
        this.strip.replaceChildren(...answer.classes.map((one) => pq.el("button", { "data-class": one.name, title: one.preset === answer.preset ? null : `of the preset ${one.preset}`,
          on: { click: () => this.set({ class: one.name, source: "model", preset: one.preset }, true) } }, pq.bench.thumbnail(one), pq.el("span", {}, one.title))));
        this.shownPreset = answer.preset;
        this.mark();
      } catch (error) {
        this.say(error);
      }
    }

    // Show the selection in the controls.
    mark() {
      if (document.activeElement !== this.seed) this.seed.value = this.state.seed;
      this.presets.value = this.state.preset;
      const own = this.classes?.find((one) => one.name === this.state.class);
      const sources = own?.sources ?? ["model"];
      this.sources.replaceChildren(...sources.map((name) => pq.el("option", { value: name }, name === "model" ? "model" : "laboratory bench")));
      this.sources.value = this.state.source;
      this.sources.disabled = sources.length < 2;
      for (const button of this.strip.children) {
        const chosen = button.dataset.class === this.state.class;
        button.setAttribute("aria-pressed", String(chosen));
        if (chosen && this.marked !== this.state.class) this.strip.scrollLeft = button.offsetLeft - this.strip.clientWidth / 2;
        if (chosen) this.marked = this.state.class;
      }
      const noisy = this.state.noise !== "";
      this.noisy.checked = noisy;
      this.noise.element.hidden = !noisy;
      if (noisy) this.noise.write({ ...this.noise.field, value: Number(this.state.noise), given: true });
      if (this.shownPreset && this.shownPreset !== this.state.preset) {
        this.shownPreset = this.state.preset;
        this.loadClasses();
      }
    }

    // Requests: the waveform first, then the slower ones; outdated requests are aborted.
    async ask() {
      const aborter = (this.aborter = new AbortController());
      const { signal } = aborter;
      this.mark();
      const spec = this.spec();
      const [from, to, points] = this.asked ?? ["", "", 1000];
      const began = performance.now();
      try {
        const event = await api(`/api/events/event?${spec}&${new URLSearchParams({ from, to, points })}`, { signal });
        this.fail(null);
        this.showEvent(event, spec);
        this.root.dataset.waveform = Math.round(performance.now() - began);
        await api(`/api/events/verdict?${spec}`, { signal }).then((answer) => this.showVerdict(answer), (error) => this.failPart(this.verdict, error));
        this.root.dataset.verdict = Math.round(performance.now() - began);
        await api(`/api/events/features?${spec}`, { signal }).then((answer) => this.showFeatures(answer), (error) => this.failPart(this.bands, error));
        if (signal.aborted) return;
        this.root.dataset.state = "ready";
        this.root.dataset.took = Math.round(performance.now() - began);
      } catch (error) {
        if (error.name === "AbortError") return;
        if (!this.fits()) await this.showDrawn(signal);
        if (signal.aborted) return;
        this.fail(error);
        this.root.dataset.state = "failed";
      }
    }

    // Whether the fields belong to the requested class.
    fits() {
      return this.kind === [this.state.class, this.state.preset, this.state.source].join(" ");
    }

    // If the address holds an invalid value, show the event as drawn by the preset; the value can then be fixed.
    async showDrawn(signal) {
      const bare = { class: this.state.class, preset: this.state.preset, source: this.state.source };
      try {
        this.showEvent(await api(`/api/events/event?${this.spec({}, bare)}`, { signal }), this.spec({}, bare));
      } catch { /* the error is already shown */ }
    }

    failPart(where, error) {
      if (error.name !== "AbortError") where.replaceChildren(pq.el("p", { class: "error", role: "alert" }, error.message));
    }
    say(error) {
      if (error?.name === "AbortError") return;
      this.problem.textContent = error ? error.message : "";
      this.problem.hidden = !error;
    }

    // Show an error message next to the field that it names.
    fail(error) {
      for (const field of this.fields.values()) field.fail("");
      this.noise.fail("");
      this.seedError.hidden = true;
      this.say(null);
      if (!error) return;
      const [name] = error.message.match(/^[a-z_0-9]+/) ?? [""]; // messages start with the name of the parameter
      if (this.fields.has(name)) this.fields.get(name).fail(error.message, this.given[name]);
      else if (name === "noise") this.noise.fail(error.message, this.state.noise);
      else if (name === "seed") {
        this.seedError.textContent = error.message;
        this.seedError.hidden = false;
      } else this.say(error);
    }

    showEvent(event, spec) {
      const kind = [event.class, event.preset, event.source].join(" ");
      if (this.kind !== kind) {
        this.kind = kind;
        this.stopSweep();
        this.fields = pq.bench.buildFields(this.form, event.fields, (name, value) => this.move(name, value));
        this.swept = null;
      } else for (const field of event.fields) this.fields.get(field.name)?.write(field);
      this.all = event.fields;
      this.offerSweep(this.swept === null);
      this.code.textContent = ["from pqswarm.events import " + (event.noise === null ? "generate" : "add_noise, generate, noise_stream"), event.python].join("\n");
      for (const link of this.files) link.href = `/api/events/file?${spec}&format=${link.dataset.format}`;
      this.showWave(event, spec);
    }

    showWave({ recording, view }, spec) {
      this.ready = view;
      this.current = spec;
      const key = [recording.n_samples, recording.sampling_rate, recording.nominal_frequency].join(" ");
      if (this.waves && key === this.record) {
        this.waves.refresh();
        return;
      }
      this.record = key;
      this.waves?.destroy();
      this.asked = null;
      this.waves = new pq.Waves(this.wave, recording, (from, to, points, signal) => this.view(from, to, points, signal), {});
    }

    // The next drawing uses the view sent with the event; others are requested.
    view(from, to, points, signal) {
      const slack = 1e-6 * (to - from);
      if (points >= 50) {
        this.asked = [from, to, points];
        const ready = this.ready;
        this.ready = null;
        if (ready && ready.from <= from + slack && ready.to >= to - slack) return Promise.resolve(ready);
      }
      return api(`/api/events/view?${this.current}&${new URLSearchParams({ from, to, points })}`, { signal });
    }

    showVerdict(answer) {
      const { summary, events } = answer;
      const body = pq.el("div");
      const show = (i) => body.replaceChildren(pq.el("p", { class: "sentence", "data-read": "sentence" }, events[i].sentence), pq.bench.agreement(events[i].agreement),
        events[i].known ? "" : pq.el("p", { class: "note" }, "The event is unlike any that the model was trained on; the probabilities are those of the nearest classes."),
        events[i].probabilities.length ? pq.bench.bars(events[i]) : "");
      const note = summary.rules.level === "none" && summary.urms ? `No sag, swell or interruption according to IEC 61000-4-30: Urms(1/2) is ${pq.fixed(summary.urms[0], 2)} to ${pq.fixed(summary.urms[1], 2)} pu.` : "";
      const others = events.length > 1 ? pq.el("div", { class: "row others", role: "group", "aria-label": "Events found" }, events.map((one, i) => pq.el("button", { "aria-pressed": String(i === answer.main), on: { click: (event) => {
        for (const button of event.target.parentElement.children) button.setAttribute("aria-pressed", String(button === event.target));
        show(i);
      } } }, `${i + 1}: ${one.kind}`))) : "";
      show(answer.main);
      this.mini.replaceChildren(...pq.bench.short(summary));
      this.verdict.replaceChildren(pq.bench.opinion(summary), pq.el("p", { class: "note" }, note), others, body,
        answer.caveats.length ? pq.el("details", {}, pq.el("summary", {}, "Caveats"), pq.el("ul", {}, answer.caveats.map((one) => pq.el("li", {}, one)))) : "");
      this.waves?.setThresholds(answer.thresholds);
      this.waves?.setEvents(events.filter((one) => one.kind !== "none").map((one, index) => ({ start: one.start, end: one.end, kind: one.kind, title: one.sentence, index })));
    }

    showFeatures(answer) {
      this.banded = answer;
      pq.bench.bands(this.bands, answer);
      const { features, wavelet } = answer.model;
      this.featureNote.textContent = `${answer.features.length} wavelet features of the whole record. ${answer.note} The model uses ${features} features, ${wavelet ? `${wavelet} of them wavelet features` : "none of them wavelet features"}.`;
      this.table ??= new pq.Table(this.features, { caption: "", key: (row) => row.name, rows: [], columns: [
        { key: "name", title: "Feature" }, { key: "value", title: "Value", number: true, text: (row) => pq.number(row.value, 4) },
        ...(wavelet ? [{ key: "used", title: "Model", text: (row) => (row.used ? "yes" : "") }] : []), { key: "meaning", title: "Meaning" }] });
      this.table.update(answer.features);
    }

    // The sweep.
    offerSweep(fresh) {
      const noise = { name: "noise", title: "Added noise (SNR)", unit: "dB", low: 0, high: 80, usual: [20, 50], log: false, value: this.state.noise === "" ? null : Number(this.state.noise) };
      this.sweepable = [...(this.all ?? []), noise];
      const chosen = fresh && this.swept === null ? this.sweepable[0].name : this.over.value;
      this.over.replaceChildren(...this.sweepable.map((field) => pq.el("option", { value: field.name }, field.title)));
      this.over.value = chosen;
      const field = this.sweepField();
      if (fresh) Object.assign(this, { swept: field.name });
      if (fresh) [this.sweepFrom.value, this.sweepTo.value] = [field.low, field.high];
      if (fresh) this.sweepFigure.replaceChildren();
      if (fresh) this.rows = null;
      if (this.rows) this.drawSweep();
    }
    sweepField() {
      return this.sweepable.find((field) => field.name === this.over.value) ?? this.sweepable[0];
    }
    async runSweep() {
      const field = this.sweepField();
      const sweeper = (this.sweeper = new AbortController());
      this.rows = [];
      this.reach = { low: Number(this.sweepFrom.value), high: Number(this.sweepTo.value), count: Number(this.steps.value), log: field.log && Number(this.sweepFrom.value) > 0 };
      this.start.textContent = "Stop";
      this.sweepNote.textContent = "";
      try {
        const query = { ...this.query() };
        delete query[field.name];
        const more = { over: field.name, from: this.reach.low, to: this.reach.high, steps: this.reach.count, scale: this.reach.log ? "log" : "" };
        const answer = await fetch(`/api/events/sweep?${this.spec({ ...more, ...(field.name === "noise" ? { noise: "" } : {}) }, query)}`, { signal: sweeper.signal, headers: pq.app.headers() });
        if (!answer.ok) throw new Error((await answer.json()).error);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          const lines = (rest + part.value).split("\n");
          rest = lines.pop();
          this.rows.push(...lines.map((line) => JSON.parse(line)));
          this.sweepNote.textContent = `${this.rows.length} of ${this.reach.count}`;
          this.drawSweep();
        }
        const wrong = this.rows.filter((row) => row.error).length;
        const apart = this.rows.filter((row) => !row.error && !/^(agree|measured)/.test(row.agreement)).length;
        this.sweepNote.textContent = `${this.rows.length} steps; rules and model differ in ${apart}${wrong ? `; ${wrong} not possible: ${this.rows.find((row) => row.error).error}` : ""}.`;
      } catch (error) {
        if (error.name !== "AbortError") this.sweepNote.textContent = error.message;
      } finally {
        if (this.sweeper === sweeper) this.stopSweep();
      }
    }
    stopSweep() {
      this.sweeper?.abort();
      this.sweeper = null;
      this.start.textContent = "Sweep";
    }
    drawSweep() {
      const field = this.sweepField();
      const choose = (value) => (field.name === "noise" ? this.set({ noise: String(value) }) : this.move(field.name, value));
      pq.bench.sweep(this.sweepFigure, { steps: this.rows, field, ...this.reach, value: field.value, onchoose: choose });
    }

    redraw() {
      const wide = this.root.clientWidth;
      if (wide === this.wide) return;
      this.wide = wide;
      if (this.banded) pq.bench.bands(this.bands, this.banded);
      if (this.rows) this.drawSweep();
    }

    async copy() {
      try {
        await navigator.clipboard.writeText(this.code.textContent);
        this.copied.textContent = "Copied.";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(this.code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        this.copied.textContent = "Selected: press Ctrl-C.";
      }
    }

    close() {
      this.aborter?.abort();
      this.stopSweep();
      clearTimeout(this.timer);
      this.observer.disconnect();
      this.waves?.destroy();
    }
  }

  pq.app.register("events", {
    title: "Events",
    open(holder, route) { bench = new Bench(holder, route.query); },
    update(route) {
      bench.read(route.query);
      bench.changed();
    },
    close() { bench.close(); bench = null; },
    message(message) { if (message.about === "again") bench.changed(); },
  });
})();
