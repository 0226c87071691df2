// The recordings section: what all its tabs share, and the choice between list, statistics, stations, log and one recording.
"use strict";
(() => {
  const pq = window.pq;
  const WAIT = 250; // milliseconds before a change is drawn
  const PAUSE = 2000; // minimum time between two reloads because of changes [ms]
  const LISTS = ["station", "type", "label", "cause"];
  const WORDS = ["from", "to", "severity", "text", "hidden", "order"];

  const file = (id) => id.split("-")[0];
  const day = (date, shift) => {
    const moment = new Date(`${`${date}-01-01`.slice(0, 10)}T00:00:00Z`);
    moment.setUTCDate(moment.getUTCDate() + shift);
    return Number.isFinite(moment.getTime()) ? moment.toISOString().slice(0, 10) : "";
  };

  pq.recordings = {
    // The title of a class.
    className: (label) => (label ? store.classes[label] ?? label.replaceAll("_", " ") : ""),
    typeTitle: (row) => store.types[row.type]?.title ?? row.type,
    // The magnitude of an event; pu as percent of the reference.
    magnitude: (row) => (row.magnitude === "" || row.magnitude === null ? null : row.unit === "pu" ? 100 * row.magnitude : row.magnitude),
    magnitudeText(row) {
      const size = pq.recordings.magnitude(row);
      if (size === null || !Number.isFinite(size)) return "";
      return `${size < 1 ? pq.fixed(size, 2) : pq.number(size, size >= 1000 ? 4 : 3)} ${row.unit === "pu" || !row.unit ? "%" : row.unit}`;
    },
    durationText: (row) => (Number.isFinite(row.duration_s) && row.duration_s > 0 ? `${row.cut ? "≥ " : ""}${pq.seconds(row.duration_s)}` : ""),
    // The one class that is shown: by hand, by the model, or by the rules if it was not asked.
    classOf: (row) => pq.recordings.className(row.by_hand || row.label || row.rule_label),
    when: (row) => (row.date ? `${row.date} ${row.time}` : `+${pq.fixed(row.offset_s, 3)} s`),
    moment: (iso) => String(iso ?? "").replace("T", " ").slice(0, 16),
    swatch: (type) => pq.el("span", { class: "swatch", style: { background: pq.typeColor(type) } }),
    count: (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`,
    stateText: (one) => ({ waiting: one.reason || "queued", working: `${Math.round(100 * (one.fraction || 0))} %`, failed: one.reason || "failed",
      analyzed: one.n_events ? pq.recordings.count(one.n_events, "event") : "no events" })[one.state] ?? one.state,

    // Filters of the address: lists of stations, types, classes and causes, and words. `to` is exclusive, as in requests.
    readFilters: (query) => ({ ...Object.fromEntries(LISTS.map((name) => [name, query.getAll(name)])), ...Object.fromEntries(WORDS.map((name) => [name, query.get(name) ?? ""])) }),
    askFor(filters, more = {}) {
      const pairs = Object.entries({ ...filters, ...more }).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
      return new URLSearchParams(pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined)).toString();
    },
    isFiltered: (filters) => [...LISTS, ...WORDS].some((name) => name !== "order" && filters[name].length),
    // First and last day, for people, of limits of which the second is exclusive.
    firstDay: (from) => (from ? day(from, 0) : ""),
    lastDay: (to) => (to ? day(to, to.length > 10 ? 0 : -1) : ""),
    afterDay: (last) => (last ? day(last, 1) : ""),

    // The channels of an event, and of the feeder of its incident.
    concerned(event, { incidents }, channels) {
      const feeder = incidents.find((one) => one.events.includes(event.event))?.feeder;
      const isOn = ({ kind, name }) => kind === "current" && feeder && (name.startsWith(feeder) || feeder.split("/").includes(name));
      return [...event.parts.map((part) => part.channel), ...channels.filter(isOn).map((one) => one.name)];
    },
    // The main event of an analysis.
    mainEvent: ({ events, incidents }) => events[incidents[0]?.events[0] ?? 0],
    // The name that a person gave last, for corrections and notes.
    get name() {
      try {
        return localStorage.getItem("pqswarm-name") ?? "";
      } catch {
        return "";
      }
    },
    set name(name) {
      try {
        localStorage.setItem("pqswarm-name", name);
      } catch { /* storage is disabled */ }
    },
    // Links between the tabs; the filters go along.
    rooms: (here, filters = {}) => pq.el("nav", { class: "rooms", "aria-label": "Recordings" }, Object.entries({ "": "Events", statistics: "Statistics", stations: "Stations", log: "Corrections" })
      .map(([path, title]) => pq.el("a", { href: pq.app.link("recordings", path, path in { "": 1, statistics: 1 } ? filters : {}), "aria-current": path === here ? "page" : null }, title))),
    kept: { link: pq.app.link("recordings") }, // filters of the list, for the way back
  };

  // What is known of the whole archive; the visible page is notified of changes.
  const store = (pq.recordings.store = {
    recordings: [], types: {}, classes: {}, causes: [], facets: { total: 0, types: {}, stations: [], labels: {}, causes: {} }, counts: {}, folder: "", note: "", analyzing: false, known: false, limit: null,

    async load(signal) {
      const answer = await pq.app.api("/api/recordings", { signal });
      Object.assign(store, { ...answer, limit: answer.max_bytes ?? null, known: true });
      page?.changed?.();
    },

    // Take a message; return whether the archive has changed.
    take(message) {
      const own = store.recordings.findIndex((one) => file(one.id) === file(message.id ?? ""));
      if (message.state === "working") {
        if (own >= 0) Object.assign(store.recordings[own], { state: "working", fraction: message.fraction });
        page?.progressed?.(store.recordings[own]);
        return false;
      }
      if (message.recordings) {
        const rest = store.recordings.filter((one) => file(one.id) !== file(message.id));
        rest.splice(Math.max(own, 0), 0, ...message.recordings);
        store.recordings = rest;
      }
      return true;
    },
  });

  // The section.
  let holder = null;
  let page = null;
  let shown = null; // the path: a tab, a recording, "" for the list
  let beside = ""; // the recording on the same axis
  let end = new AbortController();
  let loading = null;
  let timer = 0;
  let last = 0;
  const reload = () => {
    clearTimeout(timer);
    timer = 0;
    last = performance.now();
    loading ??= store.load(end.signal).catch((error) => pq.app.fail(error, holder)).finally(() => { loading = null; });
    return loading;
  };
  // While many files are analyzed, the visible part is loaded again every few seconds, not for each of them. An answer
  // that is on its way may be older than the change.
  const reloadSoon = () => {
    timer ||= setTimeout(() => Promise.resolve(loading).then(reload).then(() => page?.refresh?.()), Math.max(WAIT, last + PAUSE - performance.now()));
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
    const Room = { "": pq.EventList, statistics: pq.Statistics, stations: pq.Stations, log: pq.CorrectionLog }[shown];
    page = Room ? new Room(holder, route, from) : beside ? new pq.ComparePage(holder, shown, route) : new pq.RecordingPage(holder, shown, route);
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
      clearTimeout(timer);
      timer = 0;
      page?.destroy();
      page = shown = null;
    },
    message(message) {
      if (message.about === "again") {
        reload().then(() => page?.refresh?.());
        page?.message?.({ state: "again" });
      } else if (message.about === "recordings") {
        if (store.take(message)) reloadSoon();
        page?.message?.(message);
      }
    },
  });
})();
