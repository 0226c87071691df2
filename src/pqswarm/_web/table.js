// A sortable table whose rows can be selected with mouse or keyboard.
"use strict";
(() => {
  const pq = window.pq;

  // new pq.Table(holder, {caption, columns: [{key, title, number, text, value, show, help}], rows, key, onclick, note, empty, limit}):
  // at first `limit` rows are drawn, the rest on demand. If the server orders the rows, `onsort(column)` is called for columns with
  // `orders: {name: "ascending" or "descending"}`, and show(order, rows, text) draws a page of them; `onmore` loads the next.
  // rowClass(row) and isHidden(row) describe a row.
  pq.Table = class {
    constructor(holder, options) {
      this.options = { key: (row) => row.id, empty: "Nothing yet.", ...options };
      this.order = null;
      this.limit = this.options.limit ?? Infinity;
      this.chosen = null;
      this.caption = pq.el("figcaption", {}, this.options.caption || "");
      this.tools = pq.el("div", { class: "tools" });
      this.head = pq.el("tr");
      this.body = pq.el("tbody");
      this.scroll = pq.el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": this.options.caption || "Table" },
        pq.el("table", {}, pq.el("thead", {}, this.head), this.body));
      this.note = pq.el("p", { class: "note" }, this.options.note || "");
      this.element = pq.el("figure", { class: "table" }, this.caption, this.tools, this.scroll, this.note);
      holder.append(this.element);
      this.options.columns.forEach((column, i) => {
        const { onsort } = this.options;
        const act = !onsort ? () => this.sort(i) : column.orders ? () => onsort(column) : null;
        const content = act ? pq.el("button", { title: column.help || null, on: { click: act } }, column.title) : column.title;
        this.head.append(pq.el("th", { scope: "col", class: column.number ? "number" : null, title: act ? null : column.help || null, "data-column": column.key }, content));
      });
      this.body.addEventListener("click", (event) => this.#choose(event.target));
      this.body.addEventListener("keydown", (event) => this.#key(event));
      this.update(this.options.rows || []);
    }

    value(column, row) {
      return column.value ? column.value(row) : row[column.key];
    }

    text(column, row) {
      const value = column.text ? column.text(row) : row[column.key];
      return value === null || value === undefined ? "" : String(value);
    }

    // Ascending, descending, original order.
    sort(i) {
      const down = this.order?.[0] === i ? this.order[1] : null;
      this.order = down === null ? [i, false] : down ? null : [i, true];
      this.update(this.rows);
    }

    sorted() {
      if (!this.order) return this.rows;
      const [i, down] = this.order;
      const column = this.options.columns[i];
      return [...this.rows].sort((first, second) => pq.compare(this.value(column, first), this.value(column, second), down));
    }

    update(rows) {
      this.rows = rows;
      const focus = this.body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      this.head.querySelectorAll("th").forEach((cell, i) => {
        const { onsort, columns } = this.options;
        const given = onsort ? columns[i].orders?.[this.given] : this.order?.[0] === i && (this.order[1] ? "descending" : "ascending");
        if (!onsort || columns[i].orders) cell.setAttribute("aria-sort", given || "none");
      });
      this.body.replaceChildren(...this.sorted().slice(0, this.limit).map((row) => {
        const key = String(this.options.key(row));
        const cells = this.options.columns.map((column, i) => {
          const content = column.show ? column.show(row) : this.text(column, row);
          return pq.el(i ? "td" : "th", { class: column.number ? "number" : null, "data-column": column.key, scope: i ? null : "row" }, content);
        });
        const can = Boolean(this.options.onclick);
        const look = [can ? "link" : "", this.options.rowClass?.(row) ?? ""].join(" ").trim();
        return pq.el("tr", { "data-key": key, tabindex: can ? 0 : null, class: look || null, hidden: Boolean(this.options.isHidden?.(row)), "aria-selected": can ? String(key === this.chosen) : null }, cells);
      }));
      if (!rows.length) {
        this.body.append(pq.el("tr", { class: "empty" }, pq.el("td", { colspan: this.options.columns.length }, this.options.empty)));
      }
      if (rows.length > this.limit) {
        const more = () => { this.limit *= 4; this.update(this.rows); };
        this.body.append(pq.el("tr", { class: "empty" }, pq.el("td", { colspan: this.options.columns.length },
          `${this.limit} of ${rows.length} rows shown. `, pq.el("button", { on: { click: more } }, "Show more"))));
      }
      if (focus !== null) this.row(focus)?.focus({ preventScroll: true });
    }

    // A page of rows that the server has ordered; text says how many there are, if there are more.
    show(order, rows, text) {
      this.given = order;
      this.update(rows);
      if (!text) return;
      this.body.append(pq.el("tr", { class: "empty more" }, pq.el("td", { colspan: this.options.columns.length }, text, pq.el("button", { on: { click: () => this.options.onmore() } }, "Show more"))));
    }

    row(key) {
      return [...this.body.rows].find((one) => one.dataset.key === String(key));
    }

    select(key) {
      this.chosen = key === null || key === undefined ? null : String(key);
      for (const row of this.body.rows) {
        if (row.hasAttribute("aria-selected")) row.setAttribute("aria-selected", String(row.dataset.key === this.chosen));
      }
    }

    // All rows, in the order shown.
    csv(columns = this.options.columns) {
      return pq.csv([columns.map((column) => column.key), ...this.sorted().map((row) => columns.map((column) => this.value(column, row)))]);
    }

    #choose(target) {
      const row = target.closest("tr[data-key]");
      if (!row || !this.options.onclick || target.closest("a, button, select, input")) return;
      const found = this.rows.find((one) => String(this.options.key(one)) === row.dataset.key);
      if (!found) return;
      this.select(row.dataset.key);
      this.options.onclick(found);
    }

    #key(event) {
      const row = event.target.closest("tr[data-key]");
      if (!row || event.target !== row) return;
      const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      let next = step && row[step];
      while (next?.hidden) next = next[step];
      if (next) next.focus();
      else if (event.key === "Enter" || event.key === " ") this.#choose(row);
      else return;
      event.preventDefault();
    }
  };
})();
