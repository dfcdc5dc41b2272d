import { createHmac, randomBytes } from "node:crypto";
import { ownerText } from "@antiphon/domain/owner.ts";
import type { WebhookSecrets } from "@antiphon/domain/webhooks.ts";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
const HINT_CHARACTERS = 4;
/** Sets these seals apart from others of the same owner. */
const PLACE = "webhook";

/** Encrypts text for an owner. */
export interface OwnerSeal {
  seal(text: string, place: string, owner: string): string;
  /** Null if it cannot be opened. */
  open(sealedText: string, owner: string): string | null;
}

/** Signing secrets that are stored sealed. */
export function sealedSecrets(sealer: OwnerSeal): WebhookSecrets {
  return {
    create: (owner) => {
      const secret = PREFIX + randomBytes(KEY_BYTES).toString("base64");
      const sealedText = sealer.seal(secret, PLACE, ownerText(owner));
      return { secret, sealedText, hint: `…${secret.slice(-HINT_CHARACTERS)}` };
    },
    open: (owner, sealedText) => sealer.open(sealedText, ownerText(owner)),
  };
}

/**
 * The header `webhook-signature` of Standard Webhooks: an HMAC-SHA256 for each secret. `timestamp`: in Unix seconds, as
 * it is sent.
 */
export function webhookSignature(
  secrets: readonly string[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
    })
    .join(" ");
}
