import { readStoredItem } from "../../../generated/responses-api/readers.js";
import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { jsonOrUndefined } from "../../base/json/read-json.ts";
import { isRecord } from "../../base/json/records.ts";
import { invalidEncryptedContent } from "../errors/state-errors.ts";
import type { Sealer } from "../keeping/seal.ts";

/** A call that the client answers with an output item. */
export type ToolCall = Extract<StoredItem, { type: "function_call" | "custom_tool_call" | "tool_search_call" }> & {
  readonly call_id: string;
};

const CALL_TYPES: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "tool_search_call"]);

/** The content of a compaction item, sealed in its `encrypted_content`. */
export interface CompactedContext {
  readonly summary: string;
  /** Which items before the compaction stay in the context. */
  readonly keeps: "user_messages" | "nothing";
  /** Calls without output when the compaction was made. */
  readonly calls: readonly ToolCall[];
}

/** Distinguishes a compaction from other content that this server seals. */
const FORM = "compaction.1";

/** `place` is the id of what holds the seal, such as a response: it makes seals of the same text differ. */
export function sealCompaction(context: CompactedContext, sealer: Sealer, place: string, owner: string): string {
  return sealer.seal(JSON.stringify({ form: FORM, ...context }), place, owner);
}

/** Throws `invalid_encrypted_content` unless this server sealed the text for this owner as a compaction. */
export function openCompaction(sealed: string, sealer: Sealer, owner: string): CompactedContext {
  const text = sealer.open(sealed, owner);
  const read = text === null ? null : readContext(text);
  if (read === null) throw invalidEncryptedContent();
  return read;
}

function readContext(text: string): CompactedContext | null {
  const value = jsonOrUndefined(text); // Sealed reasoning, for example, is not JSON.
  if (!isRecord(value) || value["form"] !== FORM) return null;
  const { summary, keeps, calls } = value;
  if (typeof summary !== "string" || (keeps !== "user_messages" && keeps !== "nothing")) return null;
  if (!Array.isArray(calls) || !calls.every(isToolCall)) return null;
  return { summary, keeps, calls };
}

export function isToolCall(item: unknown): item is ToolCall {
  return readStoredItem(item) && CALL_TYPES.has(item.type) && "call_id" in item && typeof item.call_id === "string";
}
