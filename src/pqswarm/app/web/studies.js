// The room of studies.
"use strict";
(() => {
  const pq = window.pq;
  pq.app.register("studies", {
    title: "Studies",
    open(holder) { holder.append(pq.el("p", { class: "soft" }, "Nothing yet.")); },
    update() {},
    close() {},
    message() {},
  });
})();
