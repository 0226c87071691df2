// What the page of events does beyond a report's: kinds that are shown alone, rows that points lead to, waveforms.
"use strict";
(() => {
  const rows = [...document.querySelectorAll(".events tbody tr")];
  const points = [...document.querySelectorAll("svg.chart .point")];
  const kinds = [...new Set(rows.map((row) => row.dataset.kind))];
  const tools = document.querySelector(".events .tools");
  const buttons = [];
  const show = (kind) => {
    for (const row of rows) row.hidden = kind !== "" && row.dataset.kind !== kind;
    for (const point of points) point.classList.toggle("off", kind !== "" && point.dataset.kind !== kind);
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === kind));
  };
  if (tools && kinds.length > 1) {
    tools.classList.add("filter");
    for (const kind of ["", ...kinds]) {
      const button = document.createElement("button");
      button.type = "button";
      const own = kind === "" ? rows : rows.filter((row) => row.dataset.kind === kind);
      button.textContent = `${kind === "" ? "all" : own[0].cells[4].textContent.trim()} (${own.length})`;
      button.addEventListener("click", () => show(kind));
      buttons.push([kind, button]);
      tools.insertBefore(button, tools.lastElementChild);
    }
    show("");
  }
  // Waveforms: the page holds three stretches around each event; the finest that covers what is asked for is shown.
  const unpack = (line, text) => {
    if (text === null) return null;
    const steps = new Int16Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
    return Float32Array.from(steps, (step) => (step === -32768 ? NaN : line.least + (step + 32767) * line.scale));
  };
  const open = (channels) => channels.map((line) => ({ index: line.index, low: unpack(line, line.low), high: unpack(line, line.high) }));
  const recordings = new Map();
  const recordingOf = (name) => {
    if (!recordings.has(name)) {
      const told = JSON.parse(document.getElementById(name).textContent);
      for (const view of told.views) {
        view.channels = open(view.channels);
        if (view.urms) view.urms.channels = open(view.urms.channels);
      }
      recordings.set(name, told);
    }
    return recordings.get(name);
  };
  const waiting = new Set(document.querySelectorAll("figure.waveform"));
  const build = (figure) => {
    if (!waiting.delete(figure)) return;
    const told = recordingOf(figure.dataset.waveforms);
    const event = told.events.find((one) => String(one.index) === figure.dataset.event);
    const first = told.first[figure.dataset.event];
    const view = (from, to) => {
      const slack = 0.12 * (to - from); // what the viewer asks for beyond its ends
      const fit = told.views.filter((one) => one.from <= from + slack && one.to >= to - slack);
      return fit.reduce((best, one) => (one.step < best.step ? one : best), told.views[0]);
    };
    const options = { range: first, thresholds: told.thresholds, wheel: "focus", coarse: "This page holds no finer picture of this stretch: pqswarm app shows every sample." };
    const cycle = 1 / told.header.nominal_frequency;
    if (event) options.cursors = { A: event.start, B: event.end > event.start ? event.end : event.start + cycle };
    const viewer = new window.pq.Waves(figure, told.header, view, options);
    viewer.setEvents(told.events);
    if (event) viewer.lastEvent = event.index;
  };
  const buildAll = () => [...waiting].forEach(build);
  if (waiting.size) {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) build(entry.target);
    }, { rootMargin: "100% 0px" });
    waiting.forEach((figure) => seen.observe(figure));
    const idle = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));
    const next = () => {
      const [figure] = waiting;
      if (!figure) return;
      build(figure);
      idle(next);
    };
    idle(next);
    window.addEventListener("beforeprint", buildAll);
  }

  // A link to a row that is hidden shows it.
  window.addEventListener("hashchange", () => {
    buildAll();
    const row = rows.find((one) => `#${one.id}` === window.location.hash);
    if (row?.hidden) {
      show("");
      row.scrollIntoView({ block: "center" });
    }
  });
})();
