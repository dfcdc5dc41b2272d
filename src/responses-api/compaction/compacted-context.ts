import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readStoredItem } from "@antiphon/contracts/responses-api/readers.js";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { invalidEncryptedContent } from "../errors/state-errors.ts";
import type { Sealer } from "../seal.ts";

/** An item that the client answers with another item: a call by its output, a question by its approval. */
export type OpenCall = Extract<StoredItem, { type: (typeof CALL_TYPES)[number] }>;

const CALL_TYPES = [
  "function_call",
  "custom_tool_call",
  "tool_search_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "mcp_approval_request",
] as const;
const CALLS: ReadonlySet<string> = new Set(CALL_TYPES);

/** The content of a compaction item, sealed in its `encrypted_content`. */
export interface CompactedContext {
  readonly summary: string;
  /** Which items before the compaction stay in the context. */
  readonly keeps: "user_messages" | "nothing";
  /** Calls without output when the compaction was made. */
  readonly calls: readonly OpenCall[];
}

/** Distinguishes a compaction from other content that this server seals. */
const FORM = "compaction.1";

/** `place` is the id of the object with the seal, such as a response: it makes seals of the same text differ. */
export function sealCompaction(context: CompactedContext, sealer: Sealer, place: string, owner: string): string {
  return sealer.seal(JSON.stringify({ form: FORM, ...context }), place, owner);
}

/** Throws `invalid_encrypted_content` unless this server sealed the text for this owner as a compaction. */
export function openCompaction(sealedText: string, sealer: Sealer, owner: string): CompactedContext {
  const text = sealer.open(sealedText, owner);
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

export function isToolCall(item: unknown): item is OpenCall {
  return readStoredItem(item) && CALLS.has(item.type) && handleOf(item) !== null;
}

/** The name of a call in the client's answer; null if no client answers the item. */
export function handleOf(item: StoredItem): string | null {
  if (item.type === "local_shell_call" || item.type === "mcp_approval_request") return item.id;
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}

/** The handle of the call that an item answers; null if it answers none. */
export function answeredBy(item: StoredItem): string | null {
  if (item.type === "local_shell_call_output") return item.id;
  if (item.type === "mcp_approval_response") return item.approval_request_id;
  return item.type.endsWith("_output") ? handleOf(item) : null;
}
