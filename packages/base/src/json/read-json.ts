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

/** Parses JSON that this server wrote from a value of this type. The type is not checked. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of what it wrote.
export function readOwnJson<Written>(text: string): Written {
  const value: Written = JSON.parse(text);
  return value;
}
