import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

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
