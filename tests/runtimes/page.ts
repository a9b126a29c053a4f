/** Runs the suite in a page, and posts its verdicts to the server. */

import { runSuite } from "./suite.ts";

/** What is used of the page. */
interface Page {
  readonly document: {
    createElement(name: "iframe"): { readonly contentWindow: { readonly JSON: JSON } };
    readonly body: { append(element: unknown): void };
  };
  readonly location: { readonly href: string; readonly search: string };
}

const { document, location } = globalThis as unknown as Page;
const unhandled: unknown[] = [];
addEventListener("unhandledrejection", (event) => unhandled.push(event.reason));

const frame = document.createElement("iframe");
document.body.append(frame);
const parseElsewhere = (text: string) => frame.contentWindow.JSON.parse(text);

const lines: string[] = [];
const server = new URL("/", location.href).href;
for await (const verdict of runSuite({ server, parseElsewhere, unhandled })) {
  lines.push(JSON.stringify(verdict));
}
await fetch(new URL(`report${location.search}`, server), {
  method: "POST",
  body: lines.join("\n"),
});
