/** The value of a JSON text. Throws `SyntaxError` for a text that is no JSON. */
export function readJson(text: string): unknown {
  return JSON.parse(text);
}

/** The value of a JSON text, or undefined if it is no JSON: no JSON text has that value. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of a JSON text; a text that is no JSON stays as it is. */
export function jsonOrText(text: string): unknown {
  const value = jsonOrUndefined(text);
  return value === undefined ? text : value;
}
