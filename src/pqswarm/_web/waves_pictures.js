// Pictures of waveforms: colors of the phases, and several figures saved as one.
"use strict";
(() => {
  const pq = window.pq;

  // A swatch with the line style of a phase.
  pq.dashed = ({ color, dash }) => pq.svg("svg", { class: "swatch-line", width: 22, height: 8, "aria-hidden": "true" },
    pq.svg("path", { d: "M1 4h20", style: { stroke: color, strokeDasharray: dash } }));
  // Colors of the phases by convention; the choice is kept, and all pages of this browser follow it.
  const PHASES = "pqswarm-phases";
  const CONVENTIONS = { "": "Color-blind safe", iec: "IEC 60445: brown, black, gray", us: "US 208 V: black, red, blue", "us-high": "US 480 V: brown, orange, yellow", ryb: "Red, yellow, blue", ygr: "Yellow, green, red" };
  const applyPhases = (name) => {
    document.documentElement.dataset.phases = name;
    document.querySelectorAll("select.phases").forEach((one) => { one.value = name; });
  };
  try {
    const kept = localStorage.getItem(PHASES);
    if (kept in CONVENTIONS) applyPhases(kept);
  } catch { /* storage is disabled */ }
  pq.phaseChooser = () => {
    const chooser = pq.el("select", { class: "phases", "aria-label": "Colors of the phases", on: { change: () => {
      applyPhases(chooser.value);
      try {
        localStorage.setItem(PHASES, chooser.value);
      } catch { /* storage is disabled */ }
    } } }, Object.entries(CONVENTIONS).map(([value, text]) => pq.el("option", { value }, text)));
    chooser.value = document.documentElement.dataset.phases ?? "";
    return chooser;
  };

  // Save several figures of a box and its texts as one: SVG or PNG, by the name.
  pq.saveSvgs = (name, box, drawings, texts = []) => {
    const frame = box.getBoundingClientRect();
    const whole = pq.svg("svg", { width: frame.width, height: frame.height, viewBox: `0 0 ${frame.width} ${frame.height}` });
    const placed = (element, copy) => {
      const place = element.getBoundingClientRect();
      if (!place.width || !place.height) return;
      copy.setAttribute("x", place.x - frame.x);
      copy.setAttribute("y", place.y - frame.y);
      whole.append(copy);
    };
    for (const drawing of drawings) placed(drawing, pq.styled(drawing));
    for (const text of texts) {
      const { color, fontSize, fontFamily, fontWeight } = getComputedStyle(text);
      const after = text.querySelector("svg")?.getBoundingClientRect().right ?? text.getBoundingClientRect().left;
      placed(text, pq.svg("svg", { overflow: "visible" }, pq.svg("text", { x: after - text.getBoundingClientRect().left + 5, y: Number.parseFloat(fontSize) * 1.25, fill: color, "font-size": fontSize, "font-family": fontFamily, "font-weight": fontWeight }, text.textContent)));
    }
    return pq.savePicture(name, whole);
  };
})();
