// The recordings section: the state of all recordings, kept up to date, and the choice between list and recording.
"use strict";
(() => {
  const pq = window.pq;
  const WAIT = 250; // minimum time between two redraws [ms]

  const file = (id) => id.split("-")[0];

  pq.recordings = {
    // The title of a class.
    className: (label) => (label ? store.classes[label] ?? label.replaceAll("_", " ") : ""),
    kindTitle: (row) => store.kinds[row.kind]?.title ?? row.kind,
    // The magnitude of an event; pu as percent of the reference.
    magnitude: (row) => (row.magnitude === "" || row.magnitude === null || row.kind === "none" ? null : row.unit === "pu" ? 100 * row.magnitude : row.magnitude),
    magnitudeText(row) {
      const size = pq.recordings.magnitude(row);
      if (size === null || !Number.isFinite(size)) return "";
      return `${size < 1 ? pq.fixed(size, 2) : pq.number(size, size >= 1000 ? 4 : 3)} ${row.unit === "pu" || !row.unit ? "%" : row.unit}`;
    },
    durationText: (row) => (Number.isFinite(row.duration_s) && row.duration_s > 0 ? pq.seconds(row.duration_s) : ""),
    when: (row) => (row.date ? `${row.date} ${row.time}` : `+${pq.fixed(row.offset_s, 3)} s`),
    agreementWord: (row) => String(row.agreement || "").split(":")[0],
    swatch: (kind) => pq.el("span", { class: "swatch", style: { background: pq.kindColour(kind) } }),
    stateText: (one) => ({ waiting: one.reason || "queued", working: `${Math.round(100 * (one.share || 0))} %`, failed: one.reason || "failed",
      analysed: one.n_events ? `${one.n_events} ${one.n_events === 1 ? "event" : "events"}` : "no events" })[one.state] ?? one.state,
  };

  // State of all recordings; the visible page is notified of changes.
  const store = (pq.recordings.store = {
    recordings: [], rows: [], kinds: {}, classes: {}, folder: "", note: "", analysing: false, total: 0, known: false, limit: null,

    async load(signal) {
      const answer = await pq.app.api("/api/recordings", { signal });
      Object.assign(store, { ...answer, limit: answer.max_bytes ?? null, known: true });
      notifySoon.now();
    },

    take(message) {
      if (message.state === "working") {
        const one = store.recordings.find((other) => other.id === message.id);
        if (one) Object.assign(one, { state: "working", share: message.share });
        page?.progressed?.(one);
        return false;
      } else if (message.state === "analysed" || message.state === "failed") {
        if (!message.rows || !message.recordings) return true;
        const own = (id) => file(id) === file(message.id);
        const place = store.recordings.findIndex((one) => own(one.id));
        store.recordings = store.recordings.filter((one) => !own(one.id));
        store.recordings.splice(place < 0 ? store.recordings.length : place, 0, ...message.recordings);
        store.rows = [...store.rows.filter((row) => !own(row.recording)), ...message.rows];
      } else if (message.state === "corrected") {
        const row = store.rows.find((one) => one.recording === message.id && one.event === message.event);
        if (row) row.correction = message.correction;
      } else return true;
      notifySoon();
      return false;
    },
  });

  let timer = 0;
  const notifySoon = () => {
    timer ||= setTimeout(notifySoon.now, WAIT);
  };
  notifySoon.now = () => {
    clearTimeout(timer);
    timer = 0;
    page?.changed?.();
  };

  // The section.
  let holder = null;
  let page = null;
  let shown = null; // the recording, "" for the list
  let beside = ""; // the recording on the same axis
  let end = new AbortController();
  let loading = null;
  const reload = () => {
    loading ??= store.load(end.signal).catch((error) => pq.app.fail(error, holder)).finally(() => { loading = null; });
  };

  const show = (route) => {
    const other = route.query.get("with") ?? "";
    if (page && shown === route.path && beside === other) {
      page.apply(route);
      return;
    }
    page?.destroy();
    const from = shown;
    [shown, beside] = [route.path, other];
    holder.replaceChildren();
    pq.hideTip();
    page = !shown ? new pq.EventList(holder, route, from) : beside ? new pq.ComparePage(holder, shown, route) : new pq.RecordingPage(holder, shown, route);
  };

  pq.recordings.reopen = () => {
    shown = null;
    show(pq.app.parse());
  };

  pq.app.register("recordings", {
    title: "Recordings",
    open(given, route) {
      holder = given;
      end = new AbortController();
      show(route);
      reload();
    },
    update: show,
    close() {
      end.abort();
      page?.destroy();
      page = shown = null;
    },
    message(message) {
      if (message.about === "again") {
        reload();
        page?.message?.({ state: "again" });
      } else if (message.about === "recordings") {
        if (store.take(message)) reload();
        page?.message?.(message);
      }
    },
  });
})();
