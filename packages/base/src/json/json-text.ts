/** A constructor that returns its argument, so that a subclass adds a private field to an existing object. */
// oxlint-disable-next-line no-extraneous-class -- a constructor is all that a private field needs
class Stamped {
  constructor(value: object) {
    return value;
  }
}

/**
 * Caches the JSON text of an object in a private field of that object. The field is invisible, is freed with the
 * object, and costs a fraction of a WeakMap entry, which matters for short-lived events.
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

/** Caches `text` as the compact JSON of `value`, and returns `value`. The value must not change afterwards. */
export function rememberJson<T extends object>(value: T, text: string): T {
  if (JsonText.of(value) === null) void new JsonText(value, text);
  return value;
}

/** The cached JSON of an object, or null. */
export function rememberedJson(value: object): string | null {
  return JsonText.of(value);
}

/** The compact JSON of an object, cached if possible. */
export function jsonOf(value: object): string {
  return JsonText.of(value) ?? JSON.stringify(value);
}
