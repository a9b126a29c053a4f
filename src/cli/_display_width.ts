/** What a terminal shows twice as wide: East Asian wide and fullwidth characters. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;

/** What is shown as a picture, by itself or because a variation selector says so. */
const PICTURE = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;

/** What is shown on top of what comes before, or not at all. */
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** How many columns of a terminal a text takes that has no control characters. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += segmentWidth(segment);
  return width;
}

/** Cuts a text to so many columns of a terminal, with an ellipsis where something is left out. */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return "";
  // No character is wider than two columns, and few have more than four code units.
  const begin = text.slice(0, 16 * width + 16);
  let taken = 0;
  let kept = "";
  let fitting = "";
  for (const { segment } of SEGMENTER.segment(begin)) {
    taken += segmentWidth(segment);
    if (taken > width) return `${fitting}…`;
    kept += segment;
    if (taken < width) fitting = kept;
  }
  return begin.length === text.length ? kept : `${fitting}…`;
}

/** Fills a text up with spaces to so many columns, or cuts it to them. */
export function fitToWidth(text: string, width: number): string {
  const cut = cutToWidth(text, width);
  return cut + " ".repeat(Math.max(0, width - displayWidth(cut)));
}

function segmentWidth(segment: string): number {
  if (UNSEEN.test(segment)) return 0;
  return PICTURE.test(segment) || WIDE.test(segment) ? 2 : 1;
}
