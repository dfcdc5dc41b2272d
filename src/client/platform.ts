/** Pages and workers have a location; servers have none. */
export function isBrowser(): boolean {
  return "location" in globalThis;
}
