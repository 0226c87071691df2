// The verdict on an event, and the form to correct it.
"use strict";
(() => {
  const pq = window.pq;
  const { className, swatch } = pq.recordings;
  const NAME = "pqswarm-name";
  const kept = () => {
    try {
      return localStorage.getItem(NAME) ?? "";
    } catch {
      return "";
    }
  };
  const keep = (name) => {
    try {
      localStorage.setItem(NAME, name);
    } catch { /* storage is disabled */ }
  };
  const when = (iso) => String(iso ?? "").replace("T", " ").slice(0, 16);

  pq.VerdictCard = class {
    constructor(holder, page) {
      Object.assign(this, { holder, page });
      this.end = new AbortController();
    }

    destroy() {
      this.end.abort();
    }

    show(event, analysis) {
      if (!event) {
        this.event = null;
        this.holder.replaceChildren(pq.el("p", { class: "hint soft" }, "Choose an event: click its row or its bar above the waveforms, or press N in the waveforms."), ...this.caveats(analysis));
        return;
      }
      const same = this.event?.index === event.index;
      const open = same && this.form?.isConnected && this.form.open;
      this.event = event;
      this.analysis = analysis;
      const fact = (title, read, ...content) => pq.el("div", {}, pq.el("dt", {}, title), pq.el("dd", { "data-read": read }, content));
      const ranked = Object.entries(event.probabilities ?? {});
      const shown = event.class === "unknown" ? "unknown: unlike any event the model was trained on" : className(event.class) || "not applied";
      this.holder.replaceChildren(...[
        pq.el("h2", { class: "sentence" }, swatch(event.kind), event.sentence),
        ...this.incident(event, analysis),
        pq.el("dl", { class: "facts" },
          fact(event.agreement === "measured" ? "Class" : "Model", "class", shown, Number.isFinite(event.probability) ? `, ${pq.percent(event.probability, 0)}` : "",
            ranked[1] ? pq.el("span", { class: "soft", "data-read": "runner-up" }, ` (then ${className(ranked[1][0])}, ${pq.percent(ranked[1][1], 0)})`) : ""),
          fact("Rules", "rule", className(event.rule_class) || "–"),
          fact("Agreement", "agreement", pq.el("span", { class: /^agree/.test(event.agreement) ? "agree" : /^disagree/.test(event.agreement) ? "disagree" : "" }, event.agreement))),
        ...this.caveats(analysis),
        this.correction(event),
      ].filter(Boolean));
      if (open && this.form) this.form.open = true;
    }

    // The cause of the incident, its evidence and its stages.
    incident(event, analysis) {
      const found = analysis?.incidents?.find((one) => one.events.includes(event.index));
      if (!found?.stages.length) return [];
      const sure = found.cause === "unknown" ? "" : `, ${pq.percent(found.probability, 0)}`;
      const levels = (stage) => Object.entries(stage.levels).map(([name, value]) => `${name} ${pq.fixed(value, 2)}`).join(", ");
      return [pq.el("p", { class: "cause", "data-read": "cause" }, pq.el("strong", {}, found.title), sure),
        pq.el("ul", { class: "evidence", "data-read": "evidence" }, found.evidence.map((text) => pq.el("li", {}, text))),
        pq.el("details", { class: "note" }, pq.el("summary", {}, `${found.stages.length} ${found.stages.length === 1 ? "stage" : "stages"}`),
          pq.el("ol", { "data-read": "stages" }, found.stages.map((stage) => pq.el("li", {}, `${pq.fixed(stage.start, 3)} to ${pq.fixed(stage.end, 3)} s: ${stage.name} (${levels(stage)} pu)`))))];
    }

    caveats(analysis) {
      const said = analysis?.caveats ?? [];
      if (!said.length) return [];
      return [pq.el("details", { class: "note" }, pq.el("summary", {}, `${said.length} ${said.length === 1 ? "caveat" : "caveats"}`), pq.el("ul", {}, said.map((text) => pq.el("li", {}, text))))];
    }

    correction(event) {
      if (!event.possible?.length) return null;
      const current = event.correction;
      const box = pq.el("div", { class: "correction" });
      if (current?.label) {
        box.append(pq.el("p", { class: "corrected", "data-read": "correction" }, "Corrected to ", pq.el("strong", {}, className(current.label)), ` by ${current.by}, ${when(current.at)}`, current.note ? `: ${current.note}` : ".", " "),
          pq.el("button", { class: "small", "data-act": "withdraw", on: { click: () => this.send("", current.by, "") } }, "Withdraw"));
      }
      const label = pq.el("select", { required: true, name: "label" }, pq.el("option", { value: "" }, "choose a class"), event.possible.map((one) => pq.el("option", { value: one, selected: one === current?.label }, className(one))));
      const by = pq.el("input", { name: "by", required: true, maxlength: 80, autocomplete: "name", value: kept() });
      const note = pq.el("input", { name: "note", maxlength: 500, placeholder: "why (optional)" });
      const form = pq.el("form", { on: { submit: (submitted) => { submitted.preventDefault(); keep(by.value.trim()); this.send(label.value, by.value.trim(), note.value.trim()); } } },
        pq.el("label", {}, "Class ", label), pq.el("label", {}, "Your name ", by), pq.el("label", {}, "Note ", note), pq.el("button", { type: "submit" }, "Save"));
      this.form = pq.el("details", { class: "correct" }, pq.el("summary", {}, "Correct this verdict"), form,
        pq.el("p", { class: "note" }, "Corrections are saved in the archive; recordings are never changed. pqswarm train --archive trains a model with them."));
      this.fault = pq.el("p", { class: "error", role: "alert", hidden: true });
      box.append(this.form, this.fault);
      return box;
    }

    async send(label, by, note) {
      const { event, analysis } = this;
      try {
        const { correction } = await pq.app.api("/api/corrections", { method: "POST", json: { recording: this.page.id, event: event.index, label, by, note }, signal: this.end.signal });
        this.form.open = false;
        this.page.message({ about: "recordings", id: this.page.id, state: "corrected", event: event.index, correction });
        if (this.event !== event) return;
        this.show(event, analysis);
        this.holder.querySelector(correction ? '[data-act="withdraw"]' : "summary")?.focus();
      } catch (error) {
        if (error.name === "AbortError") return;
        this.fault.hidden = false;
        this.fault.textContent = error.message;
      }
    }
  };
})();
