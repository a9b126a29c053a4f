import { assert, assertEquals } from "@std/assert";
import ts from "typescript";

/** The program without its types and comments, laid out anew. */
function strip(code: string): string {
  const { ES2022: target } = ts.ScriptTarget;
  const { ESNext: module } = ts.ModuleKind;
  return ts.transpileModule(code, { compilerOptions: { target, module, removeComments: true } })
    .outputText;
}

Deno.test("README shows the example Worker as it is, but for its types", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const example = await Deno.readTextFile(
    new URL("../examples/worker_proxy.ts", import.meta.url),
  );

  const shown = /^## On the edge$[^]*?^```ts ignore\n([^]*?)^```$/m.exec(readme)?.[1];

  assert(shown);
  assertEquals(strip(shown), strip(example));
});
