// One study: progress, convergence, selected features, and single runs.
"use strict";
(() => {
  const pq = window.pq;
  const { app } = pq;
  const CALM = 3000;
  const safe = (name) => name.replace(/[^\w.+-]+/g, "-").slice(0, 60) || "study";
  pq.fileName = safe;

  pq.StudyView = class {
    constructor(holder, id, query) {
      Object.assign(this, { id, query, about: null, last: null, charts: {}, chartsAt: 0, runsShown: -1, gone: new AbortController() });
      this.head = pq.el("h1", {}, "…");
      this.title = pq.el("p", { class: "soft" });
      this.problem = pq.el("div");
      this.progress = pq.el("section", { class: "card progress", "aria-label": "Progress" });
      this.choice = pq.el("div", { class: "row", role: "group", "aria-label": "Classifier" });
      this.pictures = pq.el("div", { class: "columns" });
      this.runCard = pq.el("section", { class: "card run", hidden: true, "aria-label": "Run" });
      this.maps = pq.el("section");
      this.runsHolder = pq.el("details", { class: "runs" }, pq.el("summary", {}, "All finished runs"));
      this.tables = pq.el("section", { class: "tables" });
      this.plan = pq.el("details", {}, pq.el("summary", {}, "Plan"), pq.el("pre", { class: "scroll plan" }));
      this.element = pq.el("div", { class: "study" }, pq.el("p", {}, pq.el("a", { href: app.link("studies") }, "← All studies")),
        this.head, this.title, this.problem, this.progress, this.choice, this.pictures, this.runCard, this.maps, this.runsHolder, this.tables, this.plan);
      this.runsHolder.hidden = this.tables.hidden = this.plan.hidden = true; // until the study is loaded
      holder.append(this.element);
      this.compared = new pq.StudyTables(this.tables, this);
      this.load();
    }

    api(path, options = {}) {
      return app.api(`/api/studies/${this.id}${path}`, { signal: this.gone.signal, ...options });
    }

    fail(error, where = this.problem) {
      if (!this.gone.signal.aborted) app.fail(error, where);
    }

    async load() {
      try {
        this.about = await this.api("");
      } catch (error) {
        if (!this.last) this.head.textContent = "This study cannot be shown";
        this.fail(error);
        return;
      }
      this.problem.replaceChildren();
      this.tables.hidden = this.plan.hidden = false;
      this.title.textContent = this.about.title;
      this.plan.querySelector("pre").textContent = this.about.plan;
      this.colours = new Map(this.about.algorithms.map((one) => [one.title, one]));
      if (this.last) this.row(this.last);
      await this.update(this.query);
    }

    reload() {
      this.runsShown = -1;
      this.load();
    }

    close() {
      this.gone.abort();
      clearTimeout(this.timer);
      pq.hideTip();
      for (const chart of Object.values(this.charts)) chart.destroy();
      this.element.remove();
    }

    // The address holds the classifier, the run and the study to compare with.
    get classifier() {
      const names = this.about?.classifiers || [];
      const asked = this.query.get("classifier") || this.run?.[0];
      return names.includes(asked) ? asked : names[0];
    }

    get dataset() {
      const names = this.about?.datasets || [];
      return names.includes(this.query.get("dataset")) ? this.query.get("dataset") : names[0] ?? "";
    }

    get run() {
      const parts = (this.query.get("run") || "").split("/");
      return parts.length === 3 && /^\d+$/.test(parts[2]) ? parts : null;
    }

    go(changes) {
      const kept = { classifier: this.query.get("classifier"), dataset: this.query.get("dataset"), run: this.query.get("run"), with: this.query.get("with"), ...changes };
      app.go("studies", this.id, kept);
    }

    async update(query) {
      this.query = query;
      if (!this.about) return;
      const { classifiers, datasets } = this.about;
      const one = datasets.length < 2 ? [] : [pq.el("label", { class: "soft" }, "Charts of data set ",
        pq.el("select", { "data-read": "dataset", on: { change: (event) => this.go({ dataset: event.target.value, run: null }) } },
          datasets.map((name) => pq.el("option", { value: name, ...(name === this.dataset ? { selected: "" } : {}) }, name))))];
      this.choice.replaceChildren(...one, ...(classifiers.length < 2 ? [] : classifiers.map((name) => pq.el("button", {
        "data-classifier": name, "aria-pressed": String(name === this.classifier), on: { click: () => this.go({ classifier: name, run: null }) },
      }, name))));
      this.compared.update();
      await Promise.all([this.showCharts(), this.showRun()]);
    }

    // The latest state from the server.
    row(row) {
      const { percent, minutes, count, state } = pq.studies;
      const ended = this.last?.state === "running" && row.state !== "running"; // the charts of a running study may lag behind
      this.last = row;
      this.head.textContent = row.name;
      if (row.error) {
        this.fail(new Error(row.error));
        this.progress.hidden = true;
        return;
      }
      this.progress.hidden = false;
      const facts = [
        ["runs", row.runs_total === null ? "" : `${row.runs_done} of ${row.runs_total} runs`],
        ["evaluations", row.evaluations_total === null ? "" : `${count(row.evaluations_done)} of ${count(row.evaluations_total)} evaluations`],
        ["rate", row.rate === null ? "" : `${count(row.rate)} evaluations/s`],
        ["left", row.seconds_left === null ? "" : `about ${minutes(row.seconds_left)} left`],
        ["stage", row.state === "running" ? `current stage: ${row.stage}` : ""],
      ].filter(([, text]) => text);
      this.progress.replaceChildren(
        pq.el("div", { class: "row" }, state(row), pq.el("progress", { max: 1, value: row.share ?? 0, "data-read": "share", "aria-label": "Progress" }),
          pq.el("strong", {}, row.share === null ? "" : `${Math.floor(100 * row.share)} %`)),
        pq.el("div", { class: "row facts soft" }, facts.map(([name, text]) => pq.el("span", { "data-read": name }, text))),
        pq.el("div", { class: "row bests" }, row.best.map((one) => pq.el("span", { class: "best", "data-read": "best", "data-classifier": one.classifier },
          pq.el("span", { class: "soft" }, `${one.classifier}: `), pq.el("strong", {}, percent(one.error)), one.size === null ? "" : ` with ${one.size} features`))),
        pq.el("ol", { class: "stages" }, row.stages.map((one) => pq.el("li", { class: one.done >= one.total ? "done" : one.done ? "begun" : "" }, `${one.name} `, pq.el("small", {}, `${one.done}/${one.total}`)))));
      if (this.about && (ended || row.runs_done !== this.runsShown)) this.soon();
      this.compared.state(row);
    }

    // Redraw after new runs, at most every few seconds.
    soon() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.showCharts(), Math.max(0, this.chartsAt + CALM - Date.now()));
    }

    async showCharts() {
      const { classifier, dataset } = this;
      if (this.last) this.runsShown = this.last.runs_done;
      this.chartsAt = Date.now();
      try {
        const found = await this.api(`/charts?${new URLSearchParams({ classifier, dataset })}`);
        if (classifier === this.classifier && dataset === this.dataset) this.draw(found);
      } catch (error) {
        this.fail(error);
      }
    }

    draw(found) {
      this.found = found;
      this.pictures.hidden = this.maps.hidden = this.runsHolder.hidden = !found.n_runs;
      if (!found.n_runs) return;
      const series = this.about.algorithms.map((one) => ({ ...one, name: one.title, strong: one.reference }));
      const { percent } = pq.studies;
      const name = `${safe(this.head.textContent)}-${safe(found.classifier)}`;
      const known = new Map(found.convergence.map((one) => [one.title, one]));
      const words = (one, p) => {
        const { n_runs: n } = known.get(one.name);
        return `${one.name} ${percent(p[1])}${n > 1 && p[2] !== null ? ` (quartiles ${pq.fixed(p[2], 2)} to ${percent(p[3])})` : ""}`;
      };
      this.put("convergence", pq.LineChart, this.pictures, {
        name: `${name}-convergence`, caption: `Convergence with ${found.classifier}`,
        note: "Lowest error rate found so far: median of the finished runs. Point at a line for the quartiles.",
        series: series.filter((one) => known.has(one.name)).map((one) => ({ ...one, points: known.get(one.name).points })),
        x: { title: "evaluations", log: true, scale: "log evaluations" }, y: { title: "error rate [%]", log: false, scale: "log error" },
        marks: [{ x: found.budget, title: "budget" }, ...(found.all_features === null ? [] : [{ y: found.all_features, title: "all features" }])],
        tip: words, at: (n) => `after ${n} evaluations`, columns: ["evaluations", "median", "lower_quartile", "upper_quartile"],
      });
      this.put("scatter", pq.Scatter, this.pictures, {
        name: `${name}-size`, caption: "Error rate against number of features",
        note: "Each mark is a run: click it to list its features. The line is the Pareto front: the lowest error rate of any run for each number of features.",
        series: series.filter((one) => known.has(one.name)),
        points: found.points.map((p) => ({ ...p, x: p.size, y: p.error, series: p.title, id: `${p.algorithm}/${p.run}`, title: `${p.title}, run ${p.run}: ${percent(p.error)} with ${p.size} features` })),
        lines: [{ title: "Pareto front", points: found.front }],
        marks: found.all_features === null ? [] : [{ y: found.all_features, title: `all ${found.n_features} features` }],
        x: { title: "features selected" }, y: { title: "error rate [%]", scale: "log error" },
        columns: [["algorithm", (p) => p.series], ["run", (p) => p.run], ["features", (p) => p.x], ["error_percent", (p) => p.y], ["evaluations", (p) => p.evaluations], ["seed", (p) => p.seed]],
        chosen: this.chosen, onclick: (p) => this.choose(p.id),
      });
      this.drawMap(name);
      this.drawRuns(found, name);
    }

    put(key, Kind, holder, options) {
      const known = this.charts[key];
      const card = known?.element.parentElement ?? pq.el("section", { class: "card" });
      if (!card.isConnected) holder.append(card); // charts are drawn to the width of their container
      if (known) known.update(options);
      else this.charts[key] = new Kind(card, options);
    }

    get chosen() {
      return this.run && this.run[0] === this.classifier ? `${this.run[1]}/${this.run[2]}` : null;
    }

    choose(id) {
      this.clicked = true;
      this.go({ classifier: this.query.get("classifier"), run: `${this.classifier}/${id}` });
    }

    // Selection frequency of features: bands by functions for wavelet features, otherwise features by algorithms.
    drawMap(name) {
      const { features } = this.found;
      const titles = Object.keys(features.shares);
      if (!features.names.length) return;
      const all = this.about.algorithms.filter((one) => titles.includes(one.title)).map((one) => ({ name: one.title, colour: one.colour }));
      const reference = this.about.algorithms.find((one) => one.reference).title;
      const shown = titles.includes(this.mapped) ? this.mapped : titles.includes(reference) ? reference : titles[0];
      const tip = (title, i) => `${features.names[i]}: selected in ${pq.fixed(100 * features.shares[title][i], 0)} % of the runs of ${title}${features.meanings[i] ? `\n${features.meanings[i]}` : ""}`;
      const lines = () => [["feature", "meaning", ...titles], ...features.names.map((one, i) => [one, features.meanings[i], ...titles.map((title) => features.shares[title][i])])];
      const shared = { name: `${name}-features`, csv: lines };
      if (features.grid) {
        const { bands, edges, functions } = features.grid;
        this.put("map", pq.FeatureMap, this.maps, {
          ...shared, caption: `How often ${shown} selected each feature [% of its runs]`,
          note: "Rows are wavelet bands, columns the functions of their coefficients. Point at a cell for its meaning.",
          choices: all, chosen: shown, onchoose: (title) => { this.mapped = title; this.drawMap(name); },
          rows: bands.map((band, i) => ({ title: band, more: edges[i] })), columns: functions.map((one) => one.replaceAll("_", " ")),
          cells: bands.map((_, i) => functions.map((__, j) => ({ share: features.shares[shown][i * functions.length + j], tip: tip(shown, i * functions.length + j) }))),
        });
        return;
      }
      const order = features.names.map((_, i) => i).sort((a, b) => features.shares[shown][b] - features.shares[shown][a] || a - b).slice(0, 60);
      this.put("map", pq.FeatureMap, this.maps, {
        ...shared, caption: "How often each algorithm selected each feature [% of its runs]", choices: [],
        note: features.names.length > order.length ? `The ${order.length} features that ${shown} selected most often; the CSV file has all.` : `Sorted by how often ${shown} selected them.`,
        rows: order.map((i) => ({ title: features.names[i] })), columns: titles,
        cells: order.map((i) => titles.map((title) => ({ share: features.shares[title][i], tip: tip(title, i) }))),
      });
    }

    drawRuns(found, name) {
      if (!this.runs) {
        this.runs = new pq.Table(this.runsHolder, {
          caption: "", key: (p) => `${p.algorithm}/${p.run}`, onclick: (p) => this.choose(`${p.algorithm}/${p.run}`),
          columns: [
            { key: "title", title: "Algorithm" }, { key: "run", title: "Run", number: true },
            { key: "error", title: "Error rate [%]", number: true, text: (p) => pq.fixed(p.error, 2) }, { key: "size", title: "Features", number: true },
            { key: "evaluations", title: "Evaluations", number: true }, { key: "seed", title: "Seed", number: true },
          ],
        });
        this.runs.tools.append(pq.el("button", { on: { click: () => pq.saveText(`${this.runsName}.csv`, this.runs.csv(), "text/csv") } }, "CSV"));
      }
      this.runsName = `${name}-runs`;
      this.runs.update(found.points);
      this.runs.select(this.chosen);
    }

    async showRun() {
      this.charts.scatter?.select(this.chosen);
      this.runs?.select(this.chosen);
      const { run } = this;
      this.runCard.hidden = !run;
      if (!run) return;
      const [classifier, algorithm, number] = run;
      const asked = new URLSearchParams({ classifier, algorithm, run: number, dataset: this.dataset });
      try {
        const found = await this.api(`/run?${asked}`);
        if (this.run?.join("/") !== run.join("/")) return;
        this.drawRun(found);
        if (this.clicked) this.runCard.scrollIntoView({ block: "nearest", behavior: "smooth" });
        this.clicked = false;
      } catch (error) {
        this.runCard.replaceChildren();
        this.fail(error, this.runCard);
      }
    }

    drawRun(found) {
      const { percent, count, minutes } = pq.studies;
      const colour = this.colours.get(found.title)?.colour;
      const fact = (name, text) => pq.el("div", {}, pq.el("dt", {}, name), pq.el("dd", { "data-read": name }, text));
      const list = pq.el("div");
      this.runCard.replaceChildren(
        pq.el("div", { class: "row" }, pq.el("h2", {}, pq.el("span", { class: "swatch", style: { background: colour } }), `${found.title}, run ${found.run}, ${found.classifier}`),
          pq.el("button", { class: "away", "aria-label": "Close the run", on: { click: () => this.go({ run: null }) } }, "✕")),
        pq.el("dl", { class: "facts" }, fact("error rate", `${percent(found.error)}${found.all_features === null ? "" : ` (all features: ${percent(found.all_features)})`}`), fact("features", `${found.size} of ${found.n_features}`),
          fact("evaluations", count(found.evaluations)), fact("seed", found.seed), fact("time", minutes(found.seconds) || "–")),
        list);
      const explained = found.features.some((one) => one.meaning);
      const table = new pq.Table(list, {
        caption: "Selected features", key: (one) => one.name, rows: found.features,
        columns: [{ key: "name", title: "Feature" }, ...(explained ? [{ key: "meaning", title: "Meaning" }] : [])],
      });
      table.tools.append(pq.el("button", { on: { click: () => pq.saveText(`${safe(found.title)}-run-${found.run}.csv`, table.csv(), "text/csv") } }, "CSV"));
    }
  };
})();
