// Figures of the events section: thumbnails, verdicts, wavelet bands, sweeps.
"use strict";
(() => {
  const pq = window.pq;
  const LEVELS = ["interruption", "sag", "none", "swell"];
  const SINGLE = { pure_sinusoid: "none", oscillatory_transient: "transient", impulsive_transient: "transient", dc_offset: "dc-offset" };

  // Colour of a class: that of its main disturbance.
  const colourOf = (name) => pq.kindColour(SINGLE[name] || String(name).split("_with_")[0]);

  // The area between minimum and maximum as one path; x from 0 to width.
  const band = (low, high, width, y) => {
    const n = low.length;
    const x = (i) => ((i + 0.5) * width / n).toFixed(1);
    let top = "", bottom = "";
    for (let i = 0; i < n; i += 1) {
      if (!Number.isFinite(low[i])) continue;
      top += `${top ? "L" : "M"}${x(i)} ${y(high[i]).toFixed(1)}`;
      bottom = `L${x(i)} ${y(low[i]).toFixed(1)}${bottom}`;
    }
    return top ? `${top}${bottom}Z` : "";
  };

  const thumbnail = (one) => {
    const drawing = pq.svg("svg", { class: "thumbnail", viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" });
    if (one.low === null) return drawing;
    const [low, high] = [pq.floats(one.low), pq.floats(one.high)];
    const size = Math.max(1.25, ...high, ...Array.from(low, (value) => -value));
    drawing.append(pq.svg("path", { d: band(low, high, 100, (value) => 20 - 18 * value / size), style: { fill: colourOf(one.name), stroke: colourOf(one.name) } }));
    return drawing;
  };

  // Voltage level according to rules or model: interruption, sag, none or swell.
  const scale = (who, level) => pq.el("span", { class: "level-scale", role: "img", "aria-label": `${who}: ${level}` },
    LEVELS.map((name) => pq.el("span", { class: "level", "data-active": String(name === level), style: name === level ? `--own: ${pq.kindColour(name)}` : null }, name)));

  const percent = (share) => pq.percent(share, 0);

  const modelSays = (model) => (model.known ? (model.class ? `${model.title}${model.probability === null ? "" : `, ${percent(model.probability)}`}` : "not applied") : "unlike any training event");
  const short = ({ rules, model }) => [`Rules: ${rules.title}`, pq.el("br"), `Model: ${modelSays(model)}`];

  const opinion = (summary) => {
    const { rules, model } = summary;
    const said = modelSays(model);
    const row = (who, data, title) => pq.el("tr", { "data-said": who, "data-level": data.level, "data-class": data.class },
      pq.el("th", { scope: "row" }, who === "rules" ? "Rules" : "Model"),
      pq.el("td", { class: "title" }, pq.el("span", { class: "swatch", style: { background: colourOf(data.class) } }), title),
      pq.el("td", {}, scale(who === "rules" ? "Rules" : "Model", data.level)));
    return pq.el("table", { class: "said" }, pq.el("tbody", {}, row("rules", rules, rules.title), row("model", model, said)));
  };

  const agreement = (text) => {
    const kind = text.startsWith("agree") ? "good" : text.startsWith("disagree") ? "bad" : "soft";
    return pq.el("p", { class: `agreement ${kind}`, "data-read": "agreement" }, `${/^(dis)?agree/.test(text) ? `Rules and model ${text}` : text[0].toUpperCase() + text.slice(1)}.`);
  };

  const bars = (event) => pq.el("ol", { class: "bars", "aria-label": "Probabilities by the model" },
    event.probabilities.slice(0, 6).map((one) => pq.el("li", { "data-class": one.class },
      pq.el("span", { class: "name" }, one.title),
      pq.el("span", { class: "share-bar" }, pq.el("span", { style: { width: `${(100 * one.share).toFixed(1)}%`, background: colourOf(one.class) } })),
      pq.el("span", { class: "share" }, one.share < 0.005 ? "< 1 %" : percent(one.share)))));

  const bands = (holder, answer) => pq.bandStrips(holder, answer.bands.map((one) => ({ ...one, from: 0 })),
    { left: 60, width: Math.max(190, holder.clientWidth - 70), from: 0, to: answer.seconds, unit: "pu", axis: true });

  // Intervals of a sweep with the same verdict.
  const runs = (steps, say) => {
    const found = [];
    steps.forEach((step, i) => {
      const name = step.error ? "" : say(step);
      const last = found.at(-1);
      if (last && last.name === name) last.to = i;
      else found.push({ name, from: i, to: i, step });
    });
    return found;
  };

  // The verdicts of rules and model while a parameter varies.
  const sweep = (holder, { steps, field, count, low, high, log, value, onchoose }) => {
    const width = Math.max(260, holder.clientWidth);
    const left = 50, right = 8, top = 8, plot = 120, ribbon = 24;
    const inner = width - left - right;
    const height = top + plot + 2 * (ribbon + 6) + 52;
    const place = (x) => (log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
    const x = (v) => left + inner * Math.min(Math.max(place(v), 0), 1);
    const y = (share) => top + plot * (1 - share);
    const half = inner / Math.max(count - 1, 1) / 2;
    const drawing = pq.svg("svg", { class: "sweep", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Verdicts of rules and model while ${field.title} varies` });
    for (const share of [0, 0.5, 1]) drawing.append(pq.svg("path", { class: "grid", d: `M${left} ${y(share)}H${width - right}` }), pq.svg("text", { class: "soft", x: left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share)));
    const [start, end] = field.usual;
    if (end > start) drawing.append(pq.svg("rect", { class: "usual", x: x(start), y: top, width: Math.max(x(end) - x(start), 0), height: plot }, pq.svg("title", {}, "range of the preset")));
    const known = steps.filter((step) => !step.error);
    const points = known.map((step) => [x(step.value), y(step.model.probability ?? 0), step]);
    drawing.append(pq.svg("path", { class: "line", d: points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("") }));
    for (const [a, b, step] of points) drawing.append(pq.svg("circle", { class: "dot", cx: a.toFixed(1), cy: b.toFixed(1), r: 3.5, style: { fill: colourOf(step.model.class) } }));
    [["rules", "Rules", (step) => step.rules.title, (step) => step.rules.class], ["model", "Model", (step) => step.model.title || "not applied", (step) => step.model.class]].forEach(([who, word, say, name], row) => {
      const above = top + plot + 8 + row * (ribbon + 6);
      drawing.append(pq.svg("text", { x: 0, y: above + 16 }, word));
      for (const run of runs(steps, say)) {
        const from = Math.max(left, x(steps[run.from].value) - half), to = Math.min(width - right, x(steps[run.to].value) + half);
        const colour = run.name ? colourOf(name(run.step)) : "var(--line)";
        const group = pq.svg("g", { class: "run", "data-who": who, "data-class": run.name ? name(run.step) : "" }, pq.svg("title", {}, run.name || "not possible"),
          pq.svg("rect", { x: from.toFixed(1), y: above, width: Math.max(to - from, 1).toFixed(1), height: ribbon, style: { fill: colour } }));
        const letters = Math.floor((to - from - 8) / 6.4);
        if (letters >= 4) group.append(pq.svg("text", { x: (from + 5).toFixed(1), y: above + 16 }, run.name.length > letters ? `${run.name.slice(0, letters - 1)}…` : run.name));
        drawing.append(group);
      }
    });
    const bottom = top + plot + 8 + 2 * (ribbon + 6);
    const ticks = log ? pq.logTicks(low, high) : pq.ticks(low, high, width < 560 ? 4 : 8);
    for (const tick of ticks) drawing.append(pq.svg("path", { class: "grid", d: `M${x(tick).toFixed(1)} ${bottom - 4}v5` }), pq.svg("text", { x: x(tick).toFixed(1), y: bottom + 14, "text-anchor": "middle" }, String(Number(tick.toPrecision(6)))));
    drawing.append(pq.svg("text", { class: "soft", x: left, y: bottom + 32 }, `${field.title}${field.unit ? ` [${field.unit}]` : ""}; line: probability of the model's class`));
    if (value !== null && value >= low && value <= high) drawing.append(pq.svg("path", { class: "now", d: `M${x(value).toFixed(1)} ${top}V${bottom - 4}` }, pq.svg("title", {}, "current value")));
    const nearest = (event) => {
      const box = drawing.getBoundingClientRect();
      const at = (event.clientX - box.left) * width / box.width;
      return steps.reduce((best, step) => (Math.abs(x(step.value) - at) < Math.abs(x(best.value) - at) ? step : best), steps[0]);
    };
    drawing.addEventListener("pointermove", (event) => {
      if (!steps.length) return;
      const step = nearest(event);
      pq.tip(event, `${field.title} ${pq.number(step.value, 4)} ${field.unit}\n` + (step.error ? step.error :
        `rules: ${step.rules.title}\nmodel: ${step.model.title}${step.model.probability === null ? "" : `, ${percent(step.model.probability)}`}\n${step.agreement}`));
    });
    drawing.addEventListener("pointerleave", pq.hideTip);
    drawing.addEventListener("click", (event) => steps.length && onchoose(nearest(event).value));
    const changes = [];
    for (const [word, say] of [["rules", (step) => step.rules.title], ["model", (step) => step.model.title || "not applied"]]) {
      const list = runs(steps, say);
      for (let i = 1; i < list.length; i += 1) {
        if (list[i].name && list[i - 1].name) changes.push({ at: list[i].step.value, text: `${pq.number(list[i].step.value, 3)} ${field.unit}: ${word} change${word === "model" ? "s" : ""} from ${list[i - 1].name} to ${list[i].name}` });
      }
    }
    changes.sort((one, other) => one.at - other.at);
    holder.replaceChildren(drawing, pq.el("ul", { class: "changes" }, changes.map((one) => pq.el("li", {}, pq.el("button", { on: { click: () => onchoose(one.at) } }, one.text)))));
  };

  pq.bench = { thumbnail, short, opinion, agreement, bars, bands, sweep, colourOf };
})();
