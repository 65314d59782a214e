// Opens every html page in headless Chromium, light and dark, wide and narrow: no error, nothing
// loaded from outside, nothing wider than the window; then drives every control once.
//   node pages.cjs FOLDER SCREENSHOTS
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-first-run"];
const LOOKS = [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]];

function pages(dir) {
  return fs.readdirSync(dir, { recursive: true }).filter((f) => f.endsWith(".html")).sort()
    .map((f) => [f.replace(/[/\\]/g, "_").replace(/\.html$/, ""), path.resolve(dir, f)]);
}

/** Opens a page; everything it should not do is noted in `faults`. */
async function open(browser, file, width, colorScheme, faults) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && faults.push(m.text()));
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("request", (r) => r.url().startsWith("file:") || faults.push("loads " + r.url()));
  await page.goto("file://" + file);
  return page;
}

async function looks(browser, name, file, shots) {
  for (const [width, scheme] of LOOKS) {
    const faults = [];
    const page = await open(browser, file, width, scheme, faults);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert(wide <= 0, `${name} at ${width}: ${wide} pixels too wide`);
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = background.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) > 384;
    assert.strictEqual(light, scheme === "light", `${name}: ${background} is not ${scheme}`);
    // Every canvas that shows has something on it.
    const empty = await page.evaluate(() => [...document.querySelectorAll("canvas")]
      .filter((c) => c.clientWidth > 0)
      .filter((c) => !c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v)).length);
    assert.strictEqual(empty, 0, `${name}: empty canvas`);
    await page.screenshot({ path: path.join(shots, `${name}-${width}-${scheme}.png`), fullPage: true });
    assert.deepStrictEqual(faults, [], `${name} at ${width}, ${scheme}`);
    await page.close();
  }
}

async function links(page, name) {
  const dead = await page.evaluate(() => [...document.querySelectorAll("a[href]")]
    .map((a) => a.getAttribute("href"))
    .filter((h) => !h.startsWith("#") || !document.getElementById(decodeURIComponent(h.slice(1)))));
  assert.deepStrictEqual(dead, [], `${name}: links that lead nowhere`);
}

const visible = (page, what) => page.locator(what).filter({ visible: true });

/** Sorts and filters every table that shows, as far as it can be. */
async function tables(page, name) {
  const ids = await visible(page, "table.sorts").evaluateAll((all) => all.map((t) => t.id));
  for (const id of ids) {
    if (await page.locator(`#${id} thead th.number`).count() > 0) await sorts(page, name, id);
    if (await page.locator(`#${id}-filter`).count() > 0) await filters(page, name, id);
  }
}

async function sorts(page, name, id) {
  const head = page.locator(`#${id} thead th.number`).first();
  const column = await head.evaluate((th) => th.cellIndex);
  const values = () => page.$$eval(`#${id} tbody tr`, (rows, c) => rows.map((r) => Number(r.cells[c].dataset.v)), column);
  const numbers = (list) => list.filter((v) => !Number.isNaN(v));
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.strictEqual(await head.getAttribute("aria-sort"), "descending", name);
  const down = numbers(await values());
  assert.deepStrictEqual(down, [...down].sort((a, b) => b - a), `${name}: ${id} descending`);
  await head.locator("button").click();
  assert.strictEqual(await head.getAttribute("aria-sort"), "ascending", name);
  const up = numbers(await values());
  assert.deepStrictEqual(up, [...up].sort((a, b) => a - b), `${name}: ${id} ascending`);
}

async function filters(page, name, id) {
  const filter = page.locator(`#${id}-filter`);
  const rows = page.locator(`#${id} tbody tr`);
  const hidden = () => rows.evaluateAll((all) => all.filter((r) => r.hidden).length);
  const all = await rows.count();
  const word = (await rows.first().innerText()).split(/\s+/).find((w) => w.length > 2);
  if (word) {
    await filter.fill(word);
    const shown = all - await hidden();
    assert(shown >= 1 && shown <= all, `${name}: ${id} filter ${word}`);
  }
  await filter.fill("no row holds this");
  assert.strictEqual(await hidden(), all, `${name}: ${id} filter`);
  assert.strictEqual(await page.locator(`#${id}-count`).innerText(), `0 of ${all} rows`);
  await filter.fill("");
  assert.strictEqual(await hidden(), 0, `${name}: ${id} filter cleared`);
}

