// Specifications of a multiverse: a click shows what one sets; selects above each curve filter by choice, in all figures.
"use strict";
(() => {
  const pq = window.pq;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const specifications = document.querySelector('[data-name="specifications"] table');
  const keyed = all("svg .mark[data-key]");
  if (specifications && keyed.length) {
    const heads = [...specifications.tHead.rows[0].cells].map((head) => head.textContent);
    const rows = [...specifications.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
    const cells = [...specifications.tBodies[0].rows[0].cells];
    const choices = heads.map((head, column) => column).filter((column) => column && !cells[column].classList.contains("number"));
    const wanted = new Map();
    const selects = [];
    const filter = (column, value) => {
      wanted.set(column, value);
      for (const [one, select] of selects) if (one === column) select.value = value;
      const kept = new Set(rows.filter((row) => [...wanted].every(([one, name]) => !name || row[one] === name)).map((row) => row[0]));
      for (const mark of keyed) mark.classList.toggle("dim", !kept.has(mark.dataset.key));
    };
    const chooser = (column) => {
      const names = [...new Set(rows.map((row) => row[column]))];
      const select = pq.el("select", { on: { change: (event) => filter(column, event.target.value) } },
        pq.el("option", { value: "" }, "all"), names.map((name) => pq.el("option", { value: name }, name)));
      selects.push([column, select]);
      return pq.el("label", {}, `${heads[column]} `, select);
    };
    for (const figure of all("figure.drawing").filter((one) => one.querySelector(".mark[data-key]"))) {
      figure.querySelector(".tools").prepend(...choices.map(chooser));
    }
    for (const mark of keyed) {
      mark.addEventListener("click", () => {
        const plan = document.getElementById(`specification-${mark.dataset.key.toLowerCase()}`);
        if (!plan) return;
        plan.open = true;
        plan.scrollIntoView({ block: "center" });
      });
    }
  }
})();
