// Measurements at the two cursors, made by the server: phasors, RMS values, symmetrical components, harmonics.
"use strict";
(() => {
  const pq = window.pq;
  const WAIT = 120; // delay after the last change before the request is sent [ms]
  const NAMES = ["A", "B"];

  pq.CursorReadings = class {
    // waves: the viewer, whose groups of channels are measured; offset: of the recording on its axis [s].
    constructor(holder, id, waves, { source = 0, offset = () => 0, seconds = 0, title = "At the cursors" } = {}) {
      Object.assign(this, { id, holder, waves, source, offset, seconds, moments: [], asked: "", end: new AbortController() });
      this.cycles = pq.el("select", { "aria-label": "Length of the window", on: { change: () => this.ask() } },
        pq.el("option", { value: "1" }, "1 cycle"), pq.el("option", { value: "10" }, "10 cycles"));
      this.cards = NAMES.map((name) => this.card(name));
      this.which = pq.el("select", { "aria-label": "Channels of the spectrum", on: { change: () => this.drawSpectrum() } });
      this.legend = pq.el("div", { class: "legend" });
      this.plot = pq.el("div", { class: "frame" });
      this.fault = pq.el("p", { class: "error", role: "alert", hidden: true });
      const save = pq.savers("spectrum", (name) => this.plot.firstElementChild && pq.saveSvg(name, this.plot.firstElementChild));
      holder.append(
        pq.el("div", { class: "row heading" }, pq.el("h2", {}, title), pq.el("label", { class: "soft" }, "measured over the ", this.cycles, " before each cursor")),
        this.fault, pq.el("div", { class: "columns" }, this.cards.map((card) => card.root)),
        pq.el("figure", { class: "card harmonics" },
          pq.el("div", { class: "row heading" }, pq.el("figcaption", {}, "Harmonics"), this.which, this.legend, pq.el("div", { class: "tools" }, save)), this.plot));
      this.observer = new ResizeObserver(() => {
        if (this.plot.clientWidth !== this.drawn) this.drawSpectrum();
      });
      this.observer.observe(this.plot);
      this.ended = new AbortController();
      window.addEventListener("beforeprint", () => this.drawSpectrum(680), { signal: this.ended.signal });
      window.addEventListener("afterprint", () => this.drawSpectrum(), { signal: this.ended.signal });
    }

    groups() {
      return this.waves.groups.filter((group) => group.on && group.members[0].source === this.source);
    }

    card(name) {
      const parts = { moment: pq.el("span", { class: "soft" }), diagram: pq.el("div", { class: "diagram" }), values: pq.el("tbody"), systems: pq.el("div", { class: "systems" }), note: pq.el("p", { class: "note" }) };
      const head = ["Channel", "RMS", "Fund.", "Angle", "THD"].map((text, i) => pq.el("th", { scope: "col", class: i ? "number" : null, title: text === "Fund." ? "RMS of the fundamental" : null }, text));
      parts.table = pq.el("div", { class: "scroll table", tabindex: "0", role: "region", "aria-label": `Values at cursor ${name}` },
        pq.el("table", {}, pq.el("thead", {}, pq.el("tr", {}, head)), parts.values));
      parts.root = pq.el("article", { class: "card at", "data-cursor": name, "aria-label": `At cursor ${name}` },
        pq.el("h3", {}, pq.el("span", { class: "letter" }, name), parts.moment),
        pq.el("div", { class: "pair" }, parts.diagram, parts.table), parts.systems, parts.note);
      return parts;
    }

    destroy() {
      this.gone = true;
      clearTimeout(this.timer);
      this.end.abort();
      this.ended.abort();
      this.observer.disconnect();
    }

    show(cursors) {
      this.at = { ...cursors };
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(), WAIT);
    }

    async ask() {
      if (!this.at || this.gone) return;
      const chosen = this.waves.wantedChannels(this.source);
      const query = new URLSearchParams({ t: this.at.A - this.offset(), t2: this.at.B - this.offset(), cycles: this.cycles.value, ...(chosen ? { channels: chosen } : {}) }).toString();
      if (query === this.asked) return;
      this.end.abort();
      this.asked = query;
      const end = (this.end = new AbortController());
      try {
        const { moments } = await pq.app.api(`/api/recordings/${this.id}/cursor?${query}`, { signal: end.signal });
        if (end.signal.aborted || this.gone) return;
        this.moments = moments;
        this.fault.hidden = true;
        NAMES.forEach((name, i) => this.draw(name, this.cards[i], moments[i]));
        this.offer();
        this.drawSpectrum();
        this.holder.dataset.asked = query;
      } catch (error) {
        if (error.name === "AbortError" || this.gone) return;
        this.asked = "";
        this.fault.hidden = false;
        this.fault.textContent = error.message;
      }
    }

    draw(name, card, moment) {
      const inside = (t) => t >= 0 && t <= this.seconds;
      if (moment?.error && this.seconds && !inside(moment.moment)) moment = { ...moment, error: "Not recorded at this time." };
      const failed = !moment || moment.error;
      card.moment.textContent = moment ? `${pq.fixed(moment.moment, 5)} s${failed ? "" : ` · ${pq.fixed(moment.frequency, 3)} Hz`}` : "";
      card.diagram.hidden = card.table.hidden = card.systems.hidden = Boolean(failed);
      card.note.textContent = failed ? moment?.error ?? "" : moment.notes.join(" ");
      if (failed) return;
      pq.phasors(card.diagram, moment, this.groups());
      card.values.replaceChildren(...moment.channels.map((one, i) => {
        const cell = (read, text, value) => pq.el("td", { class: "number", "data-read": read, "data-channel": one.name, "data-cursor": name, "data-value": value ?? null }, text);
        const { fundamental, spectrum } = one;
        return pq.el("tr", {}, pq.el("th", { scope: "row" }, pq.el("span", { class: "swatch", style: { background: pq.phaseColor(one.phase, i) } }), one.name),
          cell("rms", pq.si(one.rms ?? NaN, one.unit), one.rms), cell("fundamental", pq.si(fundamental?.rms ?? NaN, one.unit), fundamental?.rms),
          cell("angle", pq.degrees(fundamental?.relative ?? NaN), fundamental?.relative), cell("thd", pq.percent(spectrum?.thd ?? NaN), spectrum?.thd));
      }));
      card.systems.replaceChildren(...moment.systems.map((system) => this.system(system, name)), ...moment.powers.map((power) => this.power(power, name)));
    }

    power(power, name) {
      const item = (key, title, text, value) => pq.el("div", {}, pq.el("dt", {}, title), pq.el("dd", { "data-read": key, "data-cursor": name, "data-value": value ?? null }, text));
      return pq.el("dl", { class: "sequence", "aria-label": `Power of the fundamental, ${power.name}` },
        item("active", "P", pq.si(power.active, "W"), power.active), item("reactive", "Q", pq.si(power.reactive, "var"), power.reactive),
        item("apparent", "S", pq.si(power.apparent, "VA"), power.apparent), item("power-factor", "cos φ", power.power_factor === null ? "–" : pq.fixed(power.power_factor, 3), power.power_factor));
    }

    system(system, name) {
      const letter = system.unit === "A" ? "I" : "U";
      const phasor = (part) => (part ? `${pq.si(part.rms, system.unit)}${part.relative === null ? "" : ` ∠ ${pq.degrees(part.relative)}`}` : "–");
      const item = (key, title, text, value) => pq.el("div", {}, pq.el("dt", {}, title), pq.el("dd", { "data-read": key, "data-cursor": name, "data-value": value ?? null }, text));
      return pq.el("dl", { class: "sequence", "data-system": system.name || letter, "data-unit": system.unit, "aria-label": `Symmetrical components of ${system.channels.join(", ")}` },
        item("positive", `${letter}1`, phasor(system.positive), system.positive.rms), item("negative", `${letter}2`, phasor(system.negative), system.negative.rms),
        item("zero", `${letter}0`, phasor(system.zero), system.zero?.rms),
        item("unbalance", `${letter}2/${letter}1`, pq.percent(system.unbalance ?? NaN, 2), system.unbalance),
        item("zero-unbalance", `${letter}0/${letter}1`, pq.percent(system.zero_unbalance ?? NaN, 2), system.zero_unbalance),
        item("rotation", "rotation", system.rotation, system.rotation));
    }

    // Options of the spectrum: all voltages or currents at one cursor, or one channel at both.
    offer() {
      const channels = this.moments.find((one) => one && !one.error)?.channels ?? [];
      const kinds = [["V", "voltages"], ["A", "currents"]].filter(([unit]) => channels.some((one) => one.unit === unit));
      const choices = [...kinds.flatMap(([unit, words]) => NAMES.map((name) => [`${unit}:${name}`, `${words} at ${name}`])),
        ...channels.map((one, i) => [`channel:${i}`, `${one.name}, A and B`])];
      const kept = this.which.value;
      this.which.replaceChildren(...choices.map(([value, text]) => pq.el("option", { value }, text)));
      if (choices.some(([value]) => value === kept)) this.which.value = kept;
    }

    series() {
      const [kind, which] = this.which.value.split(":");
      const made = (moment, i, name, faint = false) => {
        const one = moment?.channels?.[i];
        if (!one?.spectrum) return null;
        return { name, color: pq.phaseColor(one.phase, i), fractions: one.spectrum.orders, thd: one.spectrum.thd, frequency: moment.frequency, faint };
      };
      if (kind === "channel") return NAMES.map((name, i) => made(this.moments[i], Number(which), name, i === 1)).filter(Boolean);
      const moment = this.moments[NAMES.indexOf(which)];
      // A direct voltage, noise, or the rest of a sum of phases has no harmonics.
      const sizes = new Map((moment?.channels ?? []).map((one) => [one.name, one.fundamental?.rms ?? 0]));
      const largest = (name) => Math.max(...(this.groups().find((group) => group.members.some((one) => (one.plain ?? one.name) === name))?.members ?? []).map((one) => sizes.get(one.plain ?? one.name) ?? 0));
      const alternates = (one) => one.unit === kind && one.fundamental?.rms > 0.1 * Math.max(one.rms, largest(one.name));
      return (moment?.channels ?? []).map((one, i) => (alternates(one) ? made(moment, i, one.name) : null)).filter(Boolean);
    }

    drawSpectrum(width = this.plot.clientWidth) {
      this.drawn = width;
      if (!this.moments.length || !this.drawn) return;
      const series = this.series();
      this.plot.closest("figure").hidden = !series.length;
      pq.spectrum(this.plot, series, { width: Math.max(this.drawn, 280), height: 200 });
      this.legend.replaceChildren(...series.map((one) => pq.el("span", { "data-thd": one.thd }, pq.el("span", { class: "swatch", style: { background: one.color, opacity: one.faint ? 0.45 : 1 } }),
        `${one.name} THD ${pq.percent(one.thd)}`)));
    }
  };
})();
