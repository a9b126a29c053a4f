/**
 * Opens a page in Chromium or Firefox, prints the browser's version, and leaves the page open until
 * the standard input ends. For Node, where puppeteer is at home.
 */

import { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [packages, browserName, executablePath, url] = process.argv.slice(2);
const resolved = createRequire(`${packages}/package.json`).resolve("puppeteer-core");
const { default: puppeteer } = await import(pathToFileURL(resolved).href);

const browser = await puppeteer.launch({
  browser: browserName,
  executablePath,
  headless: true,
  // The sandbox is none for root, and the page is ours.
  args: browserName === "chrome" ? ["--no-sandbox"] : [],
});
try {
  console.log(await browser.version());
  const page = await browser.newPage();
  await page.goto(url);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once("end", resolve));
} finally {
  await browser.close();
}
