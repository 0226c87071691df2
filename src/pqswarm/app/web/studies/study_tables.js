// Texts and tables of the report of a study, or of two studies compared.
"use strict";
(() => {
  const pq = window.pq;
  const { app } = pq;

  const showTable = (holder, given, name) => {
    const columns = given.columns.map((column, i) => ({
      key: column.key, title: column.title, number: column.number,
      value: (row) => row[i][1] ?? (row[i][0] === "–" ? null : row[i][0]),
      text: (row) => row[i][0],
      show: (row) => pq.el("span", { class: row[i][2] }, row[i][0]),
    }));
    const rows = given.rows.map((row, i) => Object.assign([...row], { id: i }));
    const table = new pq.Table(holder, { caption: given.caption, columns, rows, note: given.note });
    table.element.dataset.name = given.name;
    table.tools.append(pq.el("button", { on: { click: () => pq.saveText(`${name}-${pq.fileName(given.name)}.csv`, given.csv, "text/csv") } }, "CSV"));
  };

  const showPart = (holder, part, name) => {
    if (part.heading) holder.append(pq.el("h3", {}, part.heading));
    for (const words of part.words) holder.append(pq.el("p", { class: "words" }, words));
    if (part.points.length) holder.append(pq.el("ul", {}, part.points.map((one) => pq.el("li", {}, one))));
    for (const table of part.tables) showTable(holder, table, name);
  };

  pq.StudyTables = class {
    constructor(holder, view) {
      Object.assign(this, { holder, view, found: null, asked: false, second: null });
      this.button = pq.el("button", { on: { click: () => this.load() } }, "Compute tables");
      this.report = pq.el("a", { class: "button", href: `/api/studies/${view.id}/report`, target: "_blank", rel: "noopener" }, "Open report");
      this.other = pq.el("select", { "aria-label": "Compare with another study", on: { change: () => view.go({ with: this.other.value || null }) } });
      this.body = pq.el("div");
      this.comparison = pq.el("section", { class: "comparison", "aria-label": "Comparison" });
      holder.append(pq.el("div", { class: "row actions" }, pq.el("h2", {}, "Tables"), this.button, this.report, pq.el("label", {}, "Compare with ", this.other)), this.comparison, this.body);
    }

    // While a study runs, tables are computed on demand only.
    state(row) {
      const first = !this.row;
      const ended = this.row?.state === "running" && row.state === "finished";
      this.row = row;
      this.button.textContent = this.asked ? "Recompute tables" : "Compute tables";
      this.button.hidden = row.state === "finished" && this.asked;
      const can = row.runs_done > 0;
      this.report.hidden = !can;
      if ((first || ended) && row.state === "finished") this.load();
      this.offer();
    }

    offer() {
      const others = [...pq.studies.rows.values()].filter((row) => row.id !== this.view.id && !row.error);
      const wanted = this.view.query.get("with") || "";
      this.other.parentElement.hidden = !others.length;
      const text = others.map((row) => row.id + row.name).join();
      if (this.offered !== text) {
        this.offered = text;
        this.other.replaceChildren(pq.el("option", { value: "" }, "…"), ...others.map((row) => pq.el("option", { value: row.id }, row.name)));
      }
      this.other.value = wanted;
    }

    update() {
      this.draw();
      this.offer();
      const second = this.view.query.get("with");
      if (second !== this.second) this.compare(second);
    }

    async load() {
      this.asked = true;
      this.button.disabled = true;
      const wait = pq.el("p", { class: "soft", role: "status" }, "Computing tables …");
      this.body.prepend(wait);
      try {
        this.found = await this.view.api("/tables");
        this.body.querySelector(".error")?.remove();
        this.draw();
      } catch (error) {
        this.view.fail(error, this.body);
      }
      wait.remove();
      this.button.disabled = false;
      if (this.row) this.state(this.row);
    }

    draw() {
      if (!this.found || !this.view.about) return;
      const { classifier } = this.view;
      if (this.drawn?.[0] === this.found && this.drawn[1] === classifier) return;
      this.drawn = [this.found, classifier];
      const name = pq.fileName(this.view.head.textContent);
      this.body.replaceChildren(pq.el("p", { class: "words soft" }, this.found.description));
      for (const chapter of this.found.chapters.filter((one) => one.name === classifier)) {
        for (const words of chapter.answer) this.body.append(pq.el("p", { class: "words" }, words));
        for (const part of chapter.parts) showPart(this.body, part, name);
      }
      for (const part of this.found.parts) showPart(this.body, part, name);
    }

    async compare(second) {
      this.second = second;
      this.comparison.replaceChildren();
      if (!second) return;
      const wait = pq.el("p", { class: "soft", role: "status" }, "Comparing studies …");
      this.comparison.append(wait);
      try {
        const query = `?with=${encodeURIComponent(second)}`;
        const found = await this.view.api(`/tables${query}`);
        if (this.second !== second) return;
        const name = pq.fileName(found.title);
        this.comparison.append(pq.el("div", { class: "row" }, pq.el("h2", {}, found.title), pq.el("a", { class: "button", href: `/api/studies/${this.view.id}/report${query}`, target: "_blank", rel: "noopener" }, "Open comparison report")));
        showPart(this.comparison, found.opening, name);
        for (const part of found.parts) showPart(this.comparison, part, name);
      } catch (error) {
        if (this.second === second) this.view.fail(error, this.comparison);
      }
      wait.remove();
    }
  };
})();
