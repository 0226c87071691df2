// What a report does when it is used: words near the pointer, series that hide, tables that sort, downloads.
// The page is complete without it. Names from the study are only ever compared, or set as text.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, kind, text = "") => {
    const element = document.createElement(tag);
    element.className = kind;
    element.textContent = text;
    if (tag === "button") element.type = "button";
    return element;
  };

  // Downloads, made from what the page holds.
  const save = (name, address) => {
    const link = make("a", "");
    link.href = address;
    link.download = name;
    link.click();
  };
  const saveText = (name, text, type) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    save(name, address);
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };

  const standalone = (svg) => {
    const copy = svg.cloneNode(true);
    const [, , width, height] = copy.getAttribute("viewBox").split(" ");
    copy.setAttribute("width", `${width}pt`);
    copy.setAttribute("height", `${height}pt`);
    copy.setAttribute("style", "color: #1b1f24; background: #ffffff");
    all(".off", copy).forEach((hidden) => hidden.remove());
    for (const shown of [copy, ...all("[data-tip]", copy)]) {
      const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
      title.textContent = shown === copy ? copy.getAttribute("aria-label") : shown.dataset.tip;
      shown.prepend(title);
      delete shown.dataset.tip;
    }
    return new XMLSerializer().serializeToString(copy) + "\n";
  };

  // Words near the pointer: the browser's own titles come late and cannot be read on a touch screen.
  all("svg > title").forEach((title) => title.remove());
  for (const title of all("svg .mark title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  const tip = make("div", "tip");
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);
  const around = [[0, 0], [4, 0], [-4, 0], [0, 4], [0, -4]];
  const point = (event) => {
    let found = null;
    if (event.target.closest("svg")) {
      for (const [x, y] of around) {
        found ??= document.elementFromPoint(event.clientX + x, event.clientY + y)?.closest("[data-tip]");
      }
    }
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = found.dataset.tip;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 12, document.documentElement.clientWidth - width - 4);
    const above = event.clientY - height - 12;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${above < 4 ? event.clientY + 16 : above}px`;
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  // Series: a button each, over every figure that has them; a series hides in all figures together.
  const hidden = new Set();
  const marks = all("svg .mark[data-series]");
  const buttons = [];
  const toggle = (series) => {
    if (!hidden.delete(series)) hidden.add(series);
    for (const mark of marks) mark.classList.toggle("off", hidden.has(mark.dataset.series));
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(!hidden.has(name)));
  };
  const colour = (mark) => {
    for (const shape of all("use, path, text", mark).filter((one) => !one.closest("defs"))) {
      const look = getComputedStyle(shape);
      for (const paint of [look.fill, look.stroke]) if (paint && paint !== "none") return paint;
    }
    return "currentColor";
  };
  for (const mark of marks) {
    if (mark.classList.contains("label")) mark.addEventListener("click", () => toggle(mark.dataset.series));
  }

  // A row of buttons under each caption.
  for (const figure of all("figure.drawing, figure.table")) {
    const caption = figure.querySelector("figcaption");
    const label = caption.textContent.split(".")[0];
    const tools = make("div", "tools");
    const svg = figure.querySelector("svg");
    const image = figure.querySelector("img");
    const series = new Map();
    for (const mark of svg ? all(".mark[data-series]:not(.label)", svg) : []) {
      if (!series.has(mark.dataset.series)) series.set(mark.dataset.series, mark);
    }
    if (series.size > 1) {
      for (const [name, mark] of series) {
        const button = make("button", "series", name);
        const swatch = make("span", "swatch");
        swatch.style.background = colour(mark);
        button.prepend(swatch);
        button.setAttribute("aria-pressed", "true");
        button.title = "Show or hide in all figures";
        button.addEventListener("click", () => toggle(name));
        buttons.push([name, button]);
        tools.append(button);
      }
    }
    const kind = svg ? "SVG" : image ? "PNG" : "CSV";
    const file = `${figure.dataset.name}.${kind.toLowerCase()}`;
    const download = make("button", "download", kind);
    download.setAttribute("aria-label", `Download ${label} as ${kind}`);
    download.addEventListener("click", () => {
      if (svg) saveText(file, standalone(svg), "image/svg+xml");
      else if (image) save(file, image.src);
      else saveText(file, figure.dataset.csv, "text/csv");
    });
    tools.append(download);
    caption.after(tools);
  }

  // Tables: a click on a heading sorts, numbers by their value. What the paper printed stays below the row it belongs to.
  const compare = (a, b) => {
    const empty = [a, b].map((value) => value === "" || value === "–");
    if (empty[0] || empty[1]) return { last: true, order: empty[0] - empty[1] };
    const numbers = [Number(a), Number(b)];
    const order = numbers.some(Number.isNaN) ? a.localeCompare(b, "en", { numeric: true }) : numbers[0] - numbers[1];
    return { last: false, order };
  };
  const valueOf = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  for (const table of all("figure.table table")) {
    const body = table.tBodies[0];
    const groups = [];
    for (const row of body.rows) {
      if (row.classList.contains("paper") && groups.length) groups.at(-1).push(row);
      else groups.push([row]);
    }
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make("button", "sort", head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" };
        const order = next[head.getAttribute("aria-sort") ?? "none"];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order !== "none") head.setAttribute("aria-sort", order);
        const sign = order === "descending" ? -1 : 1;
        const sorted = order === "none" ? groups : [...groups].sort(([a], [b]) => {
          const { last, order: less } = compare(valueOf(a, column), valueOf(b, column));
          return last ? less : sign * less;
        });
        body.append(...sorted.flat());
      });
    });
  }

  // Contents: where the reader is.
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
})();
