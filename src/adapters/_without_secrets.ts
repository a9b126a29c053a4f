/** What an engine says of a header that it cannot send, such as a key with a line's end in it. */
const HEADER_VALUE = /\binvalid (?:header )?value\b/i;

/** An address, from behind its scheme on. */
const ADDRESS = /:\/\/[^\s"'<>()]*/g;

/** Who asks, in an address. */
const CREDENTIALS = /^:\/\/[^/?#]*@/;

/**
 * Takes out of what an engine says of a request what may be a key: the query of an address, where some
 * APIs have theirs, who asks, and the value of a header.
 */
export function withoutSecrets(text: string): string {
  if (/header/i.test(text) && HEADER_VALUE.test(text)) return "Invalid header value";
  return text.replace(
    ADDRESS,
    (address) => address.replace(CREDENTIALS, "://").replace(/[?#].*$/, "?…"),
  );
}
