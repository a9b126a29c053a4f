/** The version of this package, as in `deno.json`: a test holds them together. */
export const VERSION = "0.1.0";
