import type { RateLimiter } from "@antiphon/domain/rates.ts";
import type { KeyBudgets } from "./key-budgets.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** Limits what keys may use, and counts what they have used. */
export interface KeyAccounts {
  readonly limiter: RateLimiter;
  readonly budgets: KeyBudgets;
  readonly meter: UsageMeter;
}
