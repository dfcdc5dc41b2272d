/** Whether this runs in a page or worker: only those have a global `location`. */
export function isBrowser(): boolean {
  return "location" in globalThis;
}
