/** How much of a text a message quotes, in UTF-16 code units. */
const QUOTED_LENGTH = 500;

/** Up to where a text is searched for what to quote, in UTF-16 code units. */
const SEARCHED_LENGTH = 4_096;

/** Looks for the title of a page. */
const TITLE = /<title[^>]*>([^<]*)/i;

/** What a message quotes of a body that is no stream: the title of a page, or the beginning of a text. */
export function excerptOf(text: string, contentType: string = ""): string {
  const beginning = text.trimStart().slice(0, SEARCHED_LENGTH);
  const title = contentType === "text/html" ? TITLE.exec(beginning)?.[1]?.trim() : undefined;
  return (title || beginning).replace(/\s+/g, " ").slice(0, QUOTED_LENGTH).trimEnd();
}
