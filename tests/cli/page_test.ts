import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { renderPage } from "../../src/cli/_page.ts";
import { readVectorFiles } from "../_vectors.ts";
import { HOSTILE, LARGE } from "./_pages.ts";
import { record } from "./_recorded.ts";
import { eventsOf, HEALTHY, without } from "./_streams.ts";

/** The page without its style and scripts. */
function markupOf(page: string): string {
  return page.replace(/<(style|script)[^>]*>[^]*?<\/\1>/g, "");
}

/** The JSON of the rows of a page's only stream. */
function rowsOf(page: string): Array<{ title: string; json: string; lane: number }> {
  const [, data = "[]"] = /<script type="application\/json">([^]*?)<\/script>/.exec(page) ?? [];
  return JSON.parse(data);
}

Deno.test("renderPage says first what is wrong, and marks the event", () => {
  const page = renderPage([record(without(HEALTHY, 3))]);
  assertStringIncludes(page, `<h2 id="verdict-0">✗ content_mismatch</h2>`);
  assertStringIncludes(page, "event 5, line 6, byte 400");
  assertEquals(page.match(/class="event wrong"/g)?.length, 1);
  const rows = markupOf(page).match(/<button type="button" class="event[^]*?<\/button>/g) ?? [];
  assertEquals(rows.length, rowsOf(page).length);
  const wrong = rows.findIndex((row) => row.includes("event wrong"));
  assertStringIncludes(rowsOf(page)[wrong]?.title ?? "", "Event 5,");
  assertStringIncludes(rowsOf(page)[wrong]?.json ?? "", `"type": "thinking_end"`);
  assertStringIncludes(renderPage([record(HEALTHY)]), "✓ Well-formed");
  const cut = renderPage([record(HEALTHY.slice(0, 4))]);
  assertStringIncludes(cut, "✗ truncated");
  assertStringIncludes(cut, "✗ the end");
});

Deno.test("renderPage allows its own style and script, and nothing else", () => {
  const page = renderPage([record(HEALTHY)]);
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  assertStringIncludes(policy, "default-src 'none'");
  assert(!policy.includes("unsafe"), policy);
  for (const tag of ["style", "script"]) {
    const [, text = ""] = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page) ?? [];
    const hash = createHash("sha256").update(text).digest("base64");
    assertStringIncludes(policy, `${tag}-src 'sha256-${hash}'`);
  }
  assert(!/ style=| on\w+=|https?:|<(img|link|iframe|object|form)\b/.test(markupOf(page)));
});

Deno.test("renderPage shows whatever a stream holds as text", () => {
  const page = renderPage([record(HOSTILE, { file: "</title><script>alert(1)</script>" })]);
  assertEquals(page.match(/<script/g)?.length, 2);
  assertEquals(page.match(/<\/script/g)?.length, 2);
  const markup = markupOf(page);
  assert(!/<(img|b)\b/i.test(markup));
  // deno-lint-ignore no-control-regex -- they are what it is about
  assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(page));
  for (const { title, json } of rowsOf(page)) {
    assert(title !== "" && json !== "");
  }
});

Deno.test("renderPage takes the streams of all vectors, and no stream at all", () => {
  for (const { vectors } of readVectorFiles()) {
    const streams = vectors.slice(0, 40).map(({ events }, index) => record(events, { index }));
    const page = renderPage(streams);
    assertEquals(page.match(/<section /g)?.length, streams.length);
  }
  assertStringIncludes(renderPage([]), "0 streams");
});

Deno.test("renderPage stays light whatever the stream weighs", () => {
  const page = renderPage([record(LARGE)]);
  assert(page.length < 200_000, `${page.length}`);
  assertEquals(page.match(/class="event wrong"/g)?.length, 1);
  const single = Array.from({ length: 100_000 }, (_, place) => ({ type: "ping", place }));
  const pings = renderPage([record([{ type: "start" }, ...single])]);
  assert(pings.length < 400_000, `${pings.length}`);
  assertStringIncludes(pings, "events left out");
  const content = Array.from({ length: 10_000 }, (_, index) => ({
    type: "text" as const,
    text: `Block ${index}`,
  }));
  const blocks = renderPage([record(eventsOf(content))]);
  assert(blocks.length < 600_000, `${blocks.length}`);
  assertStringIncludes(blocks, "blocks left out");
  const many = renderPage(Array.from({ length: 20 }, (_, index) => record(LARGE, { index })));
  assert(many.length < 2_000_000, `${many.length}`);
});

Deno.test("renderPage survives what nests deep", () => {
  let nested: unknown = 1;
  for (let level = 0; level < 100_000; level++) nested = level % 2 ? [nested] : { a: nested };
  const page = renderPage([record([{ type: "start" }, { type: "ping", nested }])]);
  assert(page.length < 60_000);
});
