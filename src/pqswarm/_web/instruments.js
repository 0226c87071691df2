// Instruments at a cursor: phasor diagram and harmonic spectrum of the values measured by the server.
"use strict";
window.pq = window.pq || {};
(() => {
  const pq = window.pq;
  const TURN = Math.PI / 180;
  const RADIUS = 104; // of the outer circle
  const MAX_HEAD = 7;

  const degrees = (angle) => (Number.isFinite(angle) ? `${pq.fixed(angle <= -179.95 ? angle + 360 : angle, 1)}°` : "–");
  pq.degrees = degrees;
  const maximum = (values) => Math.max(0, ...values.filter(Number.isFinite));

  // Phasors of voltages and currents, each kind with its own scale: the largest voltage reaches the outer circle, the
  // largest current an inner one. json: result of pqswarm.measure.measure_at; angles are relative to the first voltage.
  // groups: [{title, members: [channel]}], a diagram for each pair of voltages and currents; without them one of all.
  pq.phasors = (holder, json, groups = null) => {
    const channels = json.channels.map((one, index) => ({ ...one, index, kind: { V: "voltage", A: "current" }[one.unit], size: one.fundamental?.rms, angle: one.fundamental?.relative }))
      .filter((one) => one.kind && Number.isFinite(one.size));
    const of = (group) => channels.filter((one) => group.members.some((member) => (member.plain ?? member.name) === one.name));
    const [volts, amps] = ["voltage", "current"].map((kind) => (groups ?? []).filter((group) => group.kind === kind));
    const sets = volts.length < 2 && amps.length < 2 ? [{ title: "", own: groups ? [...volts, ...amps].flatMap(of) : channels }] : [
      ...(amps.length ? amps : volts).map((group, i) => ({ title: group.title, own: [...(amps.length ? of(volts[i] ?? volts[0] ?? { members: [] }) : []), ...of(group)] })),
      ...(amps.length ? volts.slice(Math.max(amps.length, 1)) : []).map((group) => ({ title: group.title, own: of(group) }))];
    holder.replaceChildren(...sets.map(({ title, own }) => pq.el("figure", { class: "phasor-set" }, diagram(own), title ? pq.el("figcaption", { class: "soft" }, title) : "")));
    return holder.querySelector("svg");
  };
  const diagram = (channels) => {
    const drawing = pq.svg("svg", { class: "phasors", viewBox: "-138 -128 276 256", role: "img" });
    drawing.append(pq.svg("path", { class: "grid", d: [1, 0.75, 0.5, 0.25].map((fraction) => circle(fraction * RADIUS)).join("") }));
    for (let angle = 0; angle < 360; angle += 30) {
      const [x, y] = at(RADIUS, angle);
      drawing.append(pq.svg("line", { class: "grid", x1: x * 0.04, y1: y * 0.04, x2: x, y2: y }));
    }
    for (const angle of [0, 90, 180, 270]) {
      const [x, y] = at(RADIUS + (angle % 180 ? 12 : 18), angle);
      drawing.append(pq.svg("text", { class: "degree", x, y: y + 4.5, "text-anchor": "middle" }, `${angle > 180 ? angle - 360 : angle}°`.replace("-", "−")));
    }
    const taken = [0, 90, 180, 270].map((angle) => at(RADIUS + (angle % 180 ? 12 : 18), angle));
    for (const [kind, reach] of [["current", 0.62], ["voltage", 1]]) {
      const own = channels.filter((one) => one.kind === kind && Number.isFinite(one.angle));
      const most = maximum(own.map((one) => one.size));
      for (const one of own) {
        const length = most > 0 ? (reach * RADIUS * one.size) / most : 0;
        if (length < 0.5) continue;
        drawing.append(arrow(one, length, taken));
      }
    }
    const words = channels.map((one) => `${one.name} ${pq.si(one.size, one.unit)} at ${degrees(one.angle)}`).join(", ");
    drawing.setAttribute("aria-label", `Phasors: ${words || "none"}`);
    return drawing;
  };
  const at = (length, angle) => [length * Math.cos(angle * TURN), -length * Math.sin(angle * TURN)];
  const circle = (radius) => `M${radius} 0A${radius} ${radius} 0 1 1 ${-radius} 0A${radius} ${radius} 0 1 1 ${radius} 0Z`;
  const arrow = (one, length, taken) => {
    const [x, y] = at(length, one.angle);
    const head = Math.min(MAX_HEAD, length);
    const [bx, by] = at(length - head, one.angle);
    const [nx, ny] = at(head * 0.42, one.angle + 90);
    // Labels of coinciding phasors are moved apart.
    let [lx, ly] = at(Math.max(length + 11, 22), one.angle);
    for (let tries = 0; tries < 4 && taken.some(([u, v]) => Math.abs(u - lx) < 20 && Math.abs(v - ly) < 12); tries += 1) ly += ly > 0 ? 12 : -12;
    lx = Math.max(-112, Math.min(112, lx));
    ly = Math.max(-116, Math.min(116, ly));
    taken.push([lx, ly]);
    const color = pq.phaseColor(one.phase, one.index);
    const words = `${one.name}: ${pq.si(one.size, one.unit)} at ${degrees(one.angle)}`;
    return pq.svg("g", { class: `phasor ${one.kind}`, "data-channel": one.name, "data-angle": one.angle, "data-size": one.size, style: { color },
      on: { pointermove: (event) => pq.tip(event, words), pointerleave: pq.hideTip } },
    pq.svg("line", { class: "reach", x1: 0, y1: 0, x2: x, y2: y }),
    pq.svg("line", { class: "shaft", x1: 0, y1: 0, x2: bx, y2: by }),
    pq.svg("path", { class: "head", d: `M${x} ${y}L${bx + nx} ${by + ny}L${bx - nx} ${by - ny}Z` }),
    pq.svg("text", { x: lx, y: ly + 4.5, "text-anchor": "middle" }, one.name.length > 5 && one.phase ? one.phase : one.name.slice(0, 6)));
  };

  // Harmonics of several channels: grouped bars of orders 2 to 50, relative to the fundamental.
  // series: [{name, color, fractions (from order 0), thd}]
  pq.spectrum = (holder, series, { width = 760, height = 210, title = "Harmonic spectrum" } = {}) => {
    const [right, top, bottom] = [8, 12, 34];
    const orders = maximum(series.map((one) => one.fractions.length - 1));
    const most = maximum(series.flatMap((one) => one.fractions.slice(2))); // a direct component may be larger: its bar is cut
    const [zero, step] = pq.ticks(0, Math.max(most * 1.02, 0.004), 4);
    const ceiling = Math.max(step * Math.ceil((most * 1.02) / step), step);
    const label = (fraction) => `${Number((100 * fraction).toPrecision(3))} %`;
    const left = 14 + 6.4 * Math.max(...[zero, step, ceiling - step, ceiling].map((fraction) => label(fraction).length));
    const slot = (width - left - right) / (orders || 1);
    const place = (order) => left + (order < 1 ? 0 : order - 1) * slot; // order 0 comes first, order 1 is omitted
    const y = (fraction) => height - bottom - (Math.min(fraction, ceiling) / ceiling) * (height - top - bottom);
    const drawing = pq.svg("svg", { class: "spectrum", viewBox: `0 0 ${width} ${height}`, role: "img", "data-ceiling": ceiling,
      "aria-label": `${title}: ${series.map((one) => `${one.name}, THD ${pq.percent(one.thd)}`).join("; ") || "nothing"}` });
    for (let fraction = 0; fraction <= ceiling * 1.0001; fraction += step) {
      drawing.append(pq.svg("line", { class: "grid", x1: left, x2: width - right, y1: y(fraction), y2: y(fraction) }),
        pq.svg("text", { x: left - 5, y: y(fraction) + 4, "text-anchor": "end" }, label(fraction)));
    }
    const every = slot < 12 ? 5 : 1;
    for (let order = 0; order <= orders; order += 1) {
      if (order === 1) continue;
      if (order === 0 || order % (every === 1 ? (slot < 18 ? 2 : 1) : every) === (every === 1 && slot < 18 ? 1 : 0)) {
        drawing.append(pq.svg("text", { x: place(order) + slot / 2, y: height - bottom + 14, "text-anchor": "middle" }, order === 0 ? "DC" : String(order)));
      }
      const bar = (0.8 * slot) / Math.max(series.length, 1);
      series.forEach((one, i) => {
        const fraction = one.fractions[order];
        if (!Number.isFinite(fraction)) return;
        drawing.append(pq.svg("rect", { class: "bar", x: place(order) + 0.1 * slot + i * bar, y: y(fraction), width: Math.max(bar - 0.3, 0.5), height: Math.max(height - bottom - y(fraction), 0),
          "data-order": order, "data-fraction": fraction, "data-series": one.name, style: { fill: one.color }, "fill-opacity": one.faint ? 0.45 : null }));
      });
      const words = `${order ? `order ${order}` : "DC"}${orderFrequency(series, order)}\n${series.map((one) => `${one.name}: ${pq.percent(one.fractions[order], 2)}`).join("\n")}`;
      drawing.append(pq.svg("rect", { class: "catch", x: place(order), y: top, width: slot, height: height - top - bottom,
        on: { pointermove: (event) => pq.tip(event, words), pointerleave: pq.hideTip } }));
    }
    drawing.append(pq.svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
      pq.svg("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, "harmonic order"));
    holder.replaceChildren(drawing);
    return drawing;
  };
  const orderFrequency = (series, order) => (Number.isFinite(series[0]?.frequency) ? `, ${pq.number(order * series[0].frequency, 4)} Hz` : "");
})();
