import type { Logger } from "@antiphon/base/logger.ts";
import { COUNTS_ADDED_MAX, sumOfAmounts, type UsageCount, type UsageStore } from "@antiphon/domain/usage.ts";

/** How long counts wait to be written together, in milliseconds. A crash loses them. */
const WRITE_INTERVAL_MS = 1_000;
/** The maximum of waiting counts of different minutes and subjects. Further ones are lost, and the log says so. */
const WAITING_MAX = 10_000;
const MINUTE_SECONDS = 60;

/** Collects what was used and writes it in batches, so that no request waits for it. */
export class UsageLedger {
  readonly #store: Pick<UsageStore, "add">;
  readonly #log: Logger;
  readonly #listeners: ((count: UsageCount) => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  #waiting = new Map<string, UsageCount>();
  #writing: Promise<void> | null = null;
  #lost = 0;

  constructor(store: Pick<UsageStore, "add">, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => void this.flush(), WRITE_INTERVAL_MS).unref();
  }

  /** Calls this with each count, at once. */
  follow(listener: (count: UsageCount) => void): void {
    this.#listeners.push(listener);
  }

  note(count: UsageCount): void {
    for (const listener of this.#listeners) listener(count);
    this.#collect(count);
  }

  /** Writes all that was noted so far. Never rejects: what cannot be written is tried again. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#writing === null && this.#waiting.size > 0)
      this.#writing = this.#write().finally(() => {
        this.#writing = null;
      });
    await this.#writing;
  }

  /** Writes what is left, once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    if (this.#waiting.size > 0) this.#log.error({ counts: this.#waiting.size }, "counts of usage are lost");
  }

  #collect(count: UsageCount): void {
    const subject = subjectName(count);
    const earlier = this.#waiting.get(subject);
    if (earlier === undefined && this.#waiting.size >= WAITING_MAX) return this.#lose();
    this.#waiting.set(
      subject,
      earlier === undefined ? count : { ...earlier, amounts: sumOfAmounts(earlier.amounts, count.amounts) },
    );
  }

  #lose(): void {
    if (this.#lost === 0) this.#log.error({ waiting: WAITING_MAX }, "too many counts of usage wait: some are lost");
    this.#lost += 1;
  }

  async #write(): Promise<void> {
    const counts = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (let start = 0; start < counts.length; start += COUNTS_ADDED_MAX) {
      try {
        await this.#store.add(counts.slice(start, start + COUNTS_ADDED_MAX));
      } catch (error) {
        this.#log.warn({ err: error }, "usage could not be written; trying again");
        for (const count of counts.slice(start)) this.#collect(count);
        return;
      }
    }
    if (this.#lost > 0) this.#log.error({ counts: this.#lost }, "counts of usage were lost");
    this.#lost = 0;
  }
}

/** Counts of one minute and subject become one. */
function subjectName({ at, owner, amounts: _amounts, ...subject }: UsageCount): string {
  const { keyId, kind, model, serviceTier, currency } = subject;
  const minute = Math.floor(at / MINUTE_SECONDS);
  return JSON.stringify([minute, owner.organization, owner.project, keyId, kind, model, serviceTier, currency]);
}
