// The room of events.
"use strict";
(() => {
  const pq = window.pq;
  pq.app.register("events", {
    title: "Events",
    open(holder) { holder.append(pq.el("p", { class: "soft" }, "Nothing yet.")); },
    update() {},
    close() {},
    message() {},
  });
})();
