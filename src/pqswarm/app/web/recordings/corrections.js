// The result of an event in brief and in full, the form to correct its class or cause, and the log of all corrections.
"use strict";
(() => {
  const pq = window.pq;
  const { classOf, className, durationText, typeTitle, moment, swatch, store } = pq.recordings;
  const label = (text) => className(text) || "withdrawn";

  pq.VerdictCard = class {
    // brief: what happened and why, above the waveforms; holder: the rest, below them.
    constructor(brief, holder, page) {
      Object.assign(this, { brief, holder, page });
      this.end = new AbortController();
    }

    destroy() {
      this.end.abort();
    }

    show(event, analysis) {
      this.brief.hidden = !analysis?.events.length;
      if (!event) {
        this.event = null;
        this.brief.replaceChildren(pq.el("p", { class: "hint soft" }, "Choose an event: click its row or its bar above the waveforms, or press N in the waveforms."));
        this.holder.replaceChildren(...this.caveats(analysis));
        return;
      }
      const same = this.event?.event === event.event;
      const open = same && this.form?.isConnected && this.form.open;
      this.event = event;
      this.analysis = analysis;
      const fact = (title, read, ...content) => pq.el("div", {}, pq.el("dt", {}, title), pq.el("dd", { "data-read": read }, content));
      const incident = analysis?.incidents?.find((one) => one.events.includes(event.event));
      this.writeBrief(event, incident);
      this.holder.replaceChildren(...[
        ...this.evidence(incident).filter(Boolean),
        pq.el("dl", { class: "facts" }, ...this.measured(event, fact), fact("Class", "class", classOf(event))),
        this.otherClass(event),
        ...this.caveats(analysis),
        this.correction(event, incident),
      ].filter(Boolean));
      if (open && this.form) this.form.open = true;
    }

    // The numbers of a sag, swell or interruption: each phase in pu and volts, 1 pu, the type, both durations with their names.
    measured(event, fact) {
      const isLevel = ["sag", "swell", "interruption"].includes(event.type);
      const span = (event.end ?? event.start) - event.start;
      return [
        event.unit === "pu" ? fact("1 pu", "reference", `${pq.si(event.reference_volts, "V")} (${event.reference_source})`) : null,
        isLevel && event.parts.length > 1 ? fact("Phases", "parts", event.parts.map((part) => `${part.phase || part.channel} ${pq.fixed(part.magnitude, 2)} pu, ${pq.seconds(part.duration)}`).join("; ")) : null,
        isLevel ? fact("Duration", "durations", `${durationText(event)} by Urms(1/2) (IEC 61000-4-30), ${pq.seconds(span)} on the waveform`) : null,
        event.sag_type ? fact("Sag type", "sag-type", event.sag_type) : null,
        event.also?.length ? fact("Also on", "also", event.also.join(", ")) : null,
      ].filter(Boolean);
    }

    // What happened, and why: the cause found with its first evidence, or the one by hand with what was found.
    writeBrief(event, incident) {
      const why = incident?.correction || (incident?.evidence ?? []).slice(0, 2).join("; ");
      const hasCause = incident?.stages.length || incident?.by_hand;
      this.brief.replaceChildren(...[
        pq.el("h2", { class: "sentence" }, swatch(event.type), event.title, event.hidden ? pq.el("span", { class: "corrected" }, " ✎ not an event") : ""),
        hasCause ? pq.el("p", { class: "cause" }, pq.el("strong", { "data-read": "cause", class: incident.by_hand ? "corrected" : null }, incident.verdict), why ? pq.el("span", { class: "soft" }, `: ${why}`) : "") : null,
      ].filter(Boolean));
    }

    // The evidence for the cause, and the stages.
    evidence(incident) {
      if (!incident?.stages.length) return [];
      const levels = (stage) => Object.entries(stage.levels).map(([name, value]) => `${name} ${pq.fixed(value, 2)}`).join(", ");
      const timeline = incident.timeline ?? [];
      const cleared = Number.isFinite(incident.clearing_s) ? `Timeline: cleared in ${pq.seconds(incident.clearing_s)}` : "Timeline";
      return [pq.el("ul", { class: "evidence", "data-read": "evidence" }, incident.evidence.map((text) => pq.el("li", {}, text))),
        timeline.length ? pq.el("details", { class: "note", open: true }, pq.el("summary", {}, cleared),
          pq.el("table", { "data-read": "timeline" }, timeline.map((one) => pq.el("tr", {}, pq.el("td", { class: "number" }, `${pq.fixed(one.time, 4)} s`), pq.el("td", {}, one.what), pq.el("td", { class: "soft" }, one.source))))) : null,
        pq.el("details", { class: "note" }, pq.el("summary", {}, `${incident.stages.length} ${incident.stages.length === 1 ? "stage" : "stages"}`),
          pq.el("ol", { "data-read": "stages" }, incident.stages.map((stage) => pq.el("li", {}, `${pq.fixed(stage.start, 3)} to ${pq.fixed(stage.end, 3)} s: ${stage.name} (${levels(stage)} pu)`))))];
    }

    // On request: what the rules and the model say, and how they compare.
    otherClass(event) {
      const ranked = Object.entries(event.probabilities ?? {}).slice(0, 2).map(([name, share]) => `${className(name)} ${pq.percent(share, 0)}`);
      const lines = [`By the rules: ${className(event.rule_label) || "–"}.`, ranked.length ? `By the model: ${[event.model_label ? className(event.model_label) : "", ...ranked].filter(Boolean)[0]}; settled: ${ranked.join(", then ")}; ${event.agreement}.` : "The model was not asked."];
      return pq.el("details", { class: "note other-class" }, pq.el("summary", {}, "How the class was found"), lines.map((text) => pq.el("p", { "data-read": "rule" }, text)));
    }

    caveats(analysis) {
      const said = analysis?.caveats ?? [];
      if (!said.length) return [];
      return [pq.el("details", { class: "note" }, pq.el("summary", {}, `${said.length} ${said.length === 1 ? "caveat" : "caveats"}`), pq.el("ul", {}, said.map((text) => pq.el("li", {}, text))))];
    }

    // What was said by hand, and the form to say it: class ("not an event" included) and cause.
    correction(event, incident) {
      const box = pq.el("div", { class: "correction" });
      const now = { class: event.by_hand, cause: incident?.by_hand ?? "" };
      const signed = { class: event.class_correction, cause: incident?.correction };
      for (const [what, current] of Object.entries(now)) {
        if (!current) continue;
        box.append(pq.el("p", { class: "corrected", "data-read": what === "class" ? "correction" : "cause-by-hand" }, what === "class" ? "Class: " : "Cause: ", pq.el("strong", {}, label(current)), `, ${signed[what]} `),
          pq.el("button", { class: "small", "data-act": what === "class" ? "withdraw" : "withdraw-cause", on: { click: () => this.withdraw(what) } }, what === "class" ? "Withdraw" : "Withdraw the cause"));
      }
      const option = (value, text) => pq.el("option", { value, selected: Boolean(value) && value === now.class }, text);
      const labels = pq.el("select", { name: "label" }, pq.el("option", { value: "" }, "as it is"), option(store.not_an_event, store.not_an_event), Object.entries(store.classes).map(([one, title]) => option(one, title)));
      const cause = pq.el("input", { name: "cause", maxlength: 100, list: "causes", placeholder: "as found", value: now.cause });
      const by = (this.by = pq.el("input", { name: "by", required: true, maxlength: 80, autocomplete: "name", value: pq.recordings.name }));
      const note = pq.el("input", { name: "note", maxlength: 500, placeholder: "why (optional)" });
      const submit = (submitted) => {
        submitted.preventDefault();
        pq.recordings.name = by.value.trim();
        const changed = [["class", labels.value], ["cause", cause.value.trim()]].filter(([what, text]) => text !== now[what]);
        if (changed.length) this.send(changed, by.value.trim(), note.value.trim());
        else this.fail(new Error("Choose a class or a cause."));
      };
      const form = pq.el("form", { on: { submit } }, pq.el("label", {}, "Class ", labels), pq.el("label", {}, "Cause ", cause), pq.el("datalist", { id: "causes" }, store.causes.map((one) => pq.el("option", { value: one }))),
        pq.el("label", {}, "Your name ", by), pq.el("label", {}, "Note ", note), pq.el("button", { type: "submit" }, "Save"));
      this.form = pq.el("details", { class: "correct" }, pq.el("summary", {}, "Correct this result"), form,
        pq.el("p", { class: "note" }, "Corrections are stored in the archive, with name and time (", pq.el("a", { href: pq.app.link("recordings", "log") }, "all corrections"), "); recordings are never changed. pqswarm train --archive trains a model with them."));
      this.fault = pq.el("p", { class: "error", role: "alert", hidden: true });
      box.append(this.form, this.fault);
      return box;
    }

    fail(error) {
      if (error.name === "AbortError") return;
      this.fault.hidden = false;
      this.fault.textContent = error.message;
    }

    // Whoever withdraws signs, too.
    withdraw(what) {
      const by = this.by.value.trim();
      if (by) {
        this.send([[what, ""]], by, "");
        return;
      }
      this.form.open = true;
      this.by.focus();
      this.fail(new Error("Enter your name, then withdraw."));
    }

    // Send what was said: pairs of "class" or "cause" and the label, empty to withdraw it.
    async send(changed, by, note) {
      const { event } = this;
      try {
        for (const [what, text] of changed) await pq.app.api("/api/corrections", { method: "POST", json: { recording: this.page.id, event: event.event, label: text, by, note, what }, signal: this.end.signal });
        this.form.open = false;
        await this.page.takeAnalysis();
        this.holder.querySelector("[data-act], .correct summary")?.focus();
      } catch (error) {
        this.fail(error);
      }
    }
  };

  // The log: every correction that was made, also those withdrawn.
  pq.CorrectionLog = class {
    constructor(holder) {
      this.end = new AbortController();
      this.holder = pq.el("div", { class: "recordings log" });
      holder.append(this.holder);
      document.title = "Corrections · pqswarm";
      const title = pq.el("h1", { tabindex: "-1" }, "Corrections");
      this.fault = pq.el("div");
      this.holder.append(pq.el("div", { class: "row head" }, title, pq.recordings.rooms("log")), this.fault);
      this.table = new pq.Table(this.holder, { caption: "Log of corrections", rows: [], key: (one) => one.number, limit: 300, empty: "Loading …", onclick: (one) => pq.app.go("recordings", one.recording),
        note: "Newest first. The last entry about an event holds. pqswarm train --archive trains a model with the classes.", columns: [
          { key: "at", title: "When", text: (one) => moment(one.at) },
          { key: "by", title: "By" },
          { key: "path", title: "Recording" },
          { key: "type", title: "Event", show: (one) => [swatch(one.type), `${typeTitle(one)} at ${pq.fixed(one.start, 3)} s`] },
          { key: "what", title: "What" },
          { key: "found", title: "Found", text: (one) => className(one.found) },
          { key: "label", title: "By hand", text: (one) => label(one.label) },
          { key: "note", title: "Note" },
        ] });
      this.table.caption.classList.add("spoken");
      this.load();
      title.focus({ preventScroll: true });
    }

    destroy() {
      this.end.abort();
    }

    apply() {}

    async load() {
      try {
        const { corrections } = await pq.app.api("/api/corrections", { signal: this.end.signal });
        this.table.options.empty = "Nothing was corrected.";
        this.table.update(corrections);
      } catch (error) {
        pq.app.fail(error, this.fault);
      }
    }

    changed() {
      this.table.update(this.table.rows);
    }

    refresh() {
      this.load();
    }
  };
})();
