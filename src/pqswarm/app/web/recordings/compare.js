// Two recordings on one time axis: one fault seen from two stations. Clocks may differ: the second can be shifted.
"use strict";
(() => {
  const pq = window.pq;
  const { concerned, typeTitle, magnitudeText, mainEvent } = pq.recordings;

  pq.ComparePage = class {
    constructor(holder, id, route) {
      Object.assign(this, { holder, ids: [id, route.query.get("with")], end: new AbortController() });
      this.key = `${id} ${this.ids[1]}`;
      this.shift = Number.parseFloat(route.query.get("shift")) || 0;
      this.open(route).catch((error) => error.name !== "AbortError" && pq.app.fail(error, holder));
    }

    destroy() {
      this.end.abort();
      clearTimeout(this.linking);
      this.waves?.destroy();
      this.readings?.forEach((one) => one.destroy());
    }

    api(i, path, options = {}) {
      return pq.app.api(`/api/recordings/${this.ids[i]}${path}`, { signal: this.end.signal, ...options });
    }

    async open(route) {
      this.headers = await Promise.all([0, 1].map((i) => this.api(i, "")));
      const [analyses, stations] = [await Promise.all([0, 1].map((i) => this.api(i, "/analysis"))), this.headers.map((one) => one.station || one.name)];
      const names = stations[0] === stations[1] ? this.headers.map((one) => one.name) : stations;
      const starts = this.headers.map((one) => (one.start ? Date.parse(`${one.start.slice(0, 23)}Z`) / 1000 + Number(`0.000${(one.start.split(".")[1] ?? "").slice(3)}`) : NaN));
      this.apart = Number.isFinite(starts[1] - starts[0]) ? starts[1] - starts[0] : 0;
      const [first, second] = this.headers;
      if (Math.abs(this.apart) > 3600) throw new Error(`These recordings are ${pq.seconds(Math.abs(this.apart))} apart: choose two of one time.`);
      document.title = `${names.join(" and ")} · pqswarm`;
      this.stage = pq.el("section", { class: "stage", "aria-label": "Waveforms" });
      this.instruments = [0, 1].map((i) => pq.el("section", { class: "instruments", "aria-label": `At the cursors, ${names[i]}` }));
      this.shifted = pq.el("input", { type: "number", step: "any", value: 1000 * this.shift, "aria-label": `Shift of ${names[1]} in milliseconds`, on: { change: () => this.setShift(Number(this.shifted.value) / 1000) } });
      this.tools = pq.el("div", { class: "tools", role: "group", "aria-label": "Export" }, pq.savers("two-recordings", (file) => pq.saveSvgs(file, this.waves.stage, this.waves.stage.querySelectorAll(":scope > svg, .waves-panel > svg, .swatch-line"), this.waves.stage.querySelectorAll(".waves-fold, .waves-channel"))));
      const clock = Number.isFinite(starts[1] - starts[0]) ? `The second starts ${pq.seconds(Math.abs(this.apart))} ${this.apart < 0 ? "before" : "after"} the first, by their clocks.` : "One has no clock: both start at 0.";
      this.holder.append(pq.el("div", { class: "recording compare" },
        pq.el("div", { class: "title" }, pq.el("div", { class: "row" }, pq.el("a", { class: "back", href: pq.app.link("recordings", this.ids[0]) }, `← ${names[0]}`), pq.el("h1", { tabindex: "-1" }, names.join(" and "))),
          pq.el("div", { class: "row" }, pq.el("p", { class: "soft facts" }, clock), pq.el("label", { class: "soft" }, `Shift of ${names[1]} [ms] `, this.shifted),
            pq.el("button", { title: "Put A on a point of the first recording and B on the same point of the second", on: { click: () => this.align() } }, "Align B to A"),
            pq.el("button", { title: "Shift the second recording so that the main events start together", on: { click: () => this.alignEvents() } }, "Align the events"), this.tools)),
        this.stage, ...this.instruments));
      this.offsets();
      const rate = Math.max(first.sampling_rate, second.sampling_rate);
      const seconds = Math.max(...this.headers.map((one, i) => this.starts[i] + one.seconds));
      const channels = this.headers.flatMap((one, i) => one.channels.map((channel, index) => ({ ...channel, index, source: i, plain: channel.name, name: `${names[i]} ${channel.name}` })));
      const early = this.starts[0] <= this.starts[1] ? first : second;
      const header = { name: names.join(" and "), start: first.start && second.start ? early.start : null, seconds, n_samples: Math.ceil(seconds * rate), sampling_rate: rate,
        nominal_frequency: first.nominal_frequency, channels, status: [], sources: 2 };
      const given = (name) => Number.parseFloat(route.query.get(name));
      const [t, span] = [given("t"), given("span")];
      const wanted = analyses.flatMap((one, i) => (mainEvent(one) ? concerned(mainEvent(one), one, this.headers[i].channels) : []).map((name) => `${names[i]} ${name}`));
      this.waves = new pq.Waves(this.stage, header, (...asked) => this.view(...asked), { wanted, range: span > 0 ? [t - span / 2, t + span / 2] : this.around(analyses), cursors: Number.isFinite(given("a")) ? { A: given("a"), B: given("b") } : this.mains(analyses),
        onchange: ({ cursors }) => { this.readings.forEach((one) => one.show(cursors)); this.write(); }, ongroups: () => this.readings.forEach((one) => one.show(this.waves.cursors)) });
      if (analyses[0].thresholds) this.waves.setThresholds(analyses[0].thresholds);
      this.analyses = analyses;
      this.names = names;
      this.markEvents();
      this.readings = [0, 1].map((i) => new pq.CursorReadings(this.instruments[i], this.ids[i], this.waves, { source: i, offset: () => this.starts[i], seconds: this.headers[i].seconds, title: names[i] }));
      this.readings.forEach((one) => one.show(this.waves.cursors));
    }

    // Where each recording starts on the common axis [s].
    offsets() {
      const second = this.apart + this.shift;
      this.starts = [Math.max(0, -second), Math.max(0, second)];
    }

    // The cursors on the main events: A on that of the first recording, B on that of the second.
    mains(analyses) {
      const starts = analyses.map((one, i) => (mainEvent(one)?.start ?? NaN) + this.starts[i]);
      return starts.every(Number.isFinite) ? { A: starts[0], B: starts[1] } : undefined;
    }

    // The events of both with a margin.
    around(analyses) {
      const found = analyses.flatMap((one, i) => one.events.map((event) => [event.start + this.starts[i], event.end + this.starts[i]]));
      if (!found.length) return undefined;
      const [from, to] = [Math.min(...found.map(([start]) => start)), Math.max(...found.map(([, end]) => end))];
      const lead = Math.max(0.06, 0.2 * (to - from));
      return [from - lead, to + lead];
    }

    markEvents() {
      this.waves.setEvents(this.analyses.flatMap((one, i) => one.events.map((event) => ({ start: event.start + this.starts[i], end: event.end + this.starts[i], type: event.type, index: `${i}:${event.event}`,
        channels: event.parts.map((part) => `${this.names[i]} ${part.channel}`), title: [this.names[i], typeTitle(event), event.phases.replaceAll(" ", ""), magnitudeText(event)].filter(Boolean).join(" ") }))));
    }

    // The views of both, as one; where a recording has nothing, its part is empty.
    async view(from, to, points, signal) {
      const parts = await Promise.all([0, 1].map(async (i) => {
        const [start, end] = [Math.max(from - this.starts[i], 0), Math.min(to - this.starts[i], this.headers[i].seconds)];
        if (start >= end) return { from, to, step: 1, exact: true, fraction: 1, channels: [], urms: null };
        const channels = this.waves?.wantedChannels(i);
        const found = await this.api(i, `/view?${new URLSearchParams({ from: start, to: end, points, ...(channels ? { channels } : {}) })}`, { signal });
        const moved = (part) => part && { ...part, from: part.from + this.starts[i], to: part.to + this.starts[i] };
        return { ...moved(found), urms: moved(found.urms) };
      }));
      const steps = parts.filter((part) => part.channels.length).map((part) => part.step);
      return { from, to, step: Math.max(...steps, 1e-9), exact: parts.every((part) => part.exact), fraction: Math.min(...parts.map((part) => part.fraction)), parts };
    }

    align() {
      this.setShift(this.shift + this.waves.cursors.A - this.waves.cursors.B);
    }

    alignEvents() {
      const { A, B } = this.mains(this.analyses) ?? {};
      if (Number.isFinite(A - B)) this.setShift(this.shift + A - B, true);
    }

    setShift(seconds, fresh = false) {
      this.shift = Number.isFinite(seconds) ? Number(seconds.toFixed(6)) : 0;
      clearTimeout(this.linking);
      if (fresh) pq.app.go("recordings", this.ids[0], { with: this.ids[1], shift: this.shift || null }, { replace: true });
      else this.save();
      pq.recordings.reopen();
    }

    write() {
      clearTimeout(this.linking);
      this.linking = setTimeout(() => this.save(), 250);
    }

    save() {
      const now = pq.app.parse();
      if (now.path !== this.ids[0] || now.query.get("with") !== this.ids[1]) return;
      const [from, to] = this.waves.range;
      const round = (x) => Number(x.toFixed(9));
      pq.app.go("recordings", this.ids[0], { with: this.ids[1], shift: this.shift || null, t: round((from + to) / 2), span: round(to - from), a: round(this.waves.cursors.A), b: round(this.waves.cursors.B) }, { replace: true });
    }

    apply() {}
    changed() {}
    message(message) {
      const isOurs = this.ids.some((id) => id.split("-")[0] === message.id?.split("-")[0]);
      const isNew = message.state === "analyzed" && this.analyses?.some((one) => one.state !== "analyzed");
      if (message.state === "again" || (isOurs && isNew)) pq.recordings.reopen();
      else if (isOurs && message.urms) this.waves?.refresh();
    }
  };
})();
