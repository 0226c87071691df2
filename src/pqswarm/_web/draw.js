// Basics shared by all pages: elements, number formats, ticks, colors, tooltips, sorting, downloads.
// Untrusted text only ever becomes a text node; nothing here parses markup.
"use strict";
window.pq = window.pq || {};
(() => {
  const pq = window.pq;
  const SVG = "http://www.w3.org/2000/svg";

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "on") for (const [kind, listener] of Object.entries(value)) element.addEventListener(kind, listener);
      else if (name === "style" && typeof value === "object") Object.assign(element.style, value);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child !== undefined && child !== null && child !== false) element.append(child);
    }
    return element;
  };
  // pq.el("button", {class: "quiet", on: {click: f}}, "text", child); pq.svg does the same for SVG.
  pq.el = (tag, attributes, ...children) => {
    const element = fill(document.createElement(tag), attributes, children);
    if (tag === "button" && !element.hasAttribute("type")) element.type = "button";
    return element;
  };
  pq.svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  // Numbers as text: with a true minus sign and a fixed number of digits, so that live values do not jump.
  pq.number = (x, digits = 3) => {
    if (x === null || x === undefined || !Number.isFinite(x)) return "–";
    const text = x !== 0 && (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4) ? x.toExponential(digits - 1) : x.toPrecision(digits);
    const plain = text.includes("e+") && Math.abs(x) < 1e6 ? String(Math.round(x)) : text;
    return plain.replaceAll("-", "−");
  };
  pq.fixed = (x, digits = 1) => (Number.isFinite(x) ? x.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−") : "–");
  pq.percent = (fraction, digits = 1) => (Number.isFinite(fraction) ? `${pq.fixed(100 * fraction, digits)} %` : "–");
  const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
  pq.si = (x, unit, digits = 4) => {
    if (!Number.isFinite(x)) return "–";
    if (!unit || unit === "pu" || unit === "%") return `${pq.number(x, digits)}${unit ? " " + unit : ""}`;
    const size = Math.abs(x);
    const [factor, prefix] = PREFIXES.find(([minimum]) => size >= minimum * 0.99999) || (size ? PREFIXES.at(-1) : PREFIXES[3]);
    return `${pq.number(x / factor, digits)} ${prefix}${unit}`;
  };
  pq.seconds = (x) => {
    if (!Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    const [scale, unit] = size >= 60 ? [1 / 60, "min"] : size >= 1 || size === 0 ? [1, "s"] : size >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
    const value = x * scale;
    const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.max(Math.abs(value), 1))) - 0);
    return `${value.toFixed(Math.min(digits, unit === "ms" ? 1 : 3)).replace("-", "−")} ${unit}`;
  };
  pq.clock = (iso, seconds) => {
    const match = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?/.exec(iso || "");
    if (!match) return "";
    const start = Date.UTC(2000, 0, 1, +match[2], +match[3], +match[4]) + 1000 * Number(match[5] || 0);
    const moment = new Date(start + 1000 * seconds);
    return Number.isFinite(moment.getTime()) ? moment.toISOString().slice(11, 23) : "";
  };

  // About n round numbers on an axis.
  pq.ticks = (low, high, n = 6) => {
    if (!(high > low)) return [low];
    const rough = (high - low) / Math.max(n, 1);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.999) * power;
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({ length: Math.min(last - first + 1, 1000) }, (_, i) => (first + i) * step);
  };

  // Arrays are sent as base64 of little-endian numbers, the native byte order of all current browsers.
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  pq.integers = (text) => new Int16Array(bytes(text));
  pq.floats = (text) => (text === null || text === undefined ? null : new Float32Array(bytes(text)));

  // Colors refer to the style sheet, so they follow the theme.
  pq.phaseColor = (phase, index = 0) => {
    const known = { A: "a", B: "b", C: "c", N: "n", AB: "a", BC: "b", CA: "c" }[phase];
    return `var(--phase-${known || ["a", "b", "c", "d", "e", "f"][index % 6]})`;
  };
  pq.typeColor = (type) => `var(--type-${String(type).toLowerCase().replace(/^rapid /, "").replace(/[^a-z]+/g, "-")}, var(--soft))`;

  // Tooltip near the pointer.
  let tip = null;
  pq.tip = (event, text) => {
    if (!tip) {
      tip = pq.el("div", { class: "tip", role: "status" });
      document.body.append(tip);
    }
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 6);
    const y = event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18;
    tip.style.left = `${Math.max(4, x)}px`;
    tip.style.top = `${Math.max(4, y)}px`;
  };
  pq.hideTip = () => {
    if (tip) tip.hidden = true;
  };
  window.addEventListener("scroll", pq.hideTip, { passive: true, capture: true });

  // Order of two values of a column; unknown values come last in either direction.
  const isKnown = (value) => value !== null && value !== undefined && value !== "" && value === value;
  pq.compare = (a, b, descending = false) => {
    if (!isKnown(a) || !isKnown(b)) return isKnown(b) - isKnown(a);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return descending ? -order : order;
  };

  // Downloads of data that the page holds. In CSV, text that a spreadsheet would read as a formula gets an apostrophe.
  const cell = (value) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  pq.csv = (lines) => lines.map((line) => `${line.map(cell).join(",")}\n`).join("");
  pq.saveLink = (name, address) => pq.el("a", { href: address, download: name }).click();
  pq.saveText = (name, text, type = "text/plain") => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    pq.saveLink(name, address);
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  const PRESENTATION = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "paint-order", "opacity", "fill-opacity", "stroke-opacity",
    "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline", "visibility", "display"];
  // A copy of a figure with its computed styles as attributes.
  const styled = pq.styled = (drawing) => {
    const copy = drawing.cloneNode(true);
    const originals = [drawing, ...drawing.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
      const style = getComputedStyle(originals[i]);
      for (const property of PRESENTATION) element.setAttribute(property, style.getPropertyValue(property));
      element.removeAttribute("class");
      element.removeAttribute("style"); // its variables belong to the page
    });
    const box = drawing.getBoundingClientRect();
    if (!copy.getAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    copy.setAttribute("width", box.width);
    copy.setAttribute("height", box.height);
    return copy;
  };
  const drawingText = (copy) => {
    if (!copy.hasAttribute("style")) copy.setAttribute("style", `background: ${getComputedStyle(document.body).backgroundColor}`);
    return new XMLSerializer().serializeToString(copy);
  };
  pq.saveDrawing = (name, copy) => pq.saveText(name, `${drawingText(copy)}\n`, "image/svg+xml");
  // A drawing as a PNG of twice its size on the screen.
  const savePng = async (name, copy) => {
    const picture = new Image();
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawingText(copy))}`;
    await picture.decode();
    const [width, height] = ["width", "height"].map((side) => Math.ceil(2 * Number.parseFloat(copy.getAttribute(side))));
    const canvas = pq.el("canvas", { width, height });
    canvas.getContext("2d").drawImage(picture, 0, 0, width, height);
    pq.saveLink(name, canvas.toDataURL("image/png"));
  };
  const save = pq.savePicture = (name, copy) => (name.endsWith(".png") ? savePng(name, copy) : pq.saveDrawing(name, copy));
  // Save one figure: SVG or PNG, by the name.
  pq.saveSvg = (name, drawing) => save(name, styled(drawing));
  // Buttons that save a picture as SVG and as PNG.
  pq.savers = (name, act) => ["svg", "png"].map((kind) => pq.el("button", { "data-save": kind, on: { click: () => act(`${typeof name === "function" ? name() : name}.${kind}`) } }, kind.toUpperCase()));
})();
