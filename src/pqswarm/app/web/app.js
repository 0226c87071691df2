// The frame of the workbench: rooms, deep links, requests, live messages, light and dark.
"use strict";
(() => {
  const pq = window.pq;
  const rooms = new Map();
  const page = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const holder = document.getElementById("room");
  const state = document.getElementById("state");
  let current = null;

  // A room: {title, open(holder, route), update(route), close(), message(m)}; a route: {room, path, query: URLSearchParams}.
  const register = (name, room) => rooms.set(name, room);

  const api = async (path, { method = "GET", json, body, signal, text = false } = {}) => {
    const headers = { "X-Page": page };
    if (json !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(path, { method, headers, signal, cache: "no-store", body: json === undefined ? body : JSON.stringify(json) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer: is pqswarm app still running?");
    }
    if (answer.ok) return text ? answer.text() : answer.json();
    let reason = `${answer.status} ${answer.statusText}`;
    try {
      reason = (await answer.json()).error || reason;
    } catch { /* no sentence came */ }
    throw Object.assign(new Error(reason), { status: answer.status });
  };

  const parse = () => {
    const match = /^#\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(window.location.hash);
    const room = match && rooms.has(match[1]) ? match[1] : "recordings";
    return { room, path: match && match[1] === room && match[2] ? match[2] : "", query: new URLSearchParams(match && match[1] === room ? match[3] || "" : "") };
  };

  const link = (room, path = "", query = {}) => {
    const kept = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""));
    const text = kept.toString();
    return `#/${room}${path ? "/" + path : ""}${text ? "?" + text : ""}`;
  };
  // Write the deep link; with replace the room is not told, since it knows already what it shows.
  const go = (room, path = "", query = {}, { replace = false } = {}) => {
    const address = link(room, path, query);
    if (address === window.location.hash) return;
    if (replace) window.history.replaceState(null, "", address);
    else window.location.hash = address;
  };

  const fail = (error, where = holder) => {
    if (error.name === "AbortError") return;
    where.querySelector(":scope > .error")?.remove();
    where.prepend(pq.el("p", { class: "error passing", role: "alert" }, error.message));
  };

  const route = () => {
    const asked = parse();
    document.querySelectorAll("#rooms a").forEach((one) => {
      if (one.dataset.room === asked.room) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    });
    const room = rooms.get(asked.room);
    document.title = `${room.title} · pqswarm`;
    if (current === asked.room) {
      room.update(asked);
      return;
    }
    if (current) rooms.get(current).close();
    pq.hideTip();
    current = asked.room;
    holder.replaceChildren();
    room.open(holder, asked);
  };

  // Live messages: the browser tries again by itself when the server is away for a while, but not when it refuses.
  const UPDATES = `/api/updates/${page}`;
  let updates = null;
  let lost = false;
  const listen = () => {
    const source = (updates = new EventSource(UPDATES));
    source.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.about) rooms.get(current)?.message(message);
    };
    source.onopen = () => {
      const again = lost;
      lost = false;
      say("");
      if (!again) return;
      holder.querySelectorAll(".error.passing").forEach((one) => one.remove());
      rooms.get(current)?.message({ about: "again" });
    };
    source.onerror = () => {
      lost = true;
      say("The server does not answer.");
      if (source.readyState === EventSource.CLOSED) listenLater();
    };
  };
  const listenLater = async () => {
    const end = new AbortController();
    const status = await fetch(UPDATES, { signal: end.signal, cache: "no-store" }).then((answer) => answer.status, () => 0);
    end.abort();
    if (status !== 403) {
      setTimeout(listen, 2000);
      return;
    }
    say("The server was started again: open the address that pqswarm printed.");
    window.addEventListener("focus", listen, { once: true }); // it may have been opened elsewhere meanwhile
  };
  const say = (text) => {
    state.textContent = text;
  };

  // Light and dark: as the system has it, until somebody chooses.
  const THEME = "pqswarm-theme";
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  try {
    const kept = localStorage.getItem(THEME);
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch { /* nothing is kept */ }
  document.getElementById("theme").addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(THEME, next);
    } catch { /* nothing is kept */ }
  });

  pq.app = { api, register, go, link, parse, fail, say, page, rooms };
  window.addEventListener("hashchange", route);
  window.addEventListener("DOMContentLoaded", () => {
    const bar = document.getElementById("rooms");
    for (const [name, room] of rooms) bar.append(pq.el("a", { href: link(name), "data-room": name }, room.title));
    listen();
    window.addEventListener("pagehide", () => updates.close());
    // A page that comes back from the browser's memory has no connection any more.
    window.addEventListener("pageshow", (event) => event.persisted && window.location.reload());
    route();
  });
})();
