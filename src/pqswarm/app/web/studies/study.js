// One study: its progress, and its report in a frame, which is rendered again when runs have finished.
"use strict";
(() => {
  const pq = window.pq;
  const { app } = pq;
  const CALM = 3; // seconds between two reports, at least
  const PAUSE = 3; // and this many times as long as rendering took

  pq.StudyView = class {
    constructor(holder, id, query) {
      Object.assign(this, { id, query, last: null, asking: false, next: 0, shown: null, version: null, frame: null, place: null, gone: new AbortController() });
      this.head = pq.el("h1", {}, "…");
      this.title = pq.el("p", { class: "soft" });
      this.problem = pq.el("div");
      this.progress = pq.el("section", { class: "card progress", "aria-label": "Progress" });
      this.other = pq.el("select", { on: { change: () => app.go("studies", this.id, { with: this.other.value }) } });
      this.link = pq.el("a", { class: "button", target: "_blank", rel: "noopener" }, "Open report in a new tab");
      this.actions = pq.el("div", { class: "row actions", hidden: true }, this.link, pq.el("label", {}, "Compare with ", this.other));
      this.note = pq.el("p", { class: "soft", role: "status" });
      this.report = pq.el("section", { class: "report", "aria-label": "Report" });
      this.element = pq.el("div", { class: "study" }, pq.el("p", {}, pq.el("a", { href: app.link("studies") }, "← All studies")),
        this.head, this.title, this.problem, this.progress, this.actions, this.note, this.report);
      holder.append(this.element);
      window.addEventListener("message", (event) => {
        if (this.frame && event.source === this.frame.contentWindow) this.place = event.data;
      }, { signal: this.gone.signal });
    }

    close() {
      this.gone.abort();
      clearTimeout(this.timer);
      this.element.remove();
    }

    fail(error) {
      if (!this.gone.signal.aborted) app.fail(error, this.problem);
    }

    reload() {
      this.shown = null;
      this.refresh();
    }

    update(query) {
      this.query = query;
      this.place = null;
      this.next = 0;
      this.refresh();
    }

    // The latest state from the server.
    row(row) {
      this.last = row;
      this.head.textContent = row.name;
      this.title.textContent = row.title;
      this.progress.hidden = Boolean(row.error);
      if (row.error) {
        this.fail(new Error(row.error));
        return;
      }
      const { percent, minutes, count, state } = pq.studies;
      const facts = [
        ["runs", row.runs_total === null ? "" : `${row.runs_done} of ${row.runs_total} runs`],
        ["evaluations", row.evaluations_total === null ? "" : `${count(row.evaluations_done)} of ${count(row.evaluations_total)} evaluations`],
        ["rate", row.rate === null ? "" : `${count(row.rate)} evaluations/s`],
        ["left", row.seconds_left === null ? "" : `about ${minutes(row.seconds_left)} left`],
        ["stage", row.state === "running" ? `current stage: ${row.stage}` : ""],
      ].filter(([, text]) => text);
      const done = (stage) => (stage.done >= stage.total ? "done" : stage.done ? "begun" : "");
      this.progress.replaceChildren(
        pq.el("div", { class: "row" }, state(row), pq.el("progress", { max: 1, value: row.fraction ?? 0, "data-read": "fraction", "aria-label": "Progress" }),
          pq.el("strong", {}, row.fraction === null ? "" : `${Math.floor(100 * row.fraction)} %`)),
        pq.el("div", { class: "row facts soft" }, facts.map(([name, text]) => pq.el("span", { "data-read": name }, text))),
        pq.el("div", { class: "row bests" }, row.best.map((best) => pq.el("span", { class: "best", "data-read": "best", "data-classifier": best.classifier },
          pq.el("span", { class: "soft" }, `${best.classifier}: `), pq.el("strong", {}, percent(best.error)), best.size === null ? "" : ` with ${best.size} features`))),
        pq.el("ol", { class: "stages" }, row.stages.map((stage) => pq.el("li", { class: done(stage) }, `${stage.name} `, pq.el("small", {}, `${stage.done}/${stage.total}`)))));
      this.refresh();
    }

    get address() {
      const second = this.query.get("with");
      return `/api/studies/${this.id}/report${second ? `?with=${encodeURIComponent(second)}` : ""}`;
    }

    // What the report must show: it is asked for again when this changes, but not more often than rendering allows.
    get wanted() {
      return [this.address, this.last.state, ...this.last.stages.map((stage) => stage.done)].join(" ");
    }

    refresh() {
      if (!this.last || this.last.error) return;
      this.offer();
      clearTimeout(this.timer);
      if (this.asking || this.wanted === this.shown) return;
      this.timer = setTimeout(() => this.load(), Math.max(0, this.next - Date.now()));
    }

    offer() {
      const others = [...pq.studies.rows.values()].filter((row) => row.id !== this.id && !row.error);
      this.other.parentElement.hidden = !others.length;
      this.other.replaceChildren(pq.el("option", { value: "" }, "…"), ...others.map((row) => pq.el("option", { value: row.id }, row.name)));
      this.other.value = this.query.get("with") || "";
      this.link.href = this.address;
    }

    async load() {
      const { address, wanted } = this;
      this.asking = true;
      if (!this.frame) this.note.textContent = "Rendering the report …";
      let seconds = 0;
      try {
        const report = await app.api(address, { method: "POST", json: {}, signal: this.gone.signal });
        this.shown = report.reason || report.latest ? wanted : null;
        seconds = report.seconds ?? 0;
        const version = `${address} ${report.version}`;
        if (report.reason) this.note.textContent = `No report yet: ${report.reason}`;
        else if (version !== this.version) await this.show(address, version);
        this.problem.replaceChildren();
      } catch (error) {
        this.shown = wanted;
        this.note.textContent = "";
        this.fail(error);
      }
      this.next = Date.now() + 1000 * Math.max(CALM, PAUSE * seconds);
      this.asking = false;
      this.refresh();
    }

    // The new report takes the place of the old one when it is complete, where the reader was.
    async show(address, version) {
      const frame = pq.el("iframe", { title: "Report", sandbox: "allow-scripts allow-downloads", src: await app.withTicket(address), class: "coming" });
      await new Promise((loaded) => {
        frame.addEventListener("load", loaded, { once: true });
        this.report.append(frame);
      });
      if (this.place) frame.contentWindow.postMessage(this.place, "*");
      this.frame?.remove();
      frame.classList.remove("coming");
      this.frame = frame;
      this.version = version;
      this.note.textContent = "";
      this.actions.hidden = false;
    }
  };
})();
