// A stretch of cycles that the charts of one target share, and the canvas they draw on.
"use strict";
(function () {
  const views = new Map();
  const LEAST = 8;

  class View {
    constructor(cycles) {
      this.cycles = Math.max(cycles, LEAST);
      this.from = 0;
      this.to = this.cycles;
      this.charts = [];
      this.selected = null;
    }
    show(from, to) {
      const span = Math.min(Math.max(to - from, LEAST), this.cycles);
      this.from = Math.min(Math.max(from, 0), this.cycles - span);
      this.to = this.from + span;
      this.draw();
    }
    zoom(factor, at) {
      if (at === undefined) at = (this.from + this.to) / 2;
      this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
    }
    pan(share) {
      const by = (this.to - this.from) * share;
      const from = Math.min(Math.max(this.from + by, 0), this.cycles - (this.to - this.from));
      this.show(from, from + this.to - this.from);
    }
    draw() {
      this.charts.forEach((c) => c.paint());
    }
  }

  /** The view of a group of charts over so many cycles. */
  ptoemu.view = function (group, cycles) {
    if (!views.has(group)) views.set(group, new View(cycles));
    return views.get(group);
  };

  /** An element with text and attributes. */
  ptoemu.element = function (name, attributes, text) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  /** Black or white, whichever can be read on a colour `#rrggbb`. */
  ptoemu.ink = function (colour) {
    const n = parseInt(colour.slice(1), 16);
    const light = 0.3 * (n >> 16) + 0.59 * ((n >> 8) & 255) + 0.11 * (n & 255);
    return light > 120 ? "#111111" : "#ffffff";
  };

  const BUTTONS = [
    ["+", "Zoom in", (v) => v.zoom(0.5)],
    ["\u2212", "Zoom out", (v) => v.zoom(2)],
    ["\u25c0", "Earlier", (v) => v.pan(-0.5)],
    ["\u25b6", "Later", (v) => v.pan(0.5)],
    ["Whole run", "Whole run", (v) => v.show(0, v.cycles)],
  ];
  const KEYS = {
    "+": (v) => v.zoom(0.5), "=": (v) => v.zoom(0.5), "-": (v) => v.zoom(2),
    ArrowLeft: (v) => v.pan(-0.2), ArrowRight: (v) => v.pan(0.2),
    Home: (v) => v.show(0, v.to - v.from), End: (v) => v.show(v.cycles - (v.to - v.from), v.cycles),
    0: (v) => v.show(0, v.cycles),
  };

  /**
   * A chart in `box`. `parts`: label, height(), draw(context, chart), tip(x, y) and click(x, y) with
   * pixels, key(name) for keys of its own.
   */
  ptoemu.Chart = class {
    constructor(box, view, parts) {
      this.view = view;
      this.parts = parts;
      box.classList.add("chart");
      this.tools = ptoemu.element("div", { class: "tools" });
      for (const [text, label, act] of BUTTONS) {
        const button = ptoemu.element("button", { type: "button", "aria-label": label }, text);
        button.addEventListener("click", () => act(view));
        this.tools.append(button);
      }
      this.range = ptoemu.element("span", { class: "count", "aria-live": "polite" });
      this.tools.append(this.range);
      this.canvas = ptoemu.element("canvas", { tabindex: "0", role: "application", "aria-label": parts.label });
      this.tip = ptoemu.element("div", { class: "tip" });
      this.tip.hidden = true;
      const hint = ptoemu.element("p", { class: "note" },
        "Drag to move. Click, then use the wheel or the keys + \u2212 \u2190 \u2192 Home End, 0 for the whole run" +
        (parts.hint || "") + ".");
      box.append(this.tools, this.canvas, this.tip, hint);
      this.listen();
      view.charts.push(this);
      ptoemu.redraw.push(() => this.paint());
      this.paint();
    }

    /** Room for names at the left. */
    get gutter() {
      return this.width < 600 ? 66 : 104;
    }
    /** Pixel of a cycle. */
    x(cycle) {
      const { from, to } = this.view;
      return this.gutter + ((cycle - from) / (to - from)) * (this.width - this.gutter);
    }
    /** Cycle at a pixel. */
    cycle(x) {
      const { from, to } = this.view;
      return from + ((x - this.gutter) / (this.width - this.gutter)) * (to - from);
    }

    paint() {
      this.width = this.canvas.clientWidth;
      // Nothing to draw on while another target is chosen.
      if (this.width === 0) return;
      this.height = this.parts.height(this);
      const scale = window.devicePixelRatio || 1;
      this.canvas.style.height = this.height + "px";
      this.canvas.width = Math.round(this.width * scale);
      this.canvas.height = Math.round(this.height * scale);
      const c = this.canvas.getContext("2d");
      c.setTransform(scale, 0, 0, scale, 0, 0);
      c.clearRect(0, 0, this.width, this.height);
      c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
      c.textBaseline = "middle";
      this.parts.draw(c, this);
      this.axis(c);
      const { from, to, cycles } = this.view;
      this.range.textContent = "cycles " + Math.round(from) + " to " + Math.round(to) + " of " + cycles;
    }

    /** Cycle numbers along the top. */
    axis(c) {
      const { from, to } = this.view;
      const rough = (to - from) / Math.max((this.width - this.gutter) / 90, 1);
      const power = Math.pow(10, Math.floor(Math.log10(rough)));
      const step = Math.max(1, [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough));
      c.fillStyle = ptoemu.colour("soft");
      c.strokeStyle = ptoemu.colour("line");
      c.textAlign = "left";
      for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
        const x = Math.round(this.x(t)) + 0.5;
        c.beginPath();
        c.moveTo(x, 0);
        c.lineTo(x, 6);
        c.stroke();
        const text = String(t);
        if (x + c.measureText(text).width + 4 < this.width) c.fillText(text, x + 3, 9);
      }
    }

    listen() {
      const canvas = this.canvas;
      const view = this.view;
      let down = null;
      const place = (e) => {
        const r = canvas.getBoundingClientRect();
        return [e.clientX - r.left, e.clientY - r.top];
      };
      canvas.addEventListener("wheel", (e) => {
        if (document.activeElement !== canvas && !e.ctrlKey) return;
        e.preventDefault();
        if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
          view.pan((e.deltaX || e.deltaY) / 800);
        } else {
          view.zoom(Math.pow(1.002, e.deltaY), this.cycle(place(e)[0]));
        }
      }, { passive: false });
      canvas.addEventListener("pointerdown", (e) => {
        down = { at: place(e), from: view.from, moved: false };
        canvas.setPointerCapture(e.pointerId);
      });
      canvas.addEventListener("pointermove", (e) => {
        const at = place(e);
        if (down) {
          const by = at[0] - down.at[0];
          down.moved = down.moved || Math.abs(by) > 3;
          if (!down.moved) return;
          const span = view.to - view.from;
          const cycles = (by / (this.width - this.gutter)) * span;
          const from = Math.min(Math.max(down.from - cycles, 0), view.cycles - span);
          view.show(from, from + span);
          return;
        }
        this.hover(at);
      });
      canvas.addEventListener("pointerup", (e) => {
        if (down && !down.moved) this.parts.click(...place(e), this);
        down = null;
      });
      canvas.addEventListener("pointercancel", () => (down = null));
      canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
      canvas.addEventListener("keydown", (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        const act = KEYS[e.key];
        if (act) act(view);
        else if (!(this.parts.key && this.parts.key(e.key, this))) return;
        e.preventDefault();
      });
    }

    hover([x, y]) {
      const text = x > this.gutter ? this.parts.tip(x, y, this) : null;
      this.tip.hidden = !text;
      if (!text) return;
      this.tip.textContent = text;
      const left = Math.min(x + 14, Math.max(0, this.width - this.tip.offsetWidth - 2));
      this.tip.style.left = left + "px";
      this.tip.style.top = this.canvas.offsetTop + y + 16 + "px";
    }
  };
})();
