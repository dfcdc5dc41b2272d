/** The JSON of values that were already turned into text once, for as long as the values live. */
const texts = new WeakMap<object, string>();

/** Remembers that `text` is the compact JSON of `value`, and gives `value` back. */
export function rememberJson<T extends object>(value: T, text: string): T {
  texts.set(value, text);
  return value;
}

/** The compact JSON of a value; made only if nobody made it before. */
export function jsonOf(value: object): string {
  return texts.get(value) ?? JSON.stringify(value);
}
