/** Parses JSON. Throws `SyntaxError` if the text is not JSON. */
export function readJson(text: string): unknown {
  return JSON.parse(text);
}

/** Parses JSON; undefined if the text is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON; returns the text itself if it is not JSON. */
export function jsonOrText(text: string): unknown {
  const value = jsonOrUndefined(text);
  return value === undefined ? text : value;
}
