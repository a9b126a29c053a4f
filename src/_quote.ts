/** How many UTF-16 code units of a name from the wire a message shows. */
const NAME_LENGTH = 64;

/** Cuts a name from the wire to what belongs in a message or a log. */
export function clip(name: string): string {
  return name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name;
}

/** Quotes a name from the wire: cut, and with control characters escaped. */
export function quote(name: string): string {
  return JSON.stringify(clip(name));
}
