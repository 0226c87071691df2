// Input of the waveform viewer: keyboard, wheel, mouse and touch.
"use strict";
window.pq = window.pq || {};
(() => {
  const pq = window.pq;
  const REACH = { mouse: 7, pen: 12, touch: 24 }; // pixels around a cursor in which it is taken
  const STILL = 4; // pixels that a click may move

  // Keyboard shortcuts: key, effect, key code.
  const KEYS = [
    ["← →", "move the cursor by a pixel; with Shift by a cycle, with Alt by a sample"],
    ["A, B", "choose a cursor and bring it into view"],
    ["+ −", "zoom around the middle"],
    ["[ ] or Page Up, Page Down", "half a screen back, forward"],
    ["0, Home, End", "the whole recording"],
    ["Backspace", "the zoom before"],
    ["C", "center on the cursor"],
    ["N, P", "next, previous event"],
    ["Z", "zoom to the interval between the cursors"],
    ["?", "show or hide the shortcuts"],
    ["Mouse", "wheel: zoom; drag: pan; Shift and drag: select an interval; click: place the cursor; double click: show all"],
    ["Touch", "one finger pans, two fingers zoom; drag a cursor by its flag"],
  ];

  const keydown = (viewer, event) => {
    if (event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const span = viewer.range[1] - viewer.range[0];
    const arrow = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (arrow) {
      const { nominal_frequency: frequency, sampling_rate: rate } = viewer.recording;
      const steps = event.shiftKey ? 1 / frequency : event.altKey ? 1 / rate : Math.max(span / viewer.width, 1 / rate);
      const moved = viewer.cursors[viewer.active] + arrow * steps;
      viewer.setCursor(viewer.active, event.shiftKey ? moved : viewer.snap(moved), true);
    } else {
      const act = {
        a: () => viewer.choose("A"), b: () => viewer.choose("B"),
        "+": () => viewer.zoom(0.5), "=": () => viewer.zoom(0.5), "-": () => viewer.zoom(2), "−": () => viewer.zoom(2),
        "[": () => viewer.pan(-0.5 * span), PageUp: () => viewer.pan(-0.5 * span),
        "]": () => viewer.pan(0.5 * span), PageDown: () => viewer.pan(0.5 * span),
        0: () => viewer.showAll(), Home: () => viewer.showAll(), End: () => viewer.showAll(),
        Backspace: () => viewer.back(),
        c: () => viewer.center(viewer.cursors[viewer.active], span),
        n: () => viewer.goToEvent(1), p: () => viewer.goToEvent(-1),
        z: () => viewer.showBetween(), "?": () => viewer.toggleKeys(),
      }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act || event.altKey) return;
      act();
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const wheel = (viewer, event) => {
    const free = viewer.options.wheel !== "focus" || event.ctrlKey || viewer.root.contains(document.activeElement);
    if (!free) return;
    event.preventDefault();
    const unit = [1, 16, 400][event.deltaMode];
    const span = viewer.range[1] - viewer.range[0];
    const across = event.shiftKey ? event.deltaX || event.deltaY : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (across) viewer.pan((across * unit / viewer.width) * span);
    else viewer.zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY * unit)) * 0.0022), viewer.timeAt(event.clientX));
  };

  class Pointer {
    constructor(viewer) {
      this.viewer = viewer;
      this.down = new Map(); // pointers that touch, by their ids
      this.task = null;
      const stage = viewer.stage;
      const on = (kind, act, options) => stage.addEventListener(kind, act, options);
      on("pointerdown", (event) => this.press(event));
      on("pointermove", (event) => this.move(event));
      on("pointerup", (event) => this.end(event, true));
      on("pointercancel", (event) => this.end(event, false));
      on("pointerleave", () => viewer.hover(null));
      on("dblclick", (event) => {
        if (event.target.closest("button, .event")) return;
        if (this.before) viewer.setCursor(this.before[0], this.before[1], true);
        viewer.showAll();
      });
      on("wheel", (event) => wheel(viewer, event), { passive: false });
      viewer.root.addEventListener("keydown", (event) => keydown(viewer, event));
    }

    // The cursor under the pointer: the nearest within reach; the active one is preferred.
    nearest(event) {
      const { viewer } = this;
      const gaps = ["A", "B"].map((name) => [name, Math.abs(viewer.pixelOf(viewer.cursors[name]) - event.clientX)]);
      gaps.sort((one, other) => one[1] - other[1] || (other[0] === viewer.active) - (one[0] === viewer.active));
      const flag = event.target.closest?.(".cursor .flag")?.parentNode.dataset.cursor;
      if (flag) return flag;
      return gaps[0][1] <= (REACH[event.pointerType] ?? 7) ? gaps[0][0] : null;
    }

    press(event) {
      const { viewer } = this;
      if (event.button > 0 || event.target.closest("button, a, .event")) return;
      viewer.root.focus({ preventScroll: true });
      this.down.set(event.pointerId, { x: event.clientX, y: event.clientY });
      viewer.stage.setPointerCapture?.(event.pointerId);
      viewer.hover(null);
      if (this.down.size === 2) {
        const [one, other] = [...this.down.values()];
        this.task = { kind: "pinch", gap: Math.max(20, Math.abs(one.x - other.x)), range: [...viewer.range], middle: viewer.timeAt((one.x + other.x) / 2) };
        return;
      }
      const cursor = this.nearest(event);
      const t = viewer.timeAt(event.clientX);
      const together = Math.abs(viewer.pixelOf(viewer.cursors.A) - viewer.pixelOf(viewer.cursors.B)) < 5;
      if (cursor) {
        viewer.choose(cursor, false);
        // If both coincide, a drag to the right moves B, to the left A.
        this.task = { kind: "cursor", cursor, offset: viewer.pixelOf(viewer.cursors[cursor]) - event.clientX, x: event.clientX, together };
      } else if (event.shiftKey) this.task = { kind: "select", from: t, x: event.clientX };
      else this.task = { kind: "pan", range: [...viewer.range], x: event.clientX, still: true };
      event.preventDefault();
    }

    move(event) {
      const { viewer, task } = this;
      const known = this.down.get(event.pointerId);
      if (!known) {
        if (event.pointerType === "mouse") viewer.hover(event, this.nearest(event));
        return;
      }
      Object.assign(known, { x: event.clientX, y: event.clientY });
      if (!task) return;
      const span = task.range && task.range[1] - task.range[0];
      if (task.kind === "pinch" && this.down.size === 2) {
        const [one, other] = [...this.down.values()];
        const wide = (span * task.gap) / Math.max(20, Math.abs(one.x - other.x));
        const fraction = viewer.fractionAt((one.x + other.x) / 2);
        viewer.show(task.middle - fraction * wide, task.middle + (1 - fraction) * wide);
      } else if (task.kind === "cursor") {
        if (task.together) {
          if (event.clientX === task.x) return;
          task.cursor = event.clientX > task.x ? "B" : "A";
          task.together = false;
        }
        viewer.setCursor(task.cursor, viewer.snap(viewer.timeAt(event.clientX + task.offset)), true);
      } else if (task.kind === "select") {
        viewer.select([task.from, viewer.timeAt(event.clientX)]);
      } else if (task.kind === "pan") {
        const far = event.clientX - task.x;
        if (Math.abs(far) > STILL) task.still = false;
        if (task.still) return;
        viewer.stage.classList.add("panning");
        const start = Math.min(Math.max(task.range[0] - (far / viewer.width) * span, 0), Math.max(0, viewer.seconds - span));
        viewer.show(start, start + span);
      }
    }

    end(event, done) {
      const { viewer, task } = this;
      if (!this.down.delete(event.pointerId) || !task) return;
      viewer.stage.classList.remove("panning");
      if (task.kind === "select") {
        const [from, to] = [task.from, viewer.timeAt(event.clientX)].sort((a, b) => a - b);
        viewer.select(null);
        if (done && Math.abs(event.clientX - task.x) > STILL) viewer.show(from, to);
      } else if (task.kind === "pan" && task.still && done && viewer.isInside(event.clientX)) {
        if (event.detail < 2 && performance.now() - (this.last ?? -1e9) > 500) this.before = [viewer.active, viewer.cursors[viewer.active]];
        this.last = performance.now();
        viewer.setCursor(viewer.active, viewer.snap(viewer.timeAt(event.clientX)), true);
      }
      // After a pinch, the remaining finger pans.
      const [left] = this.down.values();
      this.task = task.kind === "pinch" && left ? { kind: "pan", range: [...viewer.range], x: left.x, still: false } : null;
    }
  }

  pq.wavesInput = { KEYS, Pointer };
})();
