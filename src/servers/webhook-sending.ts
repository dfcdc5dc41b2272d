import type { Logger } from "@antiphon/base/logger.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import type { WebhookContext } from "../responses-api/operations/webhooks/create-webhook-endpoint.ts";
import type { Store } from "../store/open-store.ts";
import { guardedPost } from "../webhooks/webhook-post.ts";
import { type OwnerSeal, sealedSecrets } from "../webhooks/webhook-secrets.ts";
import { WebhookSender } from "../webhooks/webhook-sender.ts";
import type { Telemetry } from "./choices/choose-telemetry.ts";

interface Foundations {
  readonly store: Pick<Store, "webhooks">;
  readonly sealer: OwnerSeal;
  readonly egress: Pick<Egress, "openGuarded">;
  readonly telemetry: Pick<Telemetry, "webhooks">;
}

export interface WebhookSending {
  /** What the operations on endpoints work with. */
  readonly context: WebhookContext;
  /** Call it before the store is closed. `until`: aborts when it waits for answers no longer. */
  stop(until: AbortSignal): Promise<void>;
}

/** Starts to send events to the endpoints of webhooks. */
export function startWebhooks({ store, sealer, egress, telemetry }: Foundations, log: Logger): WebhookSending {
  const { endpoints, queue } = store.webhooks;
  const secrets = sealedSecrets(sealer);
  const post = guardedPost(egress, secrets);
  const sender = new WebhookSender({ queue, post, observer: telemetry.webhooks, log });
  return { context: { endpoints, secrets, post }, stop: (until) => sender.stop(until) };
}
