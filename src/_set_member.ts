/**
 * Sets a member of an object or an array, whatever it is called: to assign `__proto__` would set the
 * prototype, and to assign what a frozen `Object.prototype` has would throw.
 */
export function setMember(holder: object, key: string | number, value: unknown): void {
  const attributes = { writable: true, enumerable: true, configurable: true };
  Object.defineProperty(holder, key, { value, ...attributes });
}
