// The room of recordings.
"use strict";
(() => {
  const pq = window.pq;
  pq.app.register("recordings", {
    title: "Recordings",
    open(holder) { holder.append(pq.el("p", { class: "soft" }, "Nothing yet.")); },
    update() {},
    close() {},
    message() {},
  });
})();
