/** The model engines that have a column in the field ledger. */
export type EngineKind = "built-in" | "chat-completions";

const ENGINE_PART = /^(built-in|chat-completions): /;
/** These do not describe behaviour. */
const ASIDE = /^(extension: |see its .*$)/;

/**
 * The part of a field ledger note for users of this engine: the part that begins with the engine's name, otherwise the
 * text before all such parts. Null if it is empty.
 */
export function ledgerNote(note: string | undefined, engine: EngineKind): string | null {
  const parts: Record<EngineKind | "all", string[]> = { all: [], "built-in": [], "chat-completions": [] };
  let current: keyof typeof parts = "all";
  for (const part of (note ?? "").split("; ")) {
    const [, name] = ENGINE_PART.exec(part) ?? [];
    if (name === "built-in" || name === "chat-completions") current = name;
    const text = part.replace(ENGINE_PART, "").replace(ASIDE, "");
    if (text !== "") parts[current].push(text);
  }
  const own = parts[engine].length === 0 ? parts.all : parts[engine];
  return own.length === 0 ? null : own.join("; ");
}
