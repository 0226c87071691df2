// Form fields of the events section: a slider and a number for each parameter, with its usual range marked.
"use strict";
(() => {
  const pq = window.pq;
  const LOG_STEPS = 200;

  const rounded = (value) => String(Number(value.toPrecision(3))).replace("-", "−");
  const shown = (value) => String(Number(value.toPrecision(5)));

  // One parameter; `onchange(name, value)` receives a number, or null to use the value drawn by the preset.
  class Field {
    constructor(field, onchange) {
      const id = `field-${field.name}`;
      this.name = field.name;
      this.onchange = onchange;
      this.slider = pq.el("input", { type: "range", id: `${id}-slider`, "aria-label": field.title, on: { input: () => this.#slide() } });
      this.number = pq.el("input", { type: "number", step: "any", id, "aria-describedby": `${id}-error`, on: { input: () => this.#type(), blur: () => this.write(this.field) } });
      this.back = pq.el("button", { class: "back", title: "Reset to the value drawn by the preset", "aria-label": `${field.title}: reset to the value drawn by the preset`, on: { click: () => this.#tell(null) } }, "↺");
      this.usual = pq.el("span", { class: "usual", "aria-hidden": "true" });
      this.hint = pq.el("span", { class: "hint" });
      this.error = pq.el("p", { class: "error", id: `${id}-error`, role: "alert", hidden: true });
      this.element = pq.el("div", { class: "field", "data-field": field.name },
        pq.el("label", { for: id, title: field.meaning }, field.title, field.unit ? pq.el("span", { class: "soft" }, ` [${field.unit}]`) : ""),
        pq.el("span", { class: "value" }, this.number, this.back),
        pq.el("span", { class: "track" }, this.usual, this.slider), this.hint, this.error);
      this.write(field);
    }

    // Update from the server; a value being typed is left alone.
    write(field) {
      this.field = field;
      const { low, high, step, log, usual, given, value } = field;
      Object.assign(this.slider, log ? { min: 0, max: LOG_STEPS, step: 1 } : { min: low, max: high, step });
      if (value !== null) {
        const place = log ? Math.round(this.#share(value) * LOG_STEPS) : value;
        if (document.activeElement !== this.slider || !given) this.slider.value = place;
        this.slider.setAttribute("aria-valuetext", `${shown(value)} ${field.unit}`.trim());
        if (document.activeElement !== this.number) this.number.value = shown(value);
      }
      this.back.style.visibility = given ? "visible" : "hidden";
      const [from, to] = usual.map((end) => 100 * Math.min(Math.max(this.#share(end), 0), 1));
      Object.assign(this.usual.style, { left: `${from}%`, width: `${Math.max(to - from, 1)}%` });
      const text = usual[0] === usual[1] ? shown(usual[0]) : `${rounded(usual[0])} to ${rounded(usual[1])}`;
      this.hint.textContent = field.hint ?? `preset: ${text}`;
    }

    // A rejected value stays in the field, to be fixed.
    fail(sentence, value) {
      if (value !== undefined && document.activeElement !== this.number) this.number.value = value;
      this.error.textContent = sentence;
      this.error.hidden = !sentence;
      this.number.setAttribute("aria-invalid", String(Boolean(sentence)));
    }

    #share(value) {
      const { low, high, log } = this.field;
      return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    }

    #slide() {
      const { low, high, log } = this.field;
      const place = Number(this.slider.value);
      const value = log ? Number((low * (high / low) ** (place / LOG_STEPS)).toPrecision(3)) : Number(place.toPrecision(12));
      this.number.value = shown(value);
      this.slider.setAttribute("aria-valuetext", `${shown(value)} ${this.field.unit}`.trim());
      this.#tell(value);
    }

    #type() {
      if (this.number.value === "" && this.number.validity.badInput) this.fail(`${this.name} must be a number.`);
      else this.#tell(this.number.value === "" ? null : Number(this.number.value));
    }

    #tell(value) {
      this.onchange(this.name, value);
    }
  }

  const GROUPS = [["disturbance", "Disturbance"], ["supply", "Supply"], ["record", "Record"]];

  // All fields of an event in groups; long groups are collapsed.
  const build = (holder, fields, onchange) => {
    const found = new Map();
    holder.replaceChildren(...GROUPS.map(([group, title]) => {
      const own = fields.filter((field) => field.group === group);
      if (!own.length) return "";
      const elements = own.map((field) => {
        const one = new Field(field, onchange);
        found.set(field.name, one);
        return one.element;
      });
      const rest = own.length > 8 ? elements.splice(4) : [];
      return pq.el("fieldset", { "data-group": group }, pq.el("legend", {}, title), elements,
        rest.length ? pq.el("details", {}, pq.el("summary", {}, `${rest.length} more`), rest) : "");
    }));
    return found;
  };

  pq.bench = Object.assign(pq.bench || {}, { Field, buildFields: build });
})();
