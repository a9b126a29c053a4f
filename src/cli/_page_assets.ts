/** The style of a page. Attributes of elements carry none, so that a strict policy can forbid it. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #23262b; --soft: #666b73; --line: #e4e1dc;
  --text: #3567a8; --thinking: #7a5ba6; --tool_call: #2b7d70; --wrong: #b3322f; --fine: #2f7a4b;
  --stall: #b07a1c; --wrong-back: #fbeceb; --fine-back: #eaf4ed; --hover: #f1efeb;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17191c; --card: #1f2226; --ink: #e3e1dc; --soft: #9a9da3; --line: #33373c;
    --text: #7fadea; --thinking: #b79be0; --tool_call: #6fc0b1; --wrong: #f0857f; --fine: #7fcb9b;
    --stall: #dcae5c; --wrong-back: #3a2322; --fine-back: #1f3327; --hover: #282c31;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0 auto; max-width: 72rem; padding: 2.5rem 1.5rem 4rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: 1.05rem; font-weight: 500; color: var(--soft); margin: 0 0 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.6rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; margin: 0; }
h3 {
  font-size: 0.8rem; font-weight: 600; letter-spacing: 0.06em; text-transform: uppercase;
  color: var(--soft); margin: 2.5rem 0 0.75rem;
}
p { margin: 0.5rem 0 0; max-width: 46rem; }
code, pre, .mono { font-family: var(--mono); font-size: 0.84em; font-variant-ligatures: none; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; }
a { color: var(--text); }
:focus-visible { outline: 2px solid var(--text); outline-offset: 2px; border-radius: 4px; }
nav ol { list-style: none; margin: 0 0 2rem; padding: 0; columns: 20rem; }
nav li { break-inside: avoid; overflow-wrap: anywhere; }
section + section { margin-top: 4rem; padding-top: 3rem; border-top: 1px solid var(--line); }
.verdict { border-left: 4px solid var(--fine); background: var(--fine-back); border-radius: 0 8px 8px 0; padding: 1.1rem 1.4rem 1.2rem; }
.verdict.wrong { border-color: var(--wrong); background: var(--wrong-back); }
.verdict h2 { color: var(--fine); overflow-wrap: anywhere; }
.verdict.wrong h2 { color: var(--wrong); }
.verdict dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 1rem 0 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.facts { color: var(--soft); font-size: 0.92rem; }
mark { background: none; color: var(--wrong); font-weight: 600; text-decoration: underline; text-underline-offset: 3px; }
.lanes { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.9rem 1rem 0.7rem; }
.lane { display: grid; grid-template-columns: minmax(5rem, 11rem) 1fr 4rem; gap: 0.9rem; align-items: center; }
.lane > span { font-size: 0.84rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.lane > span:last-child { text-align: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.lane svg { display: block; width: 100%; height: 1.75rem; overflow: visible; }
.text { color: var(--text); } .thinking { color: var(--thinking); } .tool_call { color: var(--tool_call); }
.stream { color: var(--soft); }
.span { fill: currentColor; opacity: 0.16; } .open { opacity: 0.07; }
.bars { fill: currentColor; opacity: 0.85; } .mark { fill: currentColor; }
.stall { fill: var(--stall); opacity: 0.2; }
.cross { stroke: var(--wrong); stroke-width: 2; vector-effect: non-scaling-stroke; }
.rule { stroke: var(--wrong); stroke-width: 1; stroke-dasharray: 3 3; vector-effect: non-scaling-stroke; opacity: 0.7; }
.cursor { stroke: var(--ink); stroke-width: 1; vector-effect: non-scaling-stroke; opacity: 0.5; }
.lane svg.axis { height: 1.2rem; font-size: 0.8rem; }
.tick { fill: var(--soft); } .fault { fill: var(--wrong); font-weight: 600; }
.left-out { color: var(--soft); font-size: 0.84rem; padding: 0.15rem 0; }
.events { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1.25rem; align-items: start; }
.events ol { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.events li + li { border-top: 1px solid var(--line); }
.events li.left-out { padding: 0.4rem 0.9rem; text-align: center; }
.event {
  display: grid; grid-template-columns: 5.6rem 9.8rem 1fr; gap: 0.75rem; width: 100%; padding: 0.42rem 0.9rem;
  border: 0; background: none; color: inherit; font: inherit; font-size: 0.86rem; text-align: left;
}
button.event { cursor: pointer; }
.event:focus-visible { outline-offset: -2px; }
.event:hover, .event.shown { background: var(--hover); }
.event .place { color: var(--soft); font-variant-numeric: tabular-nums; }
.event .type { font-weight: 550; overflow-wrap: anywhere; }
.event .what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); min-width: 0; }
.event.wrong { background: var(--wrong-back); box-shadow: inset 4px 0 0 var(--wrong); }
.event.wrong .type, .event.wrong .place { color: var(--wrong); }
.event.wrong .what { white-space: normal; color: inherit; overflow-wrap: anywhere; }
.inspector { position: sticky; top: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.8rem 1rem; max-height: calc(100vh - 2rem); overflow: auto; }
.inspector p { margin: 0 0 0.5rem; font-size: 0.84rem; color: var(--soft); }
.message { display: grid; gap: 0.75rem; margin-top: 1rem; }
.block { background: var(--card); border: 1px solid var(--line); border-left: 4px solid currentColor; border-radius: 4px 8px 8px 4px; padding: 0.7rem 1rem 0.8rem; }
.block h4 { margin: 0 0 0.35rem; font-size: 0.84rem; font-weight: 600; overflow-wrap: anywhere; }
.block > * + * { color: var(--ink); }
.block .said { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; max-width: 46rem; }
footer { margin-top: 4rem; color: var(--soft); font-size: 0.84rem; }
@media (max-width: 46rem) {
  body { padding: 1.25rem 1rem 3rem; }
  h2 { font-size: 1.3rem; }
  .verdict { padding: 0.9rem 1rem 1rem; }
  .verdict dl { grid-template-columns: 1fr; gap: 0; }
  .verdict dd + dt { margin-top: 0.5rem; }
  .lanes { padding: 0.7rem 0.75rem; }
  .lane { grid-template-columns: 5.4rem 1fr 2.9rem; gap: 0.5rem; }
  .events { display: block; }
  .event { grid-template-columns: 3.4rem 1fr; gap: 0 0.6rem; min-height: 2.75rem; }
  .event .what { grid-column: 2; }
  button.event { scroll-margin: 1rem 0 44vh; }
  .inspector { top: auto; bottom: 0.5rem; max-height: 40vh; margin-top: 0.75rem; box-shadow: 0 -2px 18px rgb(0 0 0 / 0.18); }
  .inspector.idle { position: static; box-shadow: none; }
}
@media print { .inspector { display: none; } .events { display: block; } }
`;

/** The script of a page: shows the event's JSON that is pointed at, or that has the focus. */
export const PAGE_SCRIPT = `
"use strict";
for (const section of document.querySelectorAll("section")) {
  const rows = JSON.parse(section.querySelector("script").textContent);
  const buttons = [...section.querySelectorAll("button.event")];
  const inspector = section.querySelector(".inspector");
  const [heading, json] = inspector.children;
  const cursors = section.querySelectorAll(".cursor");
  let shown;
  const show = (index) => {
    const row = rows[index];
    if (!row) return;
    if (shown !== undefined) buttons[shown].classList.remove("shown");
    shown = index;
    buttons[index].classList.add("shown");
    inspector.classList.remove("idle");
    heading.textContent = row.title;
    json.textContent = row.json;
    for (const cursor of cursors) {
      cursor.setAttribute("x1", row.from);
      cursor.setAttribute("x2", row.from);
      cursor.removeAttribute("visibility");
    }
  };
  buttons.forEach((button, index) => {
    // Not when it is entered: that happens too when the page moves under the pointer.
    button.addEventListener("pointermove", () => show(index));
    button.addEventListener("click", () => show(index));
    button.addEventListener("focus", () => {
      show(index);
      // Where the JSON lies over the end of the window, the event is not to lie under it.
      button.scrollIntoView({ block: "nearest" });
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || !buttons[index + step]) return;
      event.preventDefault();
      buttons[index + step].focus();
    });
  });
  // The offending event first, where that hides nothing.
  const wrong = buttons.findIndex((button) => button.classList.contains("wrong"));
  if (wrong >= 0 && matchMedia("(min-width: 46.01rem)").matches) show(wrong);
  const nearest = (svg, event) => {
    const { left, width } = svg.getBoundingClientRect();
    const at = (event.clientX - left) / width * 1000;
    const lane = Number(svg.dataset.lane);
    let best;
    let least = Infinity;
    rows.forEach((row, index) => {
      if (row.lane !== lane) return;
      const distance = Math.max(row.from - at, at - row.to, 0);
      if (distance < least) [best, least] = [index, distance];
    });
    return best;
  };
  for (const svg of section.querySelectorAll("svg[data-lane]")) {
    svg.addEventListener("pointermove", (event) => {
      const index = nearest(svg, event);
      if (index !== undefined) show(index);
    });
    svg.addEventListener("click", (event) => {
      const index = nearest(svg, event);
      if (index !== undefined) buttons[index].focus();
    });
  }
}
`;
