/**
 * Opens the pages of a folder in Chromium, in both colour schemes and at two widths, and holds them
 * to what a page promises. Runs under Node, where `test_page.ts` installed the driver.
 *
 * node _open_pages.mjs DRIVER CHROMIUM FOLDER [SCREENSHOTS]
 */

import { readdir } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [driver, executablePath, folder, screenshots] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(driver).href)).default;

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

/** Uses a page as a person does; gives back what is not as it should be. */
async function use(page, failures) {
  const expect = (holds, what) => {
    if (!holds) failures.push(what);
  };
  const first = page.locator("button.event").first();
  const json = page.locator("section:has(button.event) .inspector pre").first();
  await first.focus();
  const focused = await json.textContent();
  expect(focused.trim() !== "", "the focus shows no JSON");
  if (await page.locator("section:has(button.event)").first().locator("button.event").count() > 1) {
    await page.keyboard.press("ArrowDown");
    const next = page.locator("button.event").nth(1);
    expect(await next.evaluate((row) => row === document.activeElement), "ArrowDown moves nothing");
    expect(await json.textContent() !== focused, "the next event shows the same JSON");
    await first.hover();
    expect(await json.textContent() === focused, "pointing at an event does not show its JSON");
  }
  const lane = page.locator("svg[data-lane='0']").first();
  if (await lane.count() > 0) {
    await lane.hover();
    const shown = await json.textContent();
    expect(/_(start|delta|end)"/.test(shown), `pointing at a lane shows ${shown.slice(0, 80)}`);
  }
  const wrong = page.locator("button.event.wrong").first();
  if (await wrong.count() > 0) {
    await wrong.focus();
    const own = await wrong.locator(".type").textContent();
    const shown = await page.locator("section:has(.event.wrong) .inspector pre").first()
      .textContent();
    const type = own.replace("✗ ", "");
    if (/^\w+$/.test(type)) expect(shown.includes(`"${type}"`), "the focus shows another event");
    const box = await wrong.boundingBox();
    expect(box && box.height > 20 && box.width > 200, "the offending event is not to be seen");
    const isCovered = await wrong.evaluate((row) => {
      const { left, width, top, height } = row.getBoundingClientRect();
      return !row.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect(!isCovered, "something lies over the offending event that has the focus");
    const back = await wrong.evaluate((row) => getComputedStyle(row).backgroundColor);
    const other = await page.locator(".events").first().locator("button.event:not(.wrong)").first()
      .evaluate((row) => getComputedStyle(row).backgroundColor).catch(() => undefined);
    expect(back !== other, "the offending event looks like the others");
  }
}

const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
const names = (await readdir(folder)).filter((name) => name.endsWith(".html")).sort();
let passed = 0;
let failed = 0;
for (const name of names) {
  const papers = new Set();
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 375]) {
      const failures = [];
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
      page.setDefaultTimeout(PATIENCE);
      page.on("console", (line) => failures.push(`console: ${line.text()}`));
      page.on("pageerror", ({ message }) => failures.push(`error: ${message}`));
      page.on("dialog", (dialog) => failures.push(`dialog: ${dialog.message()}`));
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
