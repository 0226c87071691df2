// What the page of events does beyond a report's: types that are shown alone, rows that points lead to, waveforms.
"use strict";
(() => {
  const pq = window.pq;
  const LIMIT = 300; // rows drawn at a time
  const figure = document.querySelector("figure.events");
  const points = [...document.querySelectorAll("svg.chart .point")];

  // An event: its row, texts and sort keys. Of many events the page shows the worst; a script unpacks the rows of all.
  const fromRow = (row) => ({ number: Number(row.id.slice(6)), type: row.dataset.type, row, texts: [...row.cells].map((cell) => cell.textContent.trim()), keys: [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent.trim()) });
  const unpackText = (name) => {
    const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  let show = () => {};
  if (figure) {
    const body = figure.querySelector("tbody");
    const heads = [...figure.querySelectorAll("thead th")];
    const tools = figure.querySelector(".tools");
    let items = [...body.rows].map(fromRow), order = null, limit = LIMIT, type = "";
    const buttons = [];
    const search = pq.el("input", { type: "search", placeholder: "Search", "aria-label": "Search events", on: { input: () => show() } });
    const [from, to] = ["from", "to"].map((word) => pq.el("input", { type: "date", "aria-label": `Events ${word}`, on: { change: () => show() } }));
    const station = pq.el("select", { "aria-label": "Station", on: { change: () => show() } });
    const count = pq.el("span", { class: "soft", role: "status" });
    const keyOf = (item, column) => {
      const text = item.keys[column];
      return text === "" || text === "–" ? null : Number.isNaN(Number(text)) ? text : Number(text);
    };
    const chosen = (item, words) => (!type || item.type === type) && (!station.value || item.texts[1] === station.value) && (!from.value || item.texts[2] >= from.value) && (!to.value || (item.texts[2] <= to.value && item.texts[2] !== "–")) &&
      words.every((word) => item.found.includes(word));
    show = (number = null) => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = items.filter((item) => chosen(item, words));
      if (order) found.sort((a, b) => pq.compare(keyOf(a, order.column), keyOf(b, order.column), order.down));
      const place = number === null ? -1 : found.findIndex((item) => item.number === number);
      limit = Math.max(LIMIT, place + 1);
      const drawn = found.slice(0, limit).map((item) => item.row);
      const more = () => { const start = limit; limit += 4 * LIMIT; body.lastElementChild.remove(); body.append(...found.slice(start, limit).map((item) => item.row), ...rest()); };
      const rest = () => (found.length > limit ? [pq.el("tr", { class: "more" }, pq.el("td", { colspan: heads.length }, `${limit} of ${found.length} events. `, pq.el("button", { type: "button", on: { click: more } }, "Show more")))] : []);
      body.replaceChildren(...drawn, ...rest());
      const shown = new Set(found.map((item) => item.number));
      for (const point of points) point.classList.toggle("off", !shown.has(Number(point.getAttribute("href").slice(7))));
      for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === type));
      count.textContent = found.length === items.length ? "" : `${found.length} of ${items.length}`;
      return place >= 0;
    };
    const reset = () => { type = search.value = station.value = from.value = to.value = ""; };
    const sort = (column) => {
      order = order?.column !== column ? { column, down: false } : order.down ? null : { column, down: true };
      heads.forEach((head, i) => (order?.column === i ? head.setAttribute("aria-sort", order.down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
      show();
    };
    heads.forEach((head, column) => head.replaceChildren(pq.el("button", { class: "sort", on: { click: () => sort(column) } }, head.textContent)));
    const start = () => {
      for (const item of items) item.found = item.texts.join(" ").toLowerCase();
      const types = [...new Set(items.map((item) => item.type))];
      const stations = [...new Set(items.map((item) => item.texts[1]))].sort();
      if (items.length < 2) return;
      tools.classList.add("filter");
      for (const name of types.length > 1 ? ["", ...types] : []) {
        const own = name === "" ? items : items.filter((item) => item.type === name);
        const button = pq.el("button", { on: { click: () => { type = name; show(); } } }, `${name === "" ? "all" : own[0].texts[4]} (${own.length})`);
        buttons.push([name, button]);
        tools.insertBefore(button, tools.lastElementChild);
      }
      station.replaceChildren(pq.el("option", { value: "" }, "all stations"), ...stations.map((name) => pq.el("option", { value: name }, name)));
      for (const tool of [search, ...(stations.length > 1 ? [station] : []), ...(new Set(items.map((item) => item.texts[2])).size > 1 ? [from, to] : []), count]) tools.insertBefore(tool, tools.lastElementChild);
      show();
    };
    if (document.getElementById("packed-events") && window.DecompressionStream) {
      figure.csvText = () => unpackText("packed-csv");
      unpackText("packed-events").then((text) => { // HTML of this page, whose texts are escaped
        items = [...new DOMParser().parseFromString(`<table><tbody>${text}</tbody></table>`, "text/html").querySelectorAll("tr")].map((row) => fromRow(document.adoptNode(row)));
        figure.querySelector(".unpacked")?.remove();
        start();
      });
    } else start();
    // A link to a row that is hidden shows it.
    window.addEventListener("hashchange", () => {
      buildAll();
      const number = Number(/^#event-(\d+)$/.exec(window.location.hash)?.[1] ?? NaN);
      const item = items.find((one) => one.number === number);
      if (!item || item.row?.isConnected) return;
      reset();
      show(number);
      item.row.scrollIntoView({ block: "center" });
    });
  }
  // Waveforms: the page holds three stretches around each event; the finest that covers what is asked for is shown.
  const recordings = new Map();
  const recordingOf = (name) => {
    if (!recordings.has(name)) {
      const told = JSON.parse(document.getElementById(name).textContent);
      recordings.set(name, told);
    }
    return recordings.get(name);
  };
  const waiting = new Set(document.querySelectorAll("figure.waveform"));
  const buildFigure = (figure) => {
    if (!waiting.delete(figure)) return;
    const told = recordingOf(figure.dataset.waveforms);
    const event = told.events.find((one) => String(one.index) === figure.dataset.event);
    const first = told.first[figure.dataset.event];
    const view = (from, to) => {
      const slack = 0.12 * (to - from); // what the viewer asks for beyond its ends
      const fit = told.views.filter((one) => one.from <= from + slack && one.to >= to - slack);
      return fit.reduce((best, one) => (one.step < best.step ? one : best), told.views[0]);
    };
    const options = { label: `event ${figure.dataset.event}`, range: first, thresholds: told.thresholds, wheel: "focus", coarse: "This page holds no finer picture of this stretch: pqswarm app shows every sample." };
    const cycle = 1 / told.header.nominal_frequency;
    if (event) options.cursors = { A: event.start, B: event.worst_end ?? (event.end > event.start ? event.end : event.start + cycle) };
    const viewer = new pq.Waves(figure, told.header, view, options);
    viewer.setEvents(told.events);
    if (event) viewer.lastEvent = event.index;
  };
  const buildAll = () => [...waiting].forEach(buildFigure);
  if (waiting.size) {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) buildFigure(entry.target);
    }, { rootMargin: "100% 0px" });
    waiting.forEach((figure) => seen.observe(figure));
    const idle = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));
    const next = () => {
      const [figure] = waiting;
      if (!figure) return;
      buildFigure(figure);
      idle(next);
    };
    idle(next);
    window.addEventListener("beforeprint", buildAll);
  }
})();
