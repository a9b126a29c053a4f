/**
 * Timing: all variants in one process, interleaved in random order, ratios within a round. No
 * explicit collection of garbage, which would kill what the engine has learned.
 *
 * @module
 */

/** How many samples long each variant runs before it is timed: engines go on learning for a second. */
const WARM_UP = 25;

function shuffled(values) {
  const result = [...values];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Times variants against each other.
 *
 * @param variants Functions that do the same work, by name; they may be async.
 * @param options `base`: the name of the one to compare with; `milliseconds`: how long a sample is
 * at least; `rounds`: how many samples; `isQuick`: one short round, to see that it works.
 * @returns The median of the ratios to `base`, by name.
 */
export async function compare(variants, { base, milliseconds = 40, rounds = 15, isQuick }) {
  const names = Object.keys(variants);
  const repeats = {};
  // The first time for the engine to learn, the second to know how long each takes.
  for (const times of isQuick ? [0] : [WARM_UP, 4]) {
    for (const name of names) {
      const start = performance.now();
      let count = 0;
      do {
        await variants[name]();
        count++;
      } while (performance.now() - start < times * milliseconds);
      const each = (performance.now() - start) / count;
      repeats[name] = isQuick ? 1 : Math.max(1, Math.round(milliseconds / each));
    }
  }
  const ratios = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
    const times = {};
    for (const name of shuffled(names)) {
      const run = variants[name];
      const start = performance.now();
      for (let i = 0; i < repeats[name]; i++) {
        const pending = run();
        if (pending instanceof Promise) await pending;
      }
      times[name] = (performance.now() - start) / repeats[name];
    }
    for (const name of names) ratios[name].push(times[name] / times[base]);
  }
  return Object.fromEntries(names.map((name) => [name, median(ratios[name])]));
}
