export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textAt(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name];
  return typeof value === "string" ? value : null;
}

export function numberAt(record: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = record[name];
  return typeof value === "number" ? value : null;
}

/** A string unchanged, and any other value as JSON. */
export function plainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
