// What the page of events does beyond a report's: kinds that are shown alone, and rows that points lead to.
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
  // A link to a row that is hidden shows it.
  window.addEventListener("hashchange", () => {
    const row = rows.find((one) => `#${one.id}` === window.location.hash);
    if (row?.hidden) {
      show("");
      row.scrollIntoView({ block: "center" });
    }
  });
})();
