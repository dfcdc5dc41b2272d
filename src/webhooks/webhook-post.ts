import type { WebhookAttempt } from "@antiphon/contracts/responses-api/types.ts";
import { ownerText } from "@antiphon/domain/owner.ts";
import type { WebhookAddress, WebhookEvent, WebhookPost, WebhookSecrets } from "@antiphon/domain/webhooks.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import { EgressError, type EgressReason } from "@antiphon/egress/egress-error.ts";
import { webhookSignature } from "./webhook-secrets.ts";

/** An attempt that has no answer after this time has failed. */
const TIMEOUT_MS = 15_000;
/** Answers are not used. */
const REPLY_BYTES_MAX = 1024 * 1024;

type AttemptError = Exclude<WebhookAttempt["error"], null>;

/** Posts events, signed as Standard Webhooks says, through the guard. Follows no redirect. */
export function guardedPost(
  egress: Pick<Egress, "openGuarded">,
  secrets: WebhookSecrets,
  timeoutMs = TIMEOUT_MS,
): WebhookPost {
  return {
    async send(address, event, signal) {
      const startedMs = Date.now();
      const started = performance.now();
      const at = Math.floor(startedMs / 1000);
      const outcome = await outcomeOf(egress, secrets, { address, event, at, timeoutMs }, signal);
      return { at, duration_ms: Math.round(performance.now() - started), ...outcome };
    },
  };
}

interface Posting {
  readonly address: WebhookAddress;
  readonly event: WebhookEvent;
  /** In Unix seconds. */
  readonly at: number;
  readonly timeoutMs: number;
}

async function outcomeOf(
  egress: Pick<Egress, "openGuarded">,
  secrets: WebhookSecrets,
  { address, event, at, timeoutMs }: Posting,
  signal: AbortSignal,
): Promise<Pick<WebhookAttempt, "error" | "status_code">> {
  const { owner, url, sealedSecrets } = address;
  const [secret, ...others] = sealedSecrets.map((sealedText) => secrets.open(owner, sealedText));
  if (secret === undefined || secret === null) return { error: "unreadable_secret", status_code: null };
  const body = eventBody(event);
  const readable = [secret, ...others.filter((other) => other !== null)];
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const reply = await egress.openGuarded(url, {
      kind: null,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": event.id,
        "webhook-timestamp": String(at),
        "webhook-signature": webhookSignature(readable, { id: event.id, timestamp: at, body }),
      },
      body,
      bytesMax: REPLY_BYTES_MAX,
      signal: AbortSignal.any([signal, deadline]),
      caller: ownerText(owner),
    });
    await reply.body?.cancel().catch(() => {});
    return { error: reply.ok ? null : "not_accepted", status_code: reply.status };
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted) return { error: "timeout", status_code: null };
    if (!(error instanceof EgressError)) throw error;
    return { error: ERRORS[error.reason], status_code: null };
  }
}

const ERRORS: Readonly<Record<EgressReason, AttemptError>> = {
  switched_off: "forbidden",
  invalid_url: "forbidden",
  forbidden: "forbidden",
  unreachable: "unreachable",
  timeout: "timeout",
  too_many_redirects: "redirected",
  redirected: "redirected",
  bad_status: "unreachable",
  bad_encoding: "unreachable",
  wrong_type: "unreachable",
  too_large: "unreachable",
};

/** Says only what happened to what: whoever receives it fetches the rest with a key. */
function eventBody({ id, type, createdAt, subjectId }: WebhookEvent): string {
  return JSON.stringify({ id, object: "event", created_at: createdAt, type, data: dataOf(type, subjectId) });
}

function dataOf(type: string, id: string): object {
  if (type !== "antiphon.response.action_required") return { id };
  return { id, required_action: { type: "mcp_approval_request" } };
}
