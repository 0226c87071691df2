// The studies section: all studies of the folder with live progress, or one study in full.
"use strict";
(() => {
  const pq = window.pq;
  const { app } = pq;
  const rows = new Map();
  let holder = null;
  let table = null;
  let view = null;
  let watching = 0;
  let held = false; // redrawing a pressed row would lose the click

  const EMPTY = "There is no study in this folder. Start one with: pqswarm study quick";
  let known = false; // whether the list was loaded

  const refresh = () => {
    if (table && known) table.options.empty = EMPTY;
    if (table && !held) table.update([...rows.values()]);
  };
  for (const kind of ["pointerup", "pointercancel"]) {
    window.addEventListener(kind, () => {
      held = false;
      setTimeout(refresh);
    });
  }

  const percent = (rate) => pq.percent(rate === null ? NaN : rate / 100, 2); // error rates are sent in percent
  const minutes = (seconds) => {
    if (!Number.isFinite(seconds)) return "";
    if (seconds < 60) return `${Math.round(seconds)} s`;
    const whole = Math.round(seconds / 60);
    return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${whole % 60} min`;
  };
  const count = (x) => (Number.isFinite(x) ? Math.round(x).toLocaleString("en") : "–");
  const best = (one) => `${one.classifier} ${percent(one.error)}${one.size === null ? "" : ` (${one.size})`}`;
  const state = (row) => pq.el("span", { class: `state ${row.state}` }, row.state);
  const bar = (row) => [
    pq.el("progress", { max: 1, value: row.fraction ?? 0, "aria-label": "Progress", "data-read": "fraction" }),
    pq.el("span", { class: "soft" }, row.fraction === null ? "" : ` ${Math.floor(100 * row.fraction)} %`),
  ];
  pq.studies = { percent, minutes, count, state, rows };

  const COLUMNS = [
    { key: "name", title: "Study", show: (row) => pq.el("span", { class: "long" }, row.name) },
    { key: "state", title: "State", show: state },
    { key: "fraction", title: "Progress", value: (row) => row.fraction, show: (row) => (row.error ? pq.el("span", { class: "soft wrap" }, row.error) : pq.el("span", { class: "row tight" }, bar(row))) },
    { key: "runs", title: "Runs", number: true, value: (row) => row.runs_done, text: (row) => (row.runs_total === null ? "" : `${row.runs_done} of ${row.runs_total}`) },
    { key: "rate", title: "Evaluations/s", number: true, text: (row) => (row.rate === null ? "" : count(row.rate)) },
    { key: "best", title: "Lowest error rate so far (features)", value: (row) => row.best.map(best).join(", "), text: (row) => row.best.map(best).join(", ") },
    { key: "title", title: "Plan", show: (row) => pq.el("span", { class: "long" }, row.title) },
    { key: "bytes", title: "MB", number: true, text: (row) => pq.fixed(row.bytes / 1e6, 1) },
  ];

  const showList = () => {
    view?.close();
    view = null;
    holder.replaceChildren(pq.el("h1", {}, "Studies"));
    table = new pq.Table(holder, {
      caption: "", columns: COLUMNS, rows: [...rows.values()], key: (row) => row.id,
      onclick: (row) => app.go("studies", row.id),
      empty: known ? EMPTY : "Loading …",
      note: "Studies run in a terminal and are followed here live; they do not depend on this page.",
    });
    table.body.addEventListener("pointerdown", () => { held = true; });
  };

  const load = async () => {
    const opened = holder;
    try {
      const found = await app.api("/api/studies");
      if (opened !== holder) return;
      known = true;
      rows.clear();
      for (const row of found.studies) rows.set(row.id, row);
      refresh();
      if (view && rows.has(view.id)) view.row(rows.get(view.id));
    } catch (error) {
      if (opened === holder) app.fail(error, holder);
    }
  };

  // Subscribe to changes; the server must know the page first.
  const watch = async () => {
    watching += 1;
    const mine = watching;
    for (let wait = 100; mine === watching; wait = Math.min(2 * wait, 5000)) {
      try {
        if ((await app.api("/api/studies/watch", { method: "PUT", json: { watch: true } })).watching) return;
      } catch { /* try again */ }
      await new Promise((done) => setTimeout(done, wait));
    }
  };
  const leave = () => {
    watching += 1;
    app.api("/api/studies/watch", { method: "PUT", json: { watch: false } }).catch(() => {});
  };

  const route = (asked) => {
    if (!asked.path) return showList();
    table = null;
    if (view?.id === asked.path) return view.update(asked.query);
    view?.close();
    holder.replaceChildren();
    view = new pq.StudyView(holder, asked.path, asked.query);
    if (rows.has(view.id)) view.row(rows.get(view.id));
    return undefined;
  };

  app.register("studies", {
    title: "Studies",
    open(place, asked) {
      holder = place;
      rows.clear();
      known = false;
      route(asked);
      watch().then(load);
      load();
    },
    update: route,
    view: () => view,
    close() {
      leave();
      view?.close();
      view = table = holder = null;
    },
    message(message) {
      if (message.about === "again") {
        watch().then(load);
        view?.reload();
      } else if (message.about === "studies") {
        if (message.study) rows.set(message.study.id, message.study);
        for (const id of message.gone || []) rows.delete(id);
        if (message.gone?.includes(view?.id)) view.fail(new Error("This study is no longer in the folder."));
        refresh();
        if (message.study && view?.id === message.study.id) view.row(message.study);
      }
    },
  });
})();
