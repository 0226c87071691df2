// Uploads: files dropped on the page or chosen are sent one at a time, each with a progress bar and a status line.
"use strict";
(() => {
  const pq = window.pq;
  const ACCEPTED = ".cfg,.dat,.cff,.hdr,.inf,.pqd,.pqdif,.cev,.eve,.csv,.tsv,.txt,.npz,.mat,.zip";
  const megabytes = (bytes) => `${pq.number(bytes / 1e6, 3)} MB`;

  const known = (name) => ACCEPTED.split(",").some((suffix) => name.toLowerCase().endsWith(suffix));
  const stem = (path) => path.toLowerCase().replace(/\.(cfg|dat|hdr|inf)$/, ""); // shared by the files of a COMTRADE recording
  const byPath = (a, b) => a.path.localeCompare(b.path, "en", { numeric: true }); // keeps the files of a recording together

  // All files of a dropped folder, as {file, path}.
  const inFolder = async (entry, path) => {
    if (entry.isFile) return [{ file: await new Promise((done, failed) => entry.file(done, failed)), path }];
    const reader = entry.createReader();
    const found = [];
    for (let some = [0]; some.length;) { // the browser returns them in portions
      some = await new Promise((done, failed) => reader.readEntries(done, failed));
      for (const one of some) found.push(...await inFolder(one, `${path}/${one.name}`));
    }
    return found;
  };

  // new pq.Uploads(holder, {limit: () => bytes or null, onanalyzed: (recording) => ...})
  pq.Uploads = class {
    constructor(holder, options) {
      Object.assign(this, { options, waiting: [], sending: null });
      this.input = pq.el("input", { type: "file", multiple: true, accept: ACCEPTED, class: "spoken", tabindex: "-1", "aria-hidden": "true",
        on: { change: () => { this.add([...this.input.files].map((file) => ({ file, path: file.name }))); this.input.value = ""; } } });
      this.list = pq.el("ul", { class: "uploads", "aria-label": "Uploads" });
      this.area = pq.el("div", { class: "drop", role: "group", "aria-label": "Add recordings" },
        pq.el("span", { class: "drop-words" }, pq.el("strong", {}, "Drop recordings here"), ": COMTRADE (.cfg with .dat), PQDIF, SEL (.cev, .eve), CSV, .npz, .mat, .zip; or a folder of them"),
        pq.el("button", { on: { click: () => this.input.click() } }, "Choose files"), this.input);
      holder.append(this.area, this.list);
      const listen = (kind, listener) => document.addEventListener(kind, listener, { signal: this.end.signal });
      this.end = new AbortController();
      listen("dragover", (event) => this.#over(event));
      listen("dragleave", (event) => !event.relatedTarget && this.area.classList.remove("over"));
      listen("drop", (event) => this.#drop(event));
    }

    destroy() {
      this.end.abort();
      this.waiting = [];
      this.sending?.abort();
    }

    #over(event) {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      this.area.classList.add("over");
    }

    async #drop(event) {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      this.area.classList.remove("over");
      // Both must be read before the first await.
      const items = [...event.dataTransfer.items].filter((item) => item.kind === "file").map((item) => [item.getAsFile(), item.webkitGetAsEntry?.()]);
      const files = [];
      for (const [file, entry] of items) {
        if (!entry?.isDirectory) files.push({ file, path: file.name });
        else {
          try {
            const found = (await inFolder(entry, entry.name)).filter((one) => known(one.path) && !one.file.name.startsWith("."));
            if (!found.length) this.#line(entry.name).refuse("This folder has no recordings.");
            files.push(...found);
          } catch {
            this.#line(entry.name).refuse("The browser cannot read this folder.");
          }
        }
      }
      this.add(files.filter((one) => one.file));
    }

    add(files) {
      for (const { file, path } of files.sort(byPath)) {
        const line = this.#line(path);
        const limit = this.options.limit();
        if (limit && file.size > limit) line.refuse(`The file is too large: ${megabytes(file.size)}; the limit is ${megabytes(limit)} (--max-mb).`);
        else this.waiting.push([file, line, path]);
      }
      if (!this.sending) this.#next();
    }

    #line(name) {
      const words = pq.el("span", { class: "soft", role: "status" }, "queued");
      const bar = pq.el("progress", { max: 1, value: 0, "aria-label": `Sending ${name}` });
      const end = pq.el("button", { class: "small", "aria-label": `Stop sending ${name}` }, "Stop");
      const item = pq.el("li", { "data-file": name }, pq.el("span", { class: "file" }, name), bar, words, end);
      this.list.append(item);
      end.addEventListener("click", () => {
        const waited = this.waiting.findIndex(([, line]) => line.item === item);
        if (waited >= 0) this.waiting.splice(waited, 1);
        else if (!bar.hidden) this.sending?.abort();
        item.remove();
      });
      const finish = (text, state) => {
        bar.hidden = true;
        words.textContent = text;
        item.dataset.state = state;
        end.textContent = "✕";
        end.setAttribute("aria-label", `Dismiss ${name}`);
      };
      return {
        item,
        progress: (fraction) => { bar.value = fraction; words.textContent = `${Math.round(100 * fraction)} %`; },
        finish: (text) => finish(text, "sent"),
        refuse: (text) => { finish(text, "failed"); words.setAttribute("role", "alert"); },
      };
    }

    #next() {
      const [file, line, path] = this.waiting.shift() ?? [];
      if (!file) return;
      const request = (this.sending = new XMLHttpRequest());
      const end = (act) => {
        this.sending = null;
        act();
        if (!this.end.signal.aborted) this.#next();
      };
      request.open("PUT", `/api/uploads/${encodeURIComponent(path)}`);
      for (const [name, value] of Object.entries(pq.app.headers())) request.setRequestHeader(name, value);
      request.responseType = "json";
      request.upload.onprogress = (event) => event.lengthComputable && line.progress(event.loaded / event.total);
      request.onload = () => end(() => {
        const answer = request.response ?? {};
        if (request.status === 200) {
          line.finish(answer.is_known ? "" : answer.reason || "uploaded");
          if (answer.is_known) line.item.querySelector("[role]").append(`is already here as ${answer.name}: `, pq.el("a", { href: pq.app.link("recordings", answer.recording) }, "open"));
          for (const other of this.list.querySelectorAll('li[data-state="sent"]')) {
            if (other !== line.item && stem(other.dataset.file) === stem(path)) other.remove(); // the other part of this recording
          }
          line.item.dataset.recording = answer.recording;
          this.settle(pq.recordings.store.recordings);
        } else line.refuse(answer.error || `The server refused the file (${request.status}).`);
      });
      request.onerror = () => end(() => line.refuse("The upload failed: the server does not respond or refused the file."));
      request.onabort = () => end(() => {});
      request.send(file);
    }

    // Update the status lines: a recording that was analyzed has one line, which leads to it.
    settle(recordings) {
      const own = new Map(recordings.filter((one) => one.upload).map((one) => [one.id, one]));
      const seen = new Set();
      for (const item of [...this.list.querySelectorAll("li[data-recording]")].reverse()) {
        const { recording, state } = item.dataset;
        const found = own.get(recording);
        if (seen.has(recording)) item.remove();
        seen.add(recording);
        if (state !== "sent" || !found) continue;
        const words = item.querySelector("[role]");
        if (found.state === "analyzed") {
          item.dataset.state = "analyzed";
          words.replaceChildren(`${pq.recordings.stateText(found)}: `, pq.el("a", { href: pq.app.link("recordings", recording) }, "open"));
          item.querySelector(".file").textContent = found.name;
          this.options.onanalyzed(found);
        } else {
          words.textContent = found.state === "waiting" && !found.reason ? "queued for analysis" : found.state === "working" ? "being analyzed" : found.reason;
          if (found.state === "failed") item.dataset.state = "failed";
        }
      }
    }
  };
})();
