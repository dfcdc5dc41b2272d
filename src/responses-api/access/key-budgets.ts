import type { BudgetPeriod, KeyBudget } from "@antiphon/domain/keys.ts";
import type { KeySpending, UsageCount, UsageStore } from "@antiphon/domain/usage.ts";
import { budgetSpent } from "../errors/organization-errors.ts";
import type { Principal } from "./authenticate.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/** How long a sum of the database is used, in milliseconds. What other servers count is noticed after it. */
const READ_INTERVAL_MS = 1_000;
/** The maximum of keys whose sums are in memory. */
const KEYS_MAX = 1_024;
const DAY_SECONDS = 86_400;
const WEEK_DAYS = 7;
/** The first day of Unix time was a Thursday. */
const DAYS_SINCE_MONDAY = 3;

interface KnownSpending {
  readonly bounds: PeriodBounds;
  readonly readAt: number;
  /** Whether `spent` has the sum of the database. */
  isRead: boolean;
  /** Grows with each count of this server. */
  spent: KeySpending;
}

/** Compares what keys have used with their budgets. */
export class KeyBudgets {
  readonly #store: Pick<UsageStore, "spentSince">;
  readonly #ledger: Pick<UsageLedger, "flush">;
  readonly #known = new Map<string, KnownSpending>();
  readonly #readings = new Map<string, Promise<KnownSpending>>();

  constructor(store: Pick<UsageStore, "spentSince">, ledger: Pick<UsageLedger, "flush" | "follow">) {
    this.#store = store;
    this.#ledger = ledger;
    ledger.follow((count) => this.#add(count));
  }

  /** Throws the 429 error if the key has used its budget. */
  async requireRoom({ keyId, keyName, budget }: Principal): Promise<void> {
    if (budget == null) return;
    const { spent, bounds } = await this.#spendingOf(keyId, budget);
    const isSpent =
      (budget.nanos !== null && spent.nanos >= budget.nanos) ||
      (budget.tokens !== null && spent.tokens >= budget.tokens);
    if (isSpent) throw budgetSpent({ keyId, keyName: keyName ?? null, budget, spent, renewsAt: bounds.end });
  }

  /** What a key has used in the current period of its budget. */
  async spending(keyId: string, budget: KeyBudget): Promise<KeySpending & { readonly renewsAt: number | null }> {
    const { spent, bounds } = await this.#spendingOf(keyId, budget);
    return { ...spent, renewsAt: bounds.end };
  }

  async #spendingOf(keyId: string, { period }: KeyBudget): Promise<KnownSpending> {
    const now = performance.now();
    const bounds = periodBounds(period, Math.floor(Date.now() / 1000));
    const known = this.#known.get(keyId);
    const isFresh = known?.isRead === true && now - known.readAt < READ_INTERVAL_MS;
    if (isFresh && known.bounds.start === bounds.start) return known;
    const name = `${keyId} ${bounds.start}`;
    const reading = this.#readings.get(name) ?? this.#read(keyId, bounds).finally(() => this.#readings.delete(name));
    this.#readings.set(name, reading);
    return await reading;
  }

  /** What this server has counted is written first, so that the sum has it. */
  async #read(keyId: string, bounds: PeriodBounds): Promise<KnownSpending> {
    await this.#ledger.flush();
    const readAt = performance.now();
    const entry: KnownSpending = { bounds, readAt, isRead: false, spent: { nanos: 0, tokens: 0 } };
    this.#known.delete(keyId);
    this.#known.set(keyId, entry); // It hears what is counted while the sum is read.
    if (this.#known.size > KEYS_MAX) for (const [oldest] of [...this.#known].slice(0, 1)) this.#known.delete(oldest);
    try {
      const stored = await this.#store.spentSince(keyId, bounds.start);
      entry.spent = sumOfSpendings(stored, entry.spent);
      entry.isRead = true;
      return entry;
    } catch (error) {
      this.#known.delete(keyId);
      throw error;
    }
  }

  #add({ keyId, amounts: { nanos, inputTokens, outputTokens } }: UsageCount): void {
    const entry = keyId === null ? undefined : this.#known.get(keyId);
    if (entry !== undefined) entry.spent = sumOfSpendings(entry.spent, { nanos, tokens: inputTokens + outputTokens });
  }
}

function sumOfSpendings(one: KeySpending, other: KeySpending): KeySpending {
  return { nanos: one.nanos + other.nanos, tokens: one.tokens + other.tokens };
}

/** Times in Unix seconds. */
export interface PeriodBounds {
  readonly start: number;
  /** When the next period begins; null if there is none. */
  readonly end: number | null;
}

/** The period of UTC in which a time falls. */
export function periodBounds(period: BudgetPeriod, at: number): PeriodBounds {
  if (period === "total") return { start: 0, end: null };
  if (period === "month") return monthBounds(new Date(at * 1000));
  const day = Math.floor(at / DAY_SECONDS);
  const days = period === "day" ? 1 : WEEK_DAYS;
  const first = period === "day" ? day : day - ((day + DAYS_SINCE_MONDAY) % WEEK_DAYS);
  return { start: first * DAY_SECONDS, end: (first + days) * DAY_SECONDS };
}

function monthBounds(date: Date): PeriodBounds {
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  return { start: Date.UTC(year, month) / 1000, end: Date.UTC(year, month + 1) / 1000 };
}
