// Uploads: files dropped on the page or chosen are sent one at a time, each with a progress bar and a status line.
"use strict";
(() => {
  const pq = window.pq;
  const ACCEPTED = ".cfg,.dat,.cff,.hdr,.inf,.pqd,.pqdif,.cev,.eve,.csv,.txt,.npz,.mat,.zip";
  const megabytes = (bytes) => `${pq.number(bytes / 1e6, 3)} MB`;

  const stem = (name) => name.split("/").at(-1).toLowerCase().replace(/\.(cfg|dat|hdr|inf)$/, ""); // shared by the files of a COMTRADE recording

  // new pq.Uploads(holder, {limit: () => bytes or null, ondone: () => ...})
  pq.Uploads = class {
    constructor(holder, options) {
      Object.assign(this, { options, waiting: [], sending: null });
      this.input = pq.el("input", { type: "file", multiple: true, accept: ACCEPTED, class: "spoken", tabindex: "-1", "aria-hidden": "true",
        on: { change: () => { this.add([...this.input.files]); this.input.value = ""; } } });
      this.list = pq.el("ul", { class: "uploads", "aria-label": "Uploads" });
      this.area = pq.el("div", { class: "drop", role: "group", "aria-label": "Add recordings" },
        pq.el("span", { class: "drop-words" }, pq.el("strong", {}, "Drop recordings here"), ": COMTRADE (.cfg with .dat), PQDIF, SEL (.cev, .eve), CSV, .npz, .mat, .zip"),
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

    #drop(event) {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      this.area.classList.remove("over");
      const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
      const files = [];
      for (const item of items) {
        const file = item.getAsFile();
        if (item.webkitGetAsEntry?.()?.isDirectory) this.#line(file?.name ?? "folder").refuse("This is a folder: start pqswarm app with this folder instead.");
        else if (file) files.push(file);
      }
      this.add(files);
    }

    add(files) {
      for (const file of files) {
        const line = this.#line(file.name);
        const limit = this.options.limit();
        if (limit && file.size > limit) line.refuse(`The file is too large: ${megabytes(file.size)}; the limit is ${megabytes(limit)} (--max-mb).`);
        else this.waiting.push([file, line]);
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
        progress: (share) => { bar.value = share; words.textContent = `${Math.round(100 * share)} %`; },
        finish: (text) => finish(text, "sent"),
        note: (text) => finish(text, "noted"), // stays until it is dismissed
        refuse: (text) => { finish(text, "failed"); words.setAttribute("role", "alert"); },
      };
    }

    #next() {
      const [file, line] = this.waiting.shift() ?? [];
      if (!file) return;
      const request = (this.sending = new XMLHttpRequest());
      const end = (act) => {
        this.sending = null;
        act();
        if (!this.end.signal.aborted) this.#next();
      };
      request.open("PUT", `/api/uploads/${encodeURIComponent(file.name)}`);
      for (const [name, value] of Object.entries(pq.app.headers())) request.setRequestHeader(name, value);
      request.responseType = "json";
      request.upload.onprogress = (event) => event.lengthComputable && line.progress(event.loaded / event.total);
      request.onload = () => end(() => {
        const answer = request.response ?? {};
        if (request.status === 200) {
          if (answer.replaced) line.note(`replaced your earlier upload ${answer.replaced}: to keep both, rename one`);
          else line.finish(answer.reason || "uploaded");
          this.options.ondone(answer);
        } else line.refuse(answer.error || `The server refused the file (${request.status}).`);
      });
      request.onerror = () => end(() => line.refuse("The upload failed: the server does not respond or refused the file."));
      request.onabort = () => end(() => {});
      request.send(file);
    }

    // Update the status lines; a file that was analysed needs none.
    settle(recordings) {
      const own = new Map(recordings.filter((one) => one.upload).map((one) => [stem(one.name.split(", ")[0]), one]));
      for (const item of this.list.querySelectorAll('li[data-state="sent"]')) {
        const found = own.get(stem(item.dataset.file));
        if (found?.state === "analysed") item.remove();
        else if (found) {
          item.querySelector("[role]").textContent = found.state === "waiting" && !found.reason ? "queued for analysis" : found.state === "working" ? "being analysed" : found.reason;
          if (found.state === "failed") item.dataset.state = "failed";
        }
      }
    }
  };
})();
