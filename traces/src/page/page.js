// What every page has: tables that sort and filter, switches between views, access to the data.
"use strict";
const ptoemu = {
  /** Data embedded under an id. */
  data(id) {
    const node = document.getElementById(id);
    return node ? JSON.parse(node.textContent) : null;
  },
  /** A colour of the page as it is now, light or dark. */
  colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  },
  /** Calls back when light turns to dark, the width changes or another view is chosen. */
  redraw: [],
};
(function () {
  const all = (root, what) => Array.from(root.querySelectorAll(what));
  const changed = () => ptoemu.redraw.forEach((f) => f());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  let pending = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(changed);
  });

  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  function sort(table, column) {
    const heads = all(table, "thead th");
    const old = heads[column].getAttribute("aria-sort");
    const numbers = heads[column].classList.contains("number");
    const first = numbers ? "descending" : "ascending";
    const second = numbers ? "ascending" : "descending";
    const order = old === first ? second : first;
    const sign = order === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row, i) => [value(row, column), i, row]);
    rows.sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1]);
    body.append(...rows.map((r) => r[2]));
    heads.forEach((h) => h.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", order);
  }
  function filter(input, table, count) {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    const rows = Array.from(table.tBodies[0].rows);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((w) => text.includes(w));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? shown + " of " + rows.length + " rows" : rows.length + " rows";
  }
  for (const table of all(document, "table.sorts")) {
    all(table, "thead th").forEach((th, i) => {
      const button = th.querySelector("button");
      if (button) button.addEventListener("click", () => sort(table, i));
    });
    const input = document.getElementById(table.id + "-filter");
    if (!input) continue;
    const count = document.getElementById(table.id + "-count");
    input.addEventListener("input", () => filter(input, table, count));
  }
  // A link into a hidden row or view must not lead nowhere.
  function reveal() {
    const to = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!to) return;
    for (let node = to; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
      if (node.tagName === "TR") node.hidden = false;
    }
    to.scrollIntoView({ block: "nearest" });
  }
  addEventListener("hashchange", reveal);

  // Switches: a radio of the group shows the parts that carry its value.
  for (const box of all(document, "fieldset.switch")) {
    const name = box.dataset.name;
    const choose = () => {
      const on = box.querySelector("input:checked");
      for (const part of all(document, "[data-" + name + "]")) {
        if (part !== box) part.hidden = part.dataset[name] !== on.value;
      }
      changed();
    };
    box.addEventListener("change", choose);
    choose();
  }
  addEventListener("load", reveal);
})();
