/** A constructor that hands back the object it is given, so that a subclass can put a private field on it. */
// oxlint-disable-next-line no-extraneous-class -- a constructor is all that a private field needs
class Stamped {
  constructor(value: object) {
    return value;
  }
}

/**
 * The JSON of values that were already turned into text once. It travels in a private field: invisible to everyone
 * else, gone with the value, and a fraction of what a WeakMap costs for each of thousands of short-lived events.
 */
class JsonText extends Stamped {
  #text: string;

  constructor(value: object, text: string) {
    super(value);
    this.#text = text;
  }

  static of(value: object): string | null {
    return #text in value ? value.#text : null;
  }
}

/** Remembers that `text` is the compact JSON of `value`, once and for all, and gives `value` back. */
export function rememberJson<T extends object>(value: T, text: string): T {
  if (JsonText.of(value) === null) void new JsonText(value, text);
  return value;
}

/** The JSON that is remembered of a value; null: none. */
export function rememberedJson(value: object): string | null {
  return JsonText.of(value);
}

/** The compact JSON of a value; made only if nobody made it before. */
export function jsonOf(value: object): string {
  return JsonText.of(value) ?? JSON.stringify(value);
}
