/** The model engines that have a column in the field ledger. */
export type EngineKind = (typeof ENGINE_KINDS)[number];

const ENGINE_KINDS = ["built-in", "chat-completions", "responses", "messages"] as const;
const ENGINE_PART = new RegExp(`^(${ENGINE_KINDS.join("|")}): `);
/** These do not describe behaviour. */
const ASIDE = /^(extension: |see its .*$)/;

/**
 * The part of a field ledger note for users of this engine: the part that begins with the engine's name, otherwise the
 * text before all such parts. Null if it is empty.
 */
export function ledgerNote(note: string | undefined, engine: EngineKind): string | null {
  const parts = new Map<EngineKind | "all", string[]>();
  let current: EngineKind | "all" = "all";
  for (const part of (note ?? "").split("; ")) {
    const [, name] = ENGINE_PART.exec(part) ?? [];
    current = ENGINE_KINDS.find((kind) => kind === name) ?? current;
    const text = part.replace(ENGINE_PART, "").replace(ASIDE, "");
    if (text !== "") parts.set(current, [...(parts.get(current) ?? []), text]);
  }
  const own = parts.get(engine) ?? parts.get("all") ?? [];
  return own.length === 0 ? null : own.join("; ");
}
