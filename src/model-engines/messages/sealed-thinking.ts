import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ThinkingBlock } from "./request/messages-wire.ts";

/** Begins what this engine sealed: another engine's seals begin otherwise. */
const MARK = "messages\n";

type Reasoning = Pick<Extract<InputItem, { type: "reasoning" }>, "encrypted_content" | "content">;

/** What a model server adds to a block of thinking. The text of the thinking is that of the item. */
export function sealedSignature(signature: string): string {
  return MARK + JSON.stringify({ signature });
}

/** A block of thinking whose text nobody but the model server can read. */
export function sealedRedaction(data: string): string {
  return MARK + JSON.stringify({ data });
}

/** The block of thinking that a reasoning item came from; null if it came from another kind of model server. */
export function thinkingBlock({ encrypted_content: sealedText, content }: Reasoning): ThinkingBlock | null {
  const members = sealedText?.startsWith(MARK) === true ? jsonOrUndefined(sealedText.slice(MARK.length)) : null;
  if (!isRecord(members)) return null;
  const { signature, data } = members;
  if (typeof data === "string") return { type: "redacted_thinking", data };
  const thinking = (content ?? []).map(({ text }) => text).join("");
  return typeof signature === "string" ? { type: "thinking", thinking, signature } : null;
}
