import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";

/** What the seal of a reasoning item keeps from its client. */
export interface ReasoningSecret {
  readonly text: string;
  /** The form that only the model server reads; null if it sent none. */
  readonly sealedText: string | null;
}

/** Begins a secret of two parts. Any other secret is its text, as all secrets of earlier releases are. */
const TWO_PARTS = "\u0000";

export function writeReasoningSecret({ text, sealedText }: ReasoningSecret): string {
  if (sealedText === null && !text.startsWith(TWO_PARTS)) return text;
  return TWO_PARTS + JSON.stringify({ text, sealedText });
}

export function readReasoningSecret(secret: string): ReasoningSecret {
  const parts = secret.startsWith(TWO_PARTS) ? jsonOrUndefined(secret.slice(TWO_PARTS.length)) : null;
  if (!isRecord(parts)) return { text: secret, sealedText: null };
  const { text, sealedText } = parts;
  return {
    text: typeof text === "string" ? text : "",
    sealedText: typeof sealedText === "string" ? sealedText : null,
  };
}

type Reasoning = Extract<InputItem, { type: "reasoning" }>;

/**
 * Reasoning as a model is shown it: with its text, unless it shows one, and with what only its model server can read.
 * Null if the seal is not valid.
 */
export function withOpenSecret<Item extends Pick<Reasoning, "content" | "encrypted_content">>(
  item: Item,
  open: (sealedText: string) => string | null,
): (Omit<Item, "encrypted_content"> & Pick<Reasoning, "content" | "encrypted_content">) | null {
  const { encrypted_content: seal, ...visibleItem } = item;
  const secret = seal == null ? null : open(seal);
  if (secret === null) return null;
  const { text, sealedText } = readReasoningSecret(secret);
  const showsText = (item.content ?? []).length > 0;
  // A client that changed the shown text would break what its model server signed.
  const isShown = text === "" || (showsText && sealedText === null);
  return {
    ...visibleItem,
    ...(isShown ? {} : { content: [{ type: "reasoning_text", text }] }),
    ...(sealedText === null ? {} : { encrypted_content: sealedText }),
  };
}
