/** A JSON object whose members are not known beforehand. */
export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a member; empty if it is missing or no text. */
export function textAt(value: unknown, name: string): string {
  const member = isMembers(value) ? value[name] : undefined;
  return typeof member === "string" ? member : "";
}

/** The number of a member; null if it is missing or no number. */
export function numberAt(value: unknown, name: string): number | null {
  const member = isMembers(value) ? value[name] : undefined;
  return typeof member === "number" ? member : null;
}

/** The list of a member; empty if it is missing or no list. */
export function listAt(value: unknown, name: string): readonly unknown[] {
  const member: unknown = isMembers(value) ? value[name] : undefined;
  return Array.isArray(member) ? member : [];
}

/** The object of a member; empty if it is missing or no object. */
export function membersAt(value: unknown, name: string): Members {
  const member = isMembers(value) ? value[name] : undefined;
  return isMembers(member) ? member : {};
}

/** Whether a member is there and not null. */
export function hasMember(value: unknown, name: string): boolean {
  return isMembers(value) && value[name] !== undefined && value[name] !== null;
}

/** Parses JSON; undefined if the text is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Shorter JSON is shown on one line. */
const LINE_CHARACTERS_MAX = 132;

/** The text; if it is JSON, on one line with spaces, or indented if that is too long. */
export function readableJson(text: string): string {
  const value = jsonOrUndefined(text);
  if (typeof value !== "object" || value === null) return text;
  const indented = JSON.stringify(value, null, 2);
  const line = indented.replaceAll(/\n\s*/g, " ");
  return line.length <= LINE_CHARACTERS_MAX ? line : indented;
}

/** The text, indented if it is JSON. */
export function indentedJson(text: string): string {
  const value = jsonOrUndefined(text);
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : text;
}
