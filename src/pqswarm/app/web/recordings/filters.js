// The filters of the list and of the statistics: types, dates, station, class, cause, severity, words and order.
"use strict";
(() => {
  const pq = window.pq;
  const { className, count, swatch, firstDay, lastDay, afterDay, isFiltered, store } = pq.recordings;
  const TYPING = 300; // milliseconds
  const ORDERS = { "": "newest first", oldest: "oldest first", worst: "worst first" };
  const SEVERITIES = { "": "any severity", "0.5": "severity 0.5 or more", "1": "1 or more: below SEMI F47", "1.5": "1.5 or more" };

  // new pq.Filters(holder, {path, order: whether rows have one}): writes every change into the address, which the tab follows.
  pq.Filters = class {
    constructor(holder, { path, order = false }) {
      Object.assign(this, { path, filters: null, found: null });
      this.chips = pq.el("div", { class: "chips", role: "group", "aria-label": "Kinds of events" });
      const select = (name, label) => pq.el("select", { name, "aria-label": label, on: { change: (event) => this.set({ [name]: event.target.value }) } });
      this.selects = { station: select("station", "Station"), label: select("label", "Class"), cause: select("cause", "Cause"), severity: select("severity", "Severity"), ...(order ? { order: select("order", "Order") } : {}) };
      const date = (name, label, value) => pq.el("input", { type: "date", name, "aria-label": label, on: { change: (event) => this.set({ [name]: value(event.target.value) }) } });
      this.from = date("from", "First day", (given) => given);
      this.to = date("to", "Last day", afterDay);
      this.words = pq.el("input", { type: "search", name: "text", placeholder: "Search", "aria-label": "Search events", on: { input: () => this.type(), change: () => this.set({ text: this.words.value.trim() }) } });
      this.hidden = pq.el("input", { type: "checkbox", name: "hidden", on: { change: () => this.set({ hidden: this.hidden.checked ? "1" : "" }) } });
      this.clear = pq.el("button", { "data-act": "clear", on: { click: () => this.set(Object.fromEntries(Object.keys(this.filters).filter((name) => name !== "order").map((name) => [name, ""]))) } }, "Clear filters");
      this.count = pq.el("span", { class: "soft count", role: "status" });
      this.fold = pq.el("details", { class: "filter-fields", open: window.innerWidth > 640 }, pq.el("summary", {}, "Filters"),
        pq.el("div", { class: "row" }, pq.el("span", { class: "dates" }, this.from, "to", this.to), ...Object.values(this.selects), this.words,
          pq.el("label", { class: "soft" }, this.hidden, " show rejected events"), this.clear));
      this.element = pq.el("search", { class: "filters" }, this.chips, this.fold, pq.el("div", { class: "row" }, this.count));
      holder.append(this.element);
    }

    destroy() {
      clearTimeout(this.typing);
    }

    // Write a change into the address; the tab then applies the route.
    set(change) {
      clearTimeout(this.typing);
      const next = { ...this.filters, ...change };
      pq.app.go("recordings", this.path, next);
    }

    type() {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.set({ text: this.words.value.trim() }), TYPING);
    }

    toggle(type) {
      const types = this.filters.type;
      this.set({ type: types.includes(type) ? types.filter((one) => one !== type) : [...types, type] });
    }

    // Show the filters of the address, what can be chosen, and the numbers of the selection.
    show(filters, found = null) {
      Object.assign(this, { filters, found: found ?? this.found });
      const { facets } = store;
      const choose = (name, all, options) => {
        const chosen = filters[name];
        const value = Array.isArray(chosen) ? (chosen.length > 1 ? "several" : chosen[0] ?? "") : chosen;
        const known = new Map([["", all], ...options]);
        if (value === "several") known.set(value, `${chosen.length} chosen`);
        else if (!known.has(value)) known.set(value, value);
        this.selects[name].replaceChildren(...[...known].map(([one, title]) => pq.el("option", { value: one }, title)));
        this.selects[name].value = value;
      };
      const counted = (numbers, title) => Object.entries(numbers).filter(([name]) => name).sort(([a], [b]) => a.localeCompare(b)).map(([name, n]) => [name, `${title(name)} (${n.toLocaleString("en")})`]);
      choose("station", "all stations", facets.stations.map((one) => [String(one.id), `${one.name || "without a name"} (${one.n.toLocaleString("en")})`]));
      choose("label", "all classes", counted(facets.labels, className));
      choose("cause", "all causes", counted(facets.causes, (name) => name));
      choose("severity", SEVERITIES[""], Object.entries(SEVERITIES).slice(1));
      if (this.selects.order) choose("order", ORDERS[""], Object.entries(ORDERS).slice(1));
      this.from.value = firstDay(filters.from);
      this.to.value = lastDay(filters.to);
      this.hidden.checked = Boolean(filters.hidden);
      if (document.activeElement !== this.words) this.words.value = filters.text;
      this.clear.hidden = !isFiltered(filters);
      const focused = this.chips.contains(document.activeElement) ? document.activeElement.dataset.type : null;
      const types = Object.keys(store.types).filter((type) => facets.types[type] || filters.type.includes(type));
      const number = (type) => (filters.type.length && !filters.type.includes(type) ? "" : ` ${(this.found?.types?.[type] ?? 0).toLocaleString("en")}`);
      this.chips.replaceChildren(...types.map((type) => pq.el("button", { class: "chip", "data-type": type, "aria-pressed": String(filters.type.includes(type)), on: { click: () => this.toggle(type) } },
        swatch(type), store.types[type].title, this.found ? pq.el("span", { class: "soft" }, number(type)) : "")));
      if (focused) this.chips.querySelector(`[data-type="${CSS.escape(focused)}"]`)?.focus();
      const total = this.found?.total ?? 0;
      const among = filters.hidden ? count(total, "event") : `${total.toLocaleString("en")} of ${count(facets.total, "event")}`; // not of rejected ones
      this.count.textContent = this.found && isFiltered(filters) ? among : "";
      this.element.hidden = !facets.total && !isFiltered(filters);
    }
  };
})();
