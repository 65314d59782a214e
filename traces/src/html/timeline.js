// The timeline: a lane a pipe, what the pipe did below it, arrows from set to wait.
"use strict";
(function () {
  const AXIS = 20, LANE = 42, BOX = 19, STRIP = 7, ARROWS = 400, BAND = 18, BANDS = 3;
  const WHAT = ["", "", "barrier opens", "flag set", "waits for flag"];

  /** Colour of a state: 0 work, then the causes in the order of the data. */
  const stateColour = (data, n) => (n === 0 ? "c0" : n <= data.states.length && data.states[n - 1][1] < 8 ? "c" + data.states[n - 1][1] : "line");
  /** Colours of tile operations: red is for conflicts, grey for instructions of none. */
  const PALETTE = ["c0", "c2", "c4", "c6", "c1", "c3"];

  /** Records of all lanes as objects, in program order. */
  function unpack(data) {
    const events = [];
    data.lanes.forEach((lane, row) => {
      const e = lane.events;
      let at = 0;
      const conflict = new Map(e.conflict);
      for (let i = 0; i < e.record.length; i++) {
        at += e.start[i];
        const end = at + e.length[i];
        events.push({
          record: e.record[i], row, name: data.names[e.name[i]], from: at, to: end,
          done: end + e.tail[i], handed: at - e.wait[i], what: e.what[i],
          conflict: conflict.get(e.record[i]) || 0, held: [],
        });
      }
    });
    events.sort((a, b) => a.record - b.record);
    const by = new Map(events.map((e) => [e.record, e]));
    for (const lane of data.lanes) {
      for (const [record, state, cycles] of lane.events.held) by.get(record).held.push([state, cycles]);
    }
    return [events, by];
  }

  /** Tile operations: neighbouring records of one statement, each with a colour. */
  function operations(events) {
    const out = [], colours = new Map();
    for (const e of events) {
      const key = e.name.op ? e.name.op + " " + e.name.code : "";
      if (key && !colours.has(key)) colours.set(key, PALETTE[colours.size % PALETTE.length]);
      e.colour = key ? colours.get(key) : "c7";
      if (!key || e.what > 1) continue;
      const last = out[out.length - 1];
      if (last && last.key === key) {
        last.from = Math.min(last.from, e.from);
        last.to = Math.max(last.to, e.done);
      } else {
        out.push({ key, op: e.name.op, line: e.name.line, from: e.from, to: e.done, colour: e.colour });
      }
    }
    // Those that run at the same time stand below each other.
    const free = [];
    for (const o of out) {
      let row = free.findIndex((end) => end <= o.from);
      if (row < 0) row = free.length < BANDS ? free.push(0) - 1 : BANDS - 1;
      free[row] = o.to;
      o.row = row;
    }
    return [out, free.length];
  }

  function start(box) {
    const data = ptoemu.data(box.dataset.source);
    const view = ptoemu.view(box.dataset.group, data.cycles);
    const [events, by] = unpack(data);
    const [ops, bands] = operations(events);
    const laneTop = (row) => AXIS + (bands ? bands * BAND + 8 : 0) + row * LANE;
    const legend = ptoemu.element("div", { class: "legend" });
    const states = new Set();
    for (const lane of data.lanes) {
      lane.strip.forEach((s) => states.add(s[0]));
      lane.buckets.forEach((b) => states.add(b[1]));
    }
    [0].concat([...states].filter((s) => s > 0).sort((a, b) => a - b)).forEach((s) => {
      const item = ptoemu.element("span");
      item.append(ptoemu.element("span", { class: "key", style: "background:var(--" + stateColour(data, s) + ")" }));
      item.append(s === 0 ? "busy" : data.states[s - 1][0]);
      legend.append(item);
    });
    const conflictKey = ptoemu.element("span");
    conflictKey.append(ptoemu.element("span", { class: "key", style: "background:var(--c5)" }), "box: lost to bank conflicts");
    legend.append(conflictKey);
    const detail = ptoemu.element("div", { class: "detail", "aria-live": "polite" });
    detail.append(ptoemu.element("p", {}, data.bucket
      ? "Point at a column to see what it holds."
      : "Click a record, or press n and p, to see its cycles, operands and what held it back."));

    const chart = new ptoemu.Chart(box, view, {
      label: "Timeline by pipe. " + data.lanes.map((l) => l.name + " busy " + l.busy).join(", ") + " of " + data.cycles + " cycles.",
      hint: data.bucket ? "" : "; n and p for the next and previous record",
      height: () => laneTop(data.lanes.length) + 4,
      draw, tip, click, key,
    });
    box.insertBefore(legend, chart.canvas);
    chart.canvas.after(detail);
    box.select = select;

    function draw(c, chart) {
      const right = chart.width, left = chart.gutter;
      data.lanes.forEach((lane, row) => {
        const y = laneTop(row);
        c.fillStyle = ptoemu.colour("fg");
        c.textAlign = "left";
        c.fillText(lane.name, 2, y + BOX / 2 + 2, left - 6);
        if (lane.busy) {
          c.fillStyle = ptoemu.colour("soft");
          c.fillText((100 * lane.busy / data.cycles).toFixed(1) + "%", 2, y + BOX + 10, left - 6);
        }
        c.strokeStyle = ptoemu.colour("line");
        c.beginPath();
        c.moveTo(0, y - 3.5);
        c.lineTo(right, y - 3.5);
        c.stroke();
      });
      c.save();
      c.beginPath();
      c.rect(left, 0, right - left, chart.height);
      c.clip();
      data.lanes.forEach((lane, row) => strip(c, chart, lane, laneTop(row) + BOX + 6));
      if (data.bucket) data.lanes.forEach((lane, row) => columns(c, chart, lane, laneTop(row)));
      for (const o of ops) operation(c, chart, o);
      const painted = data.lanes.map(() => -1);
      for (const e of events) record(c, chart, e, painted);
      arrows(c, chart);
      c.restore();
    }

    function strip(c, chart, lane, y) {
      let at = 0, painted = -1;
      const put = (from, to, colour) => {
        const a = chart.x(from), b = chart.x(to);
        if (b < chart.gutter || a > chart.width || b < painted) return;
        c.fillStyle = ptoemu.colour(colour);
        c.fillRect(a, y, Math.max(b - a, 1), STRIP);
        painted = Math.max(b, a + 1);
      };
      for (const [state, n] of lane.strip) {
        put(at, at + n, stateColour(data, state));
        at += n;
      }
      const length = data.bucket || (lane.buckets.length ? data.cycles / lane.buckets.length : 0);
      lane.buckets.forEach(([busy, state], i) => {
        put(i * length, (i + 1) * length, busy * 2 >= length ? "c0" : stateColour(data, state));
      });
    }

    function columns(c, chart, lane, y) {
      c.fillStyle = ptoemu.colour("c0");
      lane.buckets.forEach(([busy], i) => {
        const a = chart.x(i * data.bucket), b = chart.x((i + 1) * data.bucket);
        if (b < chart.gutter || a > chart.width || !busy) return;
        const h = Math.max(1, Math.min(1, busy / data.bucket) * BOX);
        c.fillRect(a, y + BOX - h, Math.max(b - a, 0.6), h);
      });
    }

    function operation(c, chart, o) {
      const a = chart.x(o.from), b = chart.x(o.to);
      if (b < chart.gutter || a > chart.width) return;
      c.fillStyle = ptoemu.colour(o.colour);
      c.globalAlpha = 0.35;
      c.fillRect(a, AXIS + o.row * BAND, Math.max(b - a - 1, 1), BAND - 1);
      c.globalAlpha = 1;
      label(c, o.op, Math.max(a, chart.gutter), b, AXIS + (o.row + 0.5) * BAND, ptoemu.colour("fg"));
    }

    function label(c, text, a, b, y, colour) {
      if (b - a < 26) return;
      c.fillStyle = colour;
      c.textAlign = "left";
      let shown = text;
      while (shown.length > 1 && c.measureText(shown).width > b - a - 6) {
        shown = shown.slice(0, shown.endsWith("\u2026") ? -2 : -1) + "\u2026";
      }
      if (shown.length > 3 || shown === text) c.fillText(shown, a + 3, y);
    }

    function record(c, chart, e, painted) {
      const a = chart.x(e.from), b = chart.x(e.to);
      const y = laneTop(e.row);
      const chosen = view.selected === e.record;
      const end = Math.max(b, chart.x(e.done));
      if (end < chart.gutter || a > chart.width) return;
      if (e.what === 4) {
        c.fillStyle = ptoemu.colour("c1");
        c.globalAlpha = chosen ? 1 : 0.35;
        c.fillRect(a, y + BOX - 3, Math.max(b - a, 1), 3);
        c.globalAlpha = 1;
      } else if (e.what > 1) {
        c.fillStyle = ptoemu.colour(e.what === 2 ? "c4" : "c1");
        c.fillRect(Math.max(b - 1.5, a), y, 1.5, BOX);
      } else {
        if (b - a < 1 && a < painted[e.row] && !chosen) return;
        painted[e.row] = Math.max(b, a + 1);
        const colour = ptoemu.colour(e.what === 1 ? "c3" : e.colour);
        c.fillStyle = colour;
        const w = Math.max(b - a - (b - a > 4 ? 1 : 0), 1);
        c.fillRect(a, y, w, BOX);
        if (e.conflict) {
          const lost = (w * e.conflict) / Math.max(e.to - e.from, 1);
          c.fillStyle = ptoemu.colour("c5");
          c.fillRect(a + w - lost, y + BOX - 4, lost, 4);
        }
        if (e.done > e.to && end - b > 1) {
          c.fillStyle = colour;
          c.fillRect(b, y + BOX / 2, end - b, 1);
        }
        label(c, e.name.name, Math.max(a, chart.gutter), b, y + BOX / 2, ptoemu.ink(colour));
      }
      if (chosen) {
        c.strokeStyle = ptoemu.colour("fg");
        c.lineWidth = 2;
        c.strokeRect(a - 1, y - 1, Math.max(b - a, 3) + 2, BOX + 2);
        c.lineWidth = 1;
      }
    }

    function arrows(c, chart) {
      const seen = [];
      for (const [set, wait] of data.arrows) {
        const s = by.get(set), w = by.get(wait);
        if (s && w && chart.x(w.to) >= chart.gutter && chart.x(s.to) <= chart.width) seen.push([s, w]);
        if (seen.length > ARROWS) return;
      }
      c.strokeStyle = c.fillStyle = ptoemu.colour("c1");
      for (const [s, w] of seen) {
        const x1 = chart.x(s.to), y1 = laneTop(s.row) + BOX / 2;
        const x2 = chart.x(w.to), y2 = laneTop(w.row) + (w.row > s.row ? 0 : BOX);
        const turn = y2 > y1 ? -6 : 6;
        c.beginPath();
        c.moveTo(x1, y1);
        c.bezierCurveTo(x1 + 8, y1, x2, y2 + 3 * turn, x2, y2 + turn);
        c.stroke();
        c.beginPath();
        c.moveTo(x2, y2);
        c.lineTo(x2 - 3, y2 + turn);
        c.lineTo(x2 + 3, y2 + turn);
        c.fill();
      }
    }

    /** Record at a pixel, the shortest of several. */
    function at(x, y) {
      const row = Math.floor((y - laneTop(0)) / LANE);
      let best = null;
      for (const e of events) {
        if (e.row !== row || chart.x(e.from) - 3 > x || Math.max(chart.x(e.to), chart.x(e.from) + 1) + 3 < x) continue;
        if (!best || e.to - e.from < best.to - best.from) best = e;
      }
      return best;
    }
    const words = (e) => "#" + e.record + " " + e.name.name + (e.name.op ? " of " + e.name.op : "") + ", " +
      (WHAT[e.what] ? WHAT[e.what] + ", " : "") + "cycles " + e.from + " to " + e.to;
    function tip(x, y) {
      if (data.bucket) return column(x, y);
      const band = Math.floor((y - AXIS) / BAND);
      if (band >= 0 && band < bands) {
        const o = ops.find((o) => o.row === band && chart.x(o.from) <= x && x <= chart.x(o.to));
        return o && o.key + ", cycles " + o.from + " to " + o.to;
      }
      const e = at(x, y);
      return e && words(e);
    }
    function column(x, y) {
      const lane = data.lanes[Math.floor((y - laneTop(0)) / LANE)];
      const i = Math.floor(chart.cycle(x) / data.bucket);
      const b = lane && lane.buckets[i];
      if (!b) return null;
      const name = b[2] ? ", mostly " + data.names[b[3]].name + " at " + data.names[b[3]].code : "";
      const still = b[1] > 0 ? ", else mostly " + data.states[b[1] - 1][0] : "";
      return "cycles " + i * data.bucket + " to " + (i + 1) * data.bucket + ": busy " + b[0] + still + "; " + b[2] + " records start" + name;
    }
    function click(x, y) {
      const e = data.bucket ? null : at(x, y);
      if (e) select(e.record, false);
    }
    function key(name) {
      const step = { n: 1, p: -1 }[name];
      if (!step || !events.length) return false;
      const now = events.findIndex((e) => e.record === view.selected);
      const next = now < 0 ? (step > 0 ? 0 : events.length - 1) : Math.min(Math.max(now + step, 0), events.length - 1);
      select(events[next].record, true);
      return true;
    }

    function select(record, follow) {
      const e = by.get(record);
      if (!e) return;
      view.selected = record;
      detail.replaceChildren();
      const head = ptoemu.element("p");
      head.append(words(e) + ", at ");
      head.append(e.name.line ? ptoemu.element("a", { href: "#L" + e.name.line }, e.name.code) : e.name.code);
      const held = e.held.map(([s, n]) => data.states[s - 1][0] + " " + n);
      const times = "handed over at " + e.handed + ", result at " + e.done +
        (held.length ? "; held back: " + held.join(", ") : "") + (e.conflict ? "; bank conflicts " + e.conflict : "");
      detail.append(head, ptoemu.element("p", {}, times));
      if (e.name.detail) detail.append(ptoemu.element("p", { class: "mono" }, "first run: " + e.name.detail));
      const span = view.to - view.from;
      if (follow && (e.from < view.from || e.to > view.to)) {
        const wide = Math.min(span, Math.max(8 * (e.to - e.from), span / 8, 40));
        view.show((e.from + e.to - wide) / 2, (e.from + e.to + wide) / 2);
      } else view.draw();
    }
  }

  document.querySelectorAll("div.timeline").forEach(start);
  // Names of instructions in tables lead to one of their records.
  document.addEventListener("click", (e) => {
    const link = e.target.closest && e.target.closest("a[data-record]");
    if (!link) return;
    const shown = [...document.querySelectorAll("div.timeline")].find((t) => !t.closest("[hidden]"));
    if (shown) shown.select(Number(link.dataset.record), true);
  });
})();
