/**
 * Opens the pages of a folder in Chromium, in both colour schemes and at two widths, and holds them
 * to what a page promises. For Node, where puppeteer is at home.
 *
 * node _open_pages.mjs PACKAGES CHROMIUM FOLDER [SCREENSHOTS]
 */

import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [packages, executablePath, folder, screenshots] = process.argv.slice(2);
const resolved = createRequire(`${packages}/package.json`).resolve("puppeteer-core");
const { default: puppeteer } = await import(pathToFileURL(resolved).href);

/** The least contrast of a text with what is behind it that is easily read. */
const LEAST_CONTRAST = 4.5;

/** How long a page may take until it can be used, in milliseconds. */
const PATIENCE = 10_000;

/** What Chromium finds in a page; runs there. */
function look() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    const [, , , alpha = 1] = channels(backgroundColor);
    return alpha === 0 && element.parentElement
      ? backgroundOf(element.parentElement)
      : backgroundColor;
  };
  const faint = [];
  const texts =
    "h1, h2, h3, h4, p, dt, dd, mark, a, pre, .place, .type, .what, .lane > span, .said";
  for (const element of document.querySelectorAll(texts)) {
    if (element.textContent.trim() === "" || element.getClientRects().length === 0) continue;
    const [one, other] = [getComputedStyle(element).color, backgroundOf(element)].map(luminance);
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) {
      faint.push(`${element.className || element.tagName} ${contrast.toFixed(1)}`);
    }
  }
  return {
    paper: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - innerWidth,
    faint: [...new Set(faint)],
    intruder: globalThis.intruder,
    verdicts: [...document.querySelectorAll(".verdict h2")].map(({ textContent }) => textContent),
    wrong: [...document.querySelectorAll("section")].map((section) =>
      section.querySelectorAll(".event.wrong").length
    ),
    rows: document.querySelectorAll("button.event").length,
    lines: document.querySelectorAll("svg .rule").length,
  };
}

/** The text of the first element of a kind, and of the JSON that is shown beside it. */
const textOf = (page, selector) => page.$eval(selector, ({ textContent }) => textContent);
const JSON_SHOWN = "section:has(button.event) .inspector pre";

/** Uses a page as a person does; gives back what is not as it should be. */
async function use(page, failures) {
  const expect = (holds, what) => {
    if (!holds) failures.push(what);
  };
  const section = await page.$("section:has(button.event)");
  const [first, second] = await section.$$("button.event");
  await first.focus();
  const focused = await textOf(page, JSON_SHOWN);
  expect(focused.trim() !== "", "the focus shows no JSON");
  if (second) {
    await page.keyboard.press("ArrowDown");
    const hasMoved = await second.evaluate((row) => row === document.activeElement);
    expect(hasMoved, "ArrowDown moves nothing");
    expect(await textOf(page, JSON_SHOWN) !== focused, "the next event shows the same JSON");
    await first.hover();
    expect(await textOf(page, JSON_SHOWN) === focused, "pointing at an event shows another one");
  }
  const lane = await page.$("svg[data-lane='0']");
  if (lane) {
    await lane.hover();
    const shown = await textOf(page, JSON_SHOWN);
    expect(/_(start|delta|end)"/.test(shown), `pointing at a lane shows ${shown.slice(0, 80)}`);
  }
  const wrong = await page.$("button.event.wrong");
  if (!wrong) return;
  await wrong.focus();
  const seen = await wrong.evaluate((row) => {
    const { left, width, top, height } = row.getBoundingClientRect();
    const other = row.closest("ol").querySelector("button.event:not(.wrong)");
    return {
      isLarge: width > 200 && height > 20,
      isCovered: !row.contains(document.elementFromPoint(left + width / 2, top + height / 2)),
      isAlike: other && getComputedStyle(other).backgroundColor ===
          getComputedStyle(row).backgroundColor,
      type: row.querySelector(".type").textContent.replace("✗ ", ""),
      json: row.closest("section").querySelector(".inspector pre").textContent,
    };
  });
  expect(seen.isLarge, "the offending event is not to be seen");
  expect(!seen.isCovered, "something lies over the offending event that has the focus");
  expect(!seen.isAlike, "the offending event looks like the others");
  if (/^\w+$/.test(seen.type)) {
    expect(seen.json.includes(`"${seen.type}"`), "the focus shows another event");
  }
}

const browser = await puppeteer.launch({
  executablePath,
  headless: true,
  // The sandbox is none for root, and the pages are ours.
  args: ["--no-sandbox"],
});
const names = (await readdir(folder)).filter((name) => name.endsWith(".html")).sort();
let passed = 0;
let failed = 0;
for (const name of names) {
  const papers = new Set();
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 375]) {
      const failures = [];
      const page = await browser.newPage();
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: colorScheme }]);
      page.setDefaultTimeout(PATIENCE);
      page.on("console", (line) => failures.push(`console: ${line.text()}`));
      page.on("pageerror", ({ message }) => failures.push(`error: ${message}`));
      page.on("dialog", (dialog) => {
        failures.push(`dialog: ${dialog.message()}`);
        dialog.dismiss();
      });
      const url = pathToFileURL(`${folder}/${name}`).href;
      page.on("request", (request) => {
        if (request.url() !== url) failures.push(`request: ${request.url()}`);
      });
      await page.goto(url, { timeout: PATIENCE });
      const seen = await page.evaluate(look);
      papers.add(seen.paper);
      const isWrong = seen.verdicts.map((verdict) => verdict.startsWith("✗"));
      if (seen.verdicts.length === 0) failures.push("no verdict");
      if (seen.overflow > 0) failures.push(`${seen.overflow} px wider than the window`);
      if (seen.intruder !== undefined) failures.push(`a script of the stream ran`);
      for (const what of seen.faint) failures.push(`contrast below ${LEAST_CONTRAST}: ${what}`);
      isWrong.forEach((wrong, section) => {
        const marks = seen.wrong[section];
        // A stream without events has no list to mark anything in.
        if (wrong ? marks > 1 : marks > 0) failures.push(`${marks} events marked as wrong`);
      });
      if (!name.startsWith("many") && isWrong[0] && seen.wrong[0] !== 1) failures.push("no mark");
      if (isWrong.includes(true) && seen.lines === 0) failures.push("no mark in the timeline");
      if (seen.rows > 0) await use(page, failures);
      if (screenshots) {
        const path = `${screenshots}/${name}-${colorScheme}-${width}.png`;
        await page.screenshot({ path, fullPage: true });
      }
      await page.close();
      const ok = failures.length === 0;
      ok ? passed++ : failed++;
      console.log(`${ok ? "ok" : "FAILED"} ${name}, ${colorScheme}, ${width} px`);
      for (const failure of failures) console.log(`   ${failure}`);
    }
  }
  if (papers.size !== 2) {
    failed++;
    console.log(`FAILED ${name} looks the same in both colour schemes`);
  }
}
await browser.close();
console.log(`\n${failed === 0 ? "ok" : "FAILED"} | ${passed} passed | ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
