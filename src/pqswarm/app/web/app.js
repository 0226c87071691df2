// The frame of the workbench: access, sections, deep links, requests, downloads, live messages, light and dark theme.
"use strict";
(() => {
  const pq = window.pq;
  const sections = new Map();
  const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const page = randomId();
  const holder = document.getElementById("section");
  const gate = document.getElementById("gate");
  const lostNote = document.getElementById("lost");
  let current = null;

  // Storage of this origin, port included; a browser can disable it.
  const stored = (kind, name) => {
    try {
      return window[kind].getItem(name);
    } catch {
      return null;
    }
  };
  const store = (kind, name, value) => {
    try {
      window[kind].setItem(name, value);
    } catch { /* storage is disabled */ }
  };

  // The token is not a cookie: browsers send cookies to every port of a host. Tabs of this origin share it.
  const TOKEN = "pqswarm-token", VISITOR = "pqswarm-visitor";
  const tabs = new BroadcastChannel("pqswarm");
  const given = new URLSearchParams(window.location.search).get("token");
  let token = given ?? stored("sessionStorage", TOKEN);
  let enter = null; // resolves the wait at the gate
  const visitor = stored("localStorage", VISITOR) ?? randomId();
  store("localStorage", VISITOR, visitor);
  const headers = () => ({ "X-Page": page, "X-Visitor": visitor, "X-Token": token ?? "" });
  const accept = (value) => {
    token = value;
    store("sessionStorage", TOKEN, value);
    enter?.();
  };
  tabs.onmessage = ({ data }) => {
    if (data === "token?" && token && !enter) tabs.postMessage({ token });
    else if (data.token && enter) accept(data.token);
  };
  if (given !== null) { // remove it from the address, and hand it to tabs that wait for one
    window.history.replaceState(null, "", window.location.pathname + window.location.hash);
    accept(given);
    tabs.postMessage({ token });
  }

  // Wait at the gate until a token is known: from another tab, or by the password.
  const passGate = async () => {
    const entered = new Promise((resolve) => (enter = resolve));
    tabs.postMessage("token?");
    const late = setTimeout(() => {
      const note = pq.el("p", { role: "alert" });
      if (!document.body.dataset.password) note.textContent = "Open the address that pqswarm printed: it contains the token this page needs.";
      const word = pq.el("input", { type: "password", autocomplete: "current-password", required: true });
      const form = pq.el("form", {}, pq.el("label", {}, "Password ", word), pq.el("button", { type: "submit" }, "Log in"));
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        note.textContent = "";
        await api("/api/login", { method: "POST", json: { password: word.value } }).then((answer) => {
          accept(answer.token);
          tabs.postMessage({ token });
        }, (error) => (note.textContent = error.message));
      });
      gate.replaceChildren(pq.el("h1", {}, "pqswarm"), ...(document.body.dataset.password ? [form] : []), note);
      holder.hidden = true;
      gate.hidden = false;
      word.focus();
    }, 250);
    await entered;
    clearTimeout(late);
    enter = null;
    holder.hidden = false;
    gate.hidden = true;
  };

  // A section: {title, open(holder, route), update(route), close(), message(m)}; a route: {section, path, query: URLSearchParams}.
  const register = (name, section) => sections.set(name, section);

  const api = async (path, { method = "GET", json, body, signal, text = false } = {}) => {
    const sent = headers();
    if (json !== undefined) sent["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(path, { method, headers: sent, signal, cache: "no-store", body: json === undefined ? body : JSON.stringify(json) });
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

  // A browser opens downloads and reports by itself, without headers: each gets a ticket, which works once.
  const withTicket = async (address) => {
    const { pathname, search } = new URL(address, window.location.href);
    const { ticket } = await api("/api/tickets", { method: "POST", json: { address: pathname + search } });
    return `${pathname}${search}${search ? "&" : "?"}ticket=${ticket}`;
  };
  const openWithTicket = async (event) => {
    const anchor = event.target.closest?.('a[href^="/api/"]');
    if (!anchor || event.button > 1) return;
    event.preventDefault();
    try {
      const address = await withTicket(anchor.href);
      if (anchor.target === "_blank") window.open(address, "_blank", "noopener");
      else pq.saveLink(anchor.download, address);
    } catch (error) {
      fail(error);
    }
  };
  document.addEventListener("click", openWithTicket);
  document.addEventListener("auxclick", openWithTicket);

  // Live messages, as server-sent events; EventSource could not send the token.
  const leaving = new AbortController();
  const showLost = (isLost) => {
    lostNote.hidden = !isLost;
    holder.inert = isLost; // nothing works without the server
  };
  const receive = async (answer) => {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const messages = (rest + part.value).split("\n\n");
      rest = messages.pop();
      for (const text of messages.filter((one) => one.startsWith("data:"))) {
        const message = JSON.parse(text.slice(5));
        if (message.about) sections.get(current)?.message(message);
      }
    }
  };
  const connected = () => {
    showLost(false);
    if (current === null) {
      window.addEventListener("hashchange", route);
      route();
      return;
    }
    holder.querySelectorAll(".error.passing").forEach((one) => one.remove());
    sections.get(current).message({ about: "again" });
  };
  const listen = async () => {
    while (!leaving.signal.aborted) {
      if (!token) await passGate();
      let status = 0;
      try {
        const answer = await fetch(`/api/updates/${page}`, { headers: headers(), signal: leaving.signal, cache: "no-store" });
        status = answer.status;
        if (answer.ok) {
          connected();
          await receive(answer);
        }
      } catch { /* the connection was lost */ }
      if (leaving.signal.aborted) return;
      if (status === 403) {
        token = null; // of another start of the server
      } else {
        showLost(true);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  };

  // Theme: that of the system until the user chooses one.
  const THEME = "pqswarm-theme";
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const chosen = stored("localStorage", THEME);
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  document.getElementById("theme").addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    store("localStorage", THEME, next);
  });

  // Paper cannot be unfolded: what is folded is printed open.
  const folds = () => [...holder.querySelectorAll("details:not(.correct, .other-class, .waves-choose, .filter-fields)")];
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = folds().filter((one) => !one.open);
    folded.forEach((one) => { one.open = true; });
  });
  window.addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));

  pq.app = { api, register, go, link, parse, fail, headers, withTicket, page, sections };
  window.addEventListener("DOMContentLoaded", () => {
    const bar = document.getElementById("sections");
    for (const [name, section] of sections) bar.append(pq.el("a", { href: link(name), "data-section": name }, section.title));
    listen();
    window.addEventListener("pagehide", () => leaving.abort());
    // A page restored from the back-forward cache has lost its connection.
    window.addEventListener("pageshow", (event) => event.persisted && window.location.reload());
  });
})();