/** The chart's range as it says it: first cycle, last cycle, cycles of the run. */
async function range(chart) {
  const text = await chart.locator(".tools .count").innerText();
  return text.match(/\d+/g).map(Number);
}

async function timeline(page, name) {
  const chart = visible(page, "div.timeline").first();
  const canvas = chart.locator("canvas");
  const picture = () => canvas.evaluate((c) => c.toDataURL());
  const [, , cycles] = await range(chart);
  const whole = await picture();
  const button = (label) => chart.getByRole("button", { name: label, exact: true });
  await button("Zoom in").click();
  let [from, to] = await range(chart);
  assert(to - from < cycles, `${name}: zoom in`);
  assert.notStrictEqual(await picture(), whole, `${name}: zoom draws`);
  await button("Later").click();
  assert((await range(chart))[0] > from, `${name}: later`);
  await button("Earlier").click();
  await button("Zoom out").click();
  await button("Whole run").click();
  assert.deepStrictEqual(await range(chart), [0, cycles, cycles]);
  // By keyboard alone: the canvas is the next stop behind the buttons.
  await page.keyboard.press("Tab");
  assert(await canvas.evaluate((c) => c === document.activeElement), `${name}: tab order`);
  for (let i = 0; i < 4; i++) await page.keyboard.press("+");
  [from, to] = await range(chart);
  assert(to - from <= Math.max(8, cycles / 15), `${name}: key +`);
  await page.keyboard.press("ArrowRight");
  assert((await range(chart))[0] > from, `${name}: right`);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("End");
  assert.strictEqual((await range(chart))[1], cycles, `${name}: End`);
  await page.keyboard.press("Home");
  assert.strictEqual((await range(chart))[0], 0, `${name}: Home`);
  await page.keyboard.press("-");
  await page.keyboard.press("n");
  const detail = chart.locator(".detail");
  const first = await detail.innerText();
  assert.match(first, /#\d+ .*cycles \d+ to \d+/, `${name}: next record`);
  await page.keyboard.press("n");
  assert.notStrictEqual(await detail.innerText(), first, `${name}: another record`);
  await page.keyboard.press("p");
  assert.strictEqual(await detail.innerText(), first, `${name}: the record before`);
  await page.keyboard.press("0");
  // Wheel and drag.
  const box = await canvas.boundingBox();
  const middle = [box.x + box.width * 0.6, box.y + box.height * 0.6];
  await page.mouse.move(...middle);
  await page.mouse.wheel(0, -600);
  await page.waitForFunction(([c, n]) => Number(c.textContent.match(/\d+/g)[1]) - Number(c.textContent.match(/\d+/g)[0]) < n,
    [await chart.locator(".tools .count").elementHandle(), cycles]);
  [from] = await range(chart);
  await page.mouse.down();
  await page.mouse.move(middle[0] + 120, middle[1], { steps: 4 });
  await page.mouse.up();
  assert((await range(chart))[0] < from, `${name}: drag`);
  await page.keyboard.press("0");
  // Somewhere on the canvas there is a record to click, and a tip over it.
  let hit = false;
  for (let y = 30; y < box.height && !hit; y += 7) {
    for (let x = 120; x < box.width && !hit; x += 40) {
      await page.mouse.move(box.x + x, box.y + y);
      hit = await chart.locator(".tip").filter({ visible: true }).count() > 0 &&
        (await chart.locator(".tip").innerText()).startsWith("#");
      if (hit) await page.mouse.click(box.x + x, box.y + y);
    }
  }
  assert(hit, `${name}: no record under the pointer`);
  assert.match(await detail.innerText(), /#\d+/, `${name}: click`);
  const place = detail.locator("a[href^='#L']").first();
  const line = (await place.getAttribute("href")).slice(1);
  await place.click();
  await page.waitForTimeout(50);
  const seen = await page.locator(`#${line}`).evaluate((r) => {
    const at = r.getBoundingClientRect();
    return at.top >= 0 && at.bottom <= window.innerHeight;
  });
  assert(seen, `${name}: line ${line} is not in view`);
  await visible(page, "a[data-record]").last().click();
  assert.match(await detail.innerText(), /#\d+/, `${name}: from a table to the timeline`);
}

async function buffer(page, name) {
  const chart = visible(page, "div.ub").first();
  const canvas = chart.locator("canvas");
  const picture = () => canvas.evaluate((c) => c.toDataURL());
  await chart.getByRole("button", { name: "Whole run", exact: true }).click();
  const before = await picture();
  const addresses = chart.locator("select");
  const options = await addresses.locator("option").count();
  assert(options > 1, `${name}: no tile`);
  await addresses.selectOption({ index: options - 1 });
  assert.notStrictEqual(await picture(), before, `${name}: addresses of a tile`);
  await addresses.selectOption({ index: 0 });
  await chart.getByRole("button", { name: "Zoom in", exact: true }).click();
  const both = await Promise.all([range(chart), range(visible(page, "div.timeline").first())]);
  assert.deepStrictEqual(both[0], both[1], `${name}: the charts zoom together`);
  await chart.getByRole("button", { name: "Whole run", exact: true }).click();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
  assert.match(await chart.locator(".tip").innerText(), /bank \d+, group \d+/, `${name}: tip`);
}

async function drive(browser, name, file, shots) {
  const faults = [];
  const page = await open(browser, file, 1280, "light", faults);
  await links(page, name);
  await tables(page, name);
  const choices = page.locator("fieldset.switch label");
  const views = Math.max(1, await choices.count());
  for (let i = 0; i < views; i++) {
    if (i > 0) {
      await page.locator("fieldset.switch input").nth(i - 1).focus();
      await page.keyboard.press("ArrowRight");
      assert(await page.locator("fieldset.switch input").nth(i).isChecked(), `${name}: switch`);
      await page.mouse.move(0, 0);
    }
    const other = await page.evaluate(() => [...document.querySelectorAll("fieldset.switch")]
      .flatMap((box) => [...document.querySelectorAll(`[data-${box.dataset.name}]`)]
        .filter((part) => part.hidden !== (part.dataset[box.dataset.name] !== box.querySelector(":checked").value))));
    assert.strictEqual(other.length, 0, `${name}: view ${i} shows another one`);
    if (i > 0) await tables(page, `${name}, view ${i}`);
    if (await visible(page, "div.timeline").count() === 0) continue;
    await page.screenshot({ path: path.join(shots, `${name}-view${i}.png`), fullPage: true });
    await timeline(page, `${name}, view ${i}`);
    await buffer(page, `${name}, view ${i}`);
  }
  // Light turns dark under the open page.
  const canvas = visible(page, "canvas").first();
  if (await canvas.count()) {
    const light = await canvas.evaluate((c) => c.toDataURL());
    await page.emulateMedia({ colorScheme: "dark" });
    await page.waitForTimeout(50);
    assert.notStrictEqual(await canvas.evaluate((c) => c.toDataURL()), light, `${name}: redraw`);
  }
  assert.deepStrictEqual(faults, [], name);
  await page.close();
}

(async () => {
  const [dir, shots] = process.argv.slice(2);
  const all = pages(dir);
  assert(all.length > 0, "no page");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS });
  try {
    for (const [name, file] of all) {
      await looks(browser, name, file, shots);
      await drive(browser, name, file, shots);
      console.log(`${name}: ok, ${fs.statSync(file).size} bytes`);
    }
  } finally {
    await browser.close();
  }
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
