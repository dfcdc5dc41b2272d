import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { UnknownHolds } from "@antiphon/base/streams/unknown-holds.ts";
import { WakeUp } from "@antiphon/base/streams/wake-up.ts";
import type { WebhookAttempt } from "@antiphon/contracts/responses-api/types.ts";
import {
  type AfterAttempt,
  DELIVERY_LIFE_SECONDS,
  type DueDelivery,
  type WebhookPost,
  type WebhookQueue,
} from "@antiphon/domain/webhooks.ts";

/** Observes deliveries, for metrics. */
export interface WebhookObserver {
  noteAttempt(outcome: "accepted" | "failed" | "lost"): void;
  /** The events that wait in the database, and the age of the one that has been due longest. */
  noteLoad(load: { readonly waiting: number; readonly oldestDueMs: number }): void;
}

export interface WebhookSenderParts {
  readonly queue: WebhookQueue;
  readonly post: WebhookPost;
  readonly observer: WebhookObserver;
  readonly log: Logger;
}

const SENDS_MAX = 32;
const SENDS_PER_ENDPOINT_MAX = 4;
/** How often the queue is looked at for events of other processes and of dead ones, in milliseconds. */
const INTERVAL_MS = 5_000;
/** The pause after a database fault, in milliseconds. */
const FAULT_PAUSE_MS = 1_000;
/** Old deliveries are forgotten at most once in this time. */
const FORGET_INTERVAL_MS = 60_000;
const STATUS_GONE = 410;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The pauses after failed attempts: about 72 hours in all. */
const PAUSES_MS = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  6 * HOUR_MS,
] as const;
/** Pauses are longer or shorter by up to this part, so that events that failed together do not return together. */
const JITTER = 0.1;

/** What follows an attempt. `round`: the failed ones before it. `random`: from 0 to 1. */
export function afterAttempt(
  { error, status_code: status }: WebhookAttempt,
  round: number,
  random: number,
): AfterAttempt {
  if (error === null) return { type: "delivered" };
  if (status === STATUS_GONE) return { type: "gone" };
  const pauseMs = PAUSES_MS[round];
  return pauseMs === undefined
    ? { type: "over" }
    : { type: "again", pauseMs: Math.round(pauseMs * (1 + JITTER * (2 * random - 1))) };
}

/** Sends due events until it is stopped. Several processes of one database share the work. */
export class WebhookSender {
  readonly #parts: WebhookSenderParts;
  readonly #stopping = new AbortController();
  readonly #cutting = new AbortController();
  readonly #wakeUp = new WakeUp();
  /** The events that are being sent. These promises never reject. */
  readonly #underWay = new Map<DueDelivery, Promise<void>>();
  /** Events that this process holds and does not send. */
  readonly #unknownHolds: UnknownHolds;
  readonly #running: Promise<void>;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(parts: WebhookSenderParts) {
    this.#parts = parts;
    this.#unknownHolds = new UnknownHolds(() => parts.queue.releaseOthers([...this.#underWay.keys()]));
    parts.queue.listen(() => this.#wakeUp.wake());
    this.#running = this.#run();
  }

  /** Sends nothing more, and waits for the answers to what is sent. `until`: aborts when it waits no longer. */
  async stop(until: AbortSignal): Promise<void> {
    this.#stopping.abort();
    const cut = (): void => this.#cutting.abort();
    if (until.aborted) cut();
    else until.addEventListener("abort", cut, { once: true });
    await this.#running;
    until.removeEventListener("abort", cut);
  }

  async #run(): Promise<void> {
    const stopping = this.#stopping.signal;
    while (!stopping.aborted) {
      try {
        await this.#wakeUp.wait(await this.#sendDue(), stopping);
      } catch (fault) {
        this.#unknownHolds.suspect();
        if (stopping.aborted) break;
        this.#parts.log.error({ err: fault }, "sending webhooks was interrupted; retrying");
        await sleep(FAULT_PAUSE_MS, null, { signal: stopping }).catch(() => null);
      }
    }
    await Promise.all(this.#underWay.values());
    await this.#unknownHolds.free().catch((fault: unknown) => {
      this.#parts.log.error(
        { err: fault },
        "an event could not be left to others; it is sent once this process is gone",
      );
    });
  }

  /** Begins to send all that is due, and resolves to the time until the next look, in milliseconds. */
  async #sendDue(): Promise<number> {
    const { queue, observer } = this.#parts;
    await this.#unknownHolds.free();
    await this.#forgetOld();
    while (this.#underWay.size < SENDS_MAX && !this.#stopping.signal.aborted) {
      const claim = await queue.claim(this.#busyEndpoints());
      if (claim.type === "none") {
        observer.noteLoad(await queue.load());
        return Math.min(INTERVAL_MS, claim.dueInMs ?? INTERVAL_MS);
      }
      this.#begin(claim.delivery);
    }
    return INTERVAL_MS; // Woken when one has ended.
  }

  #busyEndpoints(): readonly string[] {
    const counts = new Map<string, number>();
    for (const { address } of this.#underWay.keys())
      counts.set(address.endpointId, (counts.get(address.endpointId) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= SENDS_PER_ENDPOINT_MAX).map(([id]) => id);
  }

  #begin(delivery: DueDelivery): void {
    const sending = this.#send(delivery)
      .catch((fault: unknown) => {
        this.#unknownHolds.suspect();
        if (!this.#cutting.signal.aborted)
          this.#parts.log.error({ err: fault, eventId: delivery.event.id }, "an event could not be sent; retrying");
      })
      .finally(() => {
        this.#underWay.delete(delivery);
        this.#wakeUp.wake();
      });
    this.#underWay.set(delivery, sending);
  }

  async #send(delivery: DueDelivery): Promise<void> {
    const { queue, post, observer, log } = this.#parts;
    const { event, address } = delivery;
    const attempt = await post.send(address, event, this.#cutting.signal);
    const next = afterAttempt(attempt, delivery.round, Math.random());
    const isHeld = await queue.settle(delivery, attempt, next);
    observer.noteAttempt(isHeld ? (attempt.error === null ? "accepted" : "failed") : "lost");
    const { error, status_code: status } = attempt;
    log.info({ endpointId: address.endpointId, eventId: event.id, error, status, next: next.type }, "webhook was sent");
  }

  async #forgetOld(): Promise<void> {
    if (performance.now() - this.#forgotAt < FORGET_INTERVAL_MS) return;
    const before = Math.floor(Date.now() / 1000) - DELIVERY_LIFE_SECONDS;
    while ((await this.#parts.queue.deleteOld(before)) > 0 && !this.#stopping.signal.aborted);
    this.#forgotAt = performance.now();
  }
}
