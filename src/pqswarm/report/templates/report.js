// Interaction in a report: tooltips, hiding of series, sorting of tables, downloads. The page is complete without it.
// Names from the study are only compared or set as text.
"use strict";
(() => {
  const pq = window.pq;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // A figure as a file of its own: in light colors, without hidden series, with tooltips as titles.
  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    const [, , width, height] = copy.getAttribute("viewBox").split(" ");
    copy.setAttribute("width", `${width}pt`);
    copy.setAttribute("height", `${height}pt`);
    copy.setAttribute("style", "color: #1b1f24; background: #ffffff");
    all(".off", copy).forEach((hidden) => hidden.remove());
    for (const shown of [copy, ...all("[data-tip]", copy)]) {
      shown.prepend(pq.svg("title", {}, shown === copy ? copy.getAttribute("aria-label") : shown.dataset.tip));
      delete shown.dataset.tip;
    }
    return copy;
  };

  // Tooltips: the browser's own appear late, and not at all on a touch screen.
  all("svg > title").forEach((title) => title.remove());
  for (const title of all("svg .mark title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  const around = [[0, 0], [4, 0], [-4, 0], [0, 4], [0, -4]];
  const point = (event) => {
    let found = null;
    if (event.target.closest("svg")) {
      for (const [x, y] of around) {
        found ??= document.elementFromPoint(event.clientX + x, event.clientY + y)?.closest("[data-tip]");
      }
    }
    if (found) pq.tip(event, found.dataset.tip);
    else pq.hideTip();
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("keydown", (event) => event.key === "Escape" && pq.hideTip());

  // Series: one button each above every figure that has several; a series is hidden in all figures at once.
  const hidden = new Set();
  const marks = all("svg .mark[data-series]");
  const buttons = [];
  const toggle = (series) => {
    if (!hidden.delete(series)) hidden.add(series);
    for (const mark of marks) mark.classList.toggle("off", hidden.has(mark.dataset.series));
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(!hidden.has(name)));
  };
  for (const mark of marks) {
    if (mark.classList.contains("label")) mark.addEventListener("click", () => toggle(mark.dataset.series));
  }
  const color = (mark) => {
    for (const shape of all("use, path, text", mark).filter((one) => !one.closest("defs"))) {
      const { fill, stroke } = getComputedStyle(shape);
      for (const paint of [fill, stroke]) if (paint && paint !== "none") return paint;
    }
    return "currentColor";
  };
  const seriesButton = (name, mark) => {
    const button = pq.el("button", { class: "series", "aria-pressed": "true", title: "Show or hide in all figures", on: { click: () => toggle(name) } },
      pq.el("span", { class: "swatch", style: { background: color(mark) } }), name);
    buttons.push([name, button]);
    return button;
  };

  // The buttons below each caption.
  for (const figure of all("figure.drawing, figure.table")) {
    const caption = figure.querySelector("figcaption");
    const svg = figure.querySelector("svg");
    const series = new Map();
    for (const mark of svg ? all(".mark[data-series]:not(.label)", svg) : []) {
      if (!series.has(mark.dataset.series)) series.set(mark.dataset.series, mark);
    }
    const kind = svg ? "SVG" : "CSV";
    const file = `${figure.dataset.name}.${kind.toLowerCase()}`;
    const download = () => {
      if (svg) pq.saveDrawing(file, standalone(svg));
      else Promise.resolve(figure.csvText?.() ?? figure.dataset.csv).then((text) => pq.saveText(file, text, "text/csv"));
    };
    caption.after(pq.el("div", { class: "tools" }, series.size > 1 ? [...series].map(([name, mark]) => seriesButton(name, mark)) : [],
      pq.el("button", { class: "download", "aria-label": `Download ${caption.textContent.split(".")[0]} as ${kind}`, on: { click: download } }, kind)));
  }

  // Tables: a click on a heading sorts. A row with the paper's values stays below the row it belongs to.
  const valueOf = (row, column) => {
    const text = row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    return text === "" || text === "–" ? null : Number.isNaN(Number(text)) ? text : Number(text);
  };
  for (const table of all("figure.table:not(.events) table")) { // that of events has more rows than the document
    const body = table.tBodies[0];
    const groups = [];
    for (const row of body.rows) {
      if (row.classList.contains("paper") && groups.length) groups.at(-1).push(row);
      else groups.push([row]);
    }
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head, column) => {
      const order = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") ?? "none"];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (order !== "none") head.setAttribute("aria-sort", order);
      const compare = ([a], [b]) => pq.compare(valueOf(a, column), valueOf(b, column), order === "descending");
      body.append(...(order === "none" ? groups : [...groups].sort(compare)).flat());
    };
    heads.forEach((head, column) => head.replaceChildren(pq.el("button", { class: "sort", on: { click: () => sort(head, column) } }, head.textContent)));
  }

  // Contents: mark the section being read.
  const links = new Map(all("nav.contents a").map((link) => [link.hash.slice(1), link]));
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const locate = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1);
    for (const [id, link] of links) {
      if (passed && id === passed.id) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  document.addEventListener("scroll", locate, { passive: true });
  locate();

  // In a frame: tell the page around it where the reader is, so that the next version of the report opens there.
  if (window.parent !== window) {
    const anchors = all("h2[id], h3[id], figure[id]");
    const top = (element) => element.getBoundingClientRect().top;
    document.addEventListener("scroll", () => {
      const passed = anchors.filter((anchor) => top(anchor) <= 0).at(-1);
      window.parent.postMessage({ id: passed?.id ?? "", top: top(passed ?? document.documentElement) }, "*");
    }, { passive: true });
    window.addEventListener("message", ({ source, data }) => {
      if (source !== window.parent || !Number.isFinite(data?.top)) return;
      window.scrollBy(0, top(document.getElementById(data.id) ?? document.documentElement) - data.top);
    });
  }
})();
