import { readStoredItem } from "../../../generated/responses-api/readers.js";
import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { jsonOrUndefined } from "../../base/json/read-json.ts";
import { isRecord } from "../../base/json/records.ts";
import { invalidEncryptedContent } from "../errors/state-errors.ts";
import type { Sealer } from "../keeping/seal.ts";

/** A call that the client answers. */
export type ToolCall = Extract<StoredItem, { type: "function_call" | "custom_tool_call" | "tool_search_call" }> & {
  readonly call_id: string;
};

const CALL_TYPES: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", "tool_search_call"]);

/** What a compaction item stands for; sealed in its `encrypted_content`. */
export interface CompactedContext {
  readonly summary: string;
  /** Which of the items in front of it still count. */
  readonly keeps: "user_messages" | "nothing";
  /** Calls that had no output yet when it was made. */
  readonly calls: readonly ToolCall[];
}

/** Tells a compaction from other things that this server seals. */
const FORM = "compaction.1";

/** `place` is where it goes, such as the response's id: it makes seals of the same words differ. */
export function sealCompaction(context: CompactedContext, sealer: Sealer, place: string, owner: string): string {
  return sealer.seal(JSON.stringify({ form: FORM, ...context }), place, owner);
}

/**
 * Throws invalid_encrypted_content for what this server did not seal, or not for this owner, or not as a compaction.
 */
export function openCompaction(sealed: string, sealer: Sealer, owner: string): CompactedContext {
  const text = sealer.open(sealed, owner);
  const read = text === null ? null : readContext(text);
  if (read === null) throw invalidEncryptedContent();
  return read;
}

function readContext(text: string): CompactedContext | null {
  const value = jsonOrUndefined(text); // Other things are sealed too, and they need not be JSON.
  if (!isRecord(value) || value["form"] !== FORM) return null;
  const { summary, keeps, calls } = value;
  if (typeof summary !== "string" || (keeps !== "user_messages" && keeps !== "nothing")) return null;
  if (!Array.isArray(calls) || !calls.every(isToolCall)) return null;
  return { summary, keeps, calls };
}

export function isToolCall(item: unknown): item is ToolCall {
  return readStoredItem(item) && CALL_TYPES.has(item.type) && "call_id" in item && typeof item.call_id === "string";
}
