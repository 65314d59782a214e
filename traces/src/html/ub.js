// The map of the Unified Buffer: address down, time across.
"use strict";
(function () {
  const AXIS = 20;
  const hex = (n) => "0x" + Math.round(n).toString(16);

  function start(box) {
    const data = ptoemu.data(box.dataset.source);
    const cycles = ptoemu.data("timeline-" + box.dataset.group).cycles;
    const view = ptoemu.view(box.dataset.group, cycles);
    let low = 0, high = Math.max(data.size, 1);
    const bank = (a) => data.layer ? Math.floor(a / data.layer) : Math.floor(a / (data.block * data.groups)) % data.banks;
    const group = (a) => Math.floor(a / data.block) % data.groups;
    let room = 1;
    const y = (a) => AXIS + ((a - low) / (high - low)) * room;
    const address = (py) => low + ((py - AXIS) / room) * (high - low);
    const legend = ptoemu.element("div", { class: "legend" });
    for (const [colour, text] of [["c0", "read"], ["c1", "written"], ["c7", "reserved"]]) {
      const item = ptoemu.element("span");
      item.append(ptoemu.element("span", { class: "key", style: "background:var(--" + colour + ")" }), text);
      legend.append(item);
    }
    legend.append(ptoemu.element("span", {}, "outlined: a tile from its first to its last use"));

    const chart = new ptoemu.Chart(box, view, {
      label: "Unified Buffer: " + data.tiles.map((t) => t.name + " at " + hex(t.start) + " to " + hex(t.end)).join(", "),
      height: (c) => (c.width < 600 ? 260 : 340),
      draw, tip, click: () => {},
    });
    box.insertBefore(legend, chart.canvas);
    const choose = ptoemu.element("select", { "aria-label": "Addresses shown" });
    choose.append(ptoemu.element("option", { value: "-1" }, "all of UB"));
    data.tiles.forEach((t, i) => choose.append(ptoemu.element("option", { value: i }, t.name + " " + hex(t.start))));
    choose.addEventListener("change", () => {
      const t = data.tiles[Number(choose.value)];
      [low, high] = t ? [t.start, t.end] : [0, Math.max(data.size, 1)];
      chart.paint();
    });
    chart.tools.append(choose);

    function draw(c, chart) {
      room = chart.height - AXIS - 4;
      const left = chart.gutter;
      scale(c, chart);
      c.save();
      c.beginPath();
      c.rect(left, AXIS, chart.width - left, chart.height - AXIS);
      c.clip();
      if (data.reserved) {
        c.fillStyle = ptoemu.colour("c7");
        c.globalAlpha = 0.3;
        c.fillRect(left, y(data.reserved[0]), chart.width - left, y(data.reserved[1]) - y(data.reserved[0]));
        c.globalAlpha = 1;
      }
      for (const [from, n, at, bytes, written] of data.touches) {
        const a = chart.x(from), b = chart.x(from + n);
        if (b < left || a > chart.width || at + bytes <= low || at >= high) continue;
        c.fillStyle = ptoemu.colour(written ? "c1" : "c0");
        c.globalAlpha = 0.55;
        c.fillRect(a, y(at), Math.max(b - a, 1), Math.max(y(at + bytes) - y(at), 1.5));
        c.globalAlpha = 1;
      }
      c.strokeStyle = ptoemu.colour("fg");
      c.fillStyle = ptoemu.colour("fg");
      c.textAlign = "left";
      for (const t of data.tiles) {
        const a = chart.x(t.first), b = chart.x(t.last), top = y(t.start), h = y(t.end) - top;
        if (b < left || a > chart.width || t.end <= low || t.start >= high) continue;
        c.strokeRect(a, top + 0.5, Math.max(b - a, 1), Math.max(h - 1, 1));
        if (h > 13) c.fillText(t.name, Math.max(a, left) + 4, top + 9);
      }
      c.restore();
    }

    /** Addresses at the left; bank groups where blocks are tall enough. */
    function scale(c, chart) {
      c.textAlign = "right";
      const block = y(low + data.block) - y(low);
      if (block >= 9) {
        for (let a = low - (low % data.block); a < high; a += data.block) {
          c.fillStyle = ptoemu.colour("soft");
          c.fillText("group " + group(a), chart.gutter - 4, y(a) + block / 2);
        }
        return;
      }
      for (let i = 0; i <= 8; i++) {
        const a = low + ((high - low) * i) / 8;
        const py = Math.min(y(a) + (i ? 0 : 6), chart.height - 8);
        c.fillStyle = ptoemu.colour("soft");
        c.fillText(hex(a), chart.gutter - 4, py);
        c.strokeStyle = ptoemu.colour("line");
        c.beginPath();
        c.moveTo(chart.gutter, Math.round(y(a)) + 0.5);
        c.lineTo(chart.width, Math.round(y(a)) + 0.5);
        c.stroke();
      }
    }

    function tip(x, py, chart) {
      const a = address(py), cycle = chart.cycle(x);
      if (py < AXIS || a < 0 || a >= data.size) return null;
      const place = hex(a) + ", bank " + bank(a) + ", group " + group(a);
      const tile = data.tiles.find((t) => t.start <= a && a < t.end);
      const slack = 2 * (address(py + 1) - a);
      const hit = data.touches.filter(([from, n, at, bytes]) =>
        from <= cycle && cycle < from + n && at - slack <= a && a < at + bytes + slack);
      const what = hit.slice(0, 3).map((t) =>
        (t[4] ? "written" : "read") + " by " + data.names[t[5]] + " " + hex(t[2]) + ".." + hex(t[2] + t[3]));
      const reserved = data.reserved && a >= data.reserved[0] && a < data.reserved[1] ? ["reserved"] : [];
      return [place].concat(tile ? ["tile " + tile.name] : [], reserved, what).join("; ");
    }
  }

  document.querySelectorAll("div.ub").forEach(start);
})();
