// The frame of the workbench: sections, deep links, requests, live messages, light and dark theme.
"use strict";
(() => {
  const pq = window.pq;
  const sections = new Map();
  const page = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const holder = document.getElementById("section");
  const state = document.getElementById("state");
  let current = null;

  // A section: {title, open(holder, route), update(route), close(), message(m)}; a route: {section, path, query: URLSearchParams}.
  const register = (name, section) => sections.set(name, section);

  const api = async (path, { method = "GET", json, body, signal, text = false } = {}) => {
    const headers = { "X-Page": page };
    if (json !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(path, { method, headers, signal, cache: "no-store", body: json === undefined ? body : JSON.stringify(json) });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not respond: is pqswarm app still running?");
    }
    if (answer.ok) return text ? answer.text() : answer.json();
    let reason = `${answer.status} ${answer.statusText}`;
    try {
      reason = (await answer.json()).error || reason;
    } catch { /* the response has no message */ }
    throw Object.assign(new Error(reason), { status: answer.status });
  };

  const parse = () => {
    const match = /^#\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(window.location.hash);
    const section = match && sections.has(match[1]) ? match[1] : "recordings";
    return { section, path: match && match[1] === section && match[2] ? match[2] : "", query: new URLSearchParams(match && match[1] === section ? match[3] || "" : "") };
  };

  const link = (section, path = "", query = {}) => {
    const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    const kept = new URLSearchParams(pairs.filter(([, value]) => value !== null && value !== undefined && value !== ""));
    const text = kept.toString();
    return `#/${section}${path ? "/" + path : ""}${text ? "?" + text : ""}`;
  };
  // Write the deep link; with replace or quiet, the section is not notified: it already shows the target.
  const go = (section, path = "", query = {}, { replace = false, quiet = false } = {}) => {
    const address = link(section, path, query);
    if (address === window.location.hash) return;
    if (replace) window.history.replaceState(null, "", address);
    else if (quiet) window.history.pushState(null, "", address);
    else window.location.hash = address;
  };

  const fail = (error, where = holder) => {
    if (error.name === "AbortError") return;
    where.querySelector(":scope > .error")?.remove();
    where.prepend(pq.el("p", { class: "error passing", role: "alert" }, error.message));
  };

  const route = () => {
    const asked = parse();
    document.querySelectorAll("#sections a").forEach((one) => {
      if (one.dataset.section === asked.section) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    });
    const section = sections.get(asked.section);
    document.title = `${section.title} · pqswarm`;
    if (current === asked.section) {
      section.update(asked);
      return;
    }
    if (current) sections.get(current).close();
    pq.hideTip();
    current = asked.section;
    holder.replaceChildren();
    section.open(holder, asked);
  };

  // Live messages. The browser reconnects by itself when the server is unreachable, but not after a refusal.
  const UPDATES = `/api/updates/${page}`;
  let updates = null;
  let lost = false;
  const listen = () => {
    const source = (updates = new EventSource(UPDATES));
    source.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.about) sections.get(current)?.message(message);
    };
    source.onopen = () => {
      const again = lost;
      lost = false;
      say("");
      if (!again) return;
      holder.querySelectorAll(".error.passing").forEach((one) => one.remove());
      sections.get(current)?.message({ about: "again" });
    };
    source.onerror = () => {
      lost = true;
      say("The server does not respond.");
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
    say("The server was restarted: open the new address that pqswarm printed.");
    window.addEventListener("focus", listen, { once: true }); // it may have been opened in another tab meanwhile
  };
  const say = (text) => {
    state.textContent = text;
  };

  // Theme: that of the system until the user chooses one.
  const THEME = "pqswarm-theme";
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  try {
    const kept = localStorage.getItem(THEME);
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch { /* storage is disabled */ }
  document.getElementById("theme").addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(THEME, next);
    } catch { /* storage is disabled */ }
  });

  pq.app = { api, register, go, link, parse, fail, say, page, sections };
  window.addEventListener("hashchange", route);
  window.addEventListener("DOMContentLoaded", () => {
    const bar = document.getElementById("sections");
    for (const [name, section] of sections) bar.append(pq.el("a", { href: link(name), "data-section": name }, section.title));
    listen();
    window.addEventListener("pagehide", () => updates.close());
    // A page restored from the back-forward cache has lost its connection.
    window.addEventListener("pageshow", (event) => event.persisted && window.location.reload());
    route();
  });
})();
