const PREFIX = "chat-lab:";

/**
 * What survives a reload, in this tab only: other tabs have their own, and closing the tab forgets it. Where nothing
 * can be stored, each page begins empty.
 */
export function keep(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // The storage is full or forbidden. The page works without it.
  }
}

/** The value that was kept last under a name; null if there is none. */
export function kept(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null");
  } catch {
    return null;
  }
}

/** The same, for texts. */
export function keptText(name: string): string {
  const value = kept(name);
  return typeof value === "string" ? value : "";
}

/** Fills the field with what was kept, and keeps each change. */
export function keepField(field: HTMLInputElement | HTMLTextAreaElement): void {
  const isBox = field instanceof HTMLInputElement && field.type === "checkbox";
  const value = kept(field.id);
  if (isBox && typeof value === "boolean") field.checked = value;
  if (!isBox && typeof value === "string") field.value = value;
  for (const name of ["input", "change"]) field.addEventListener(name, () => keep(field.id, valueOf(field)));
}

function valueOf(field: HTMLInputElement | HTMLTextAreaElement): string | boolean {
  return field instanceof HTMLInputElement && field.type === "checkbox" ? field.checked : field.value;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
