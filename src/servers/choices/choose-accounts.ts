import type { Logger } from "@antiphon/base/logger.ts";
import type { PriceTable } from "@antiphon/domain/inspection.ts";
import type { KeyFinder } from "@antiphon/domain/keys.ts";
import type { RateLimiter } from "@antiphon/domain/rates.ts";
import type { RunBus } from "../../bus/run-bus.ts";
import type { Config } from "../../config/load-config.ts";
import { CachedKeys } from "../../responses-api/access/cached-keys.ts";
import type { KeyAccounts } from "../../responses-api/access/key-accounts.ts";
import { KeyBudgets } from "../../responses-api/access/key-budgets.ts";
import { UsageLedger } from "../../responses-api/access/usage-ledger.ts";
import { UsageMeter } from "../../responses-api/access/usage-meter.ts";
import type { Store } from "../../store/open-store.ts";
import { choosePrices } from "./choose-inspection.ts";
import type { ChosenModel } from "./choose-model.ts";

/** What counts and limits the use of models. */
export interface OpenedAccounts {
  readonly accounts: KeyAccounts;
  readonly prices: PriceTable;
  /** To be closed once nothing is counted any more. */
  readonly ledger: UsageLedger;
}

interface AccountParts {
  readonly store: Pick<Store, "usage">;
  readonly model: Pick<ChosenModel, "servers">;
  readonly limiter: RateLimiter;
}

/** Throws `ConfigError` if the prices cannot be used. */
export function openAccounts(config: Config, { store, model, limiter }: AccountParts, log: Logger): OpenedAccounts {
  const prices = choosePrices(config, model.servers);
  const ledger = new UsageLedger(store.usage, log);
  const accounts = { limiter, budgets: new KeyBudgets(store.usage, ledger), meter: new UsageMeter(ledger, prices) };
  return { accounts, prices, ledger };
}

/** `bus`: announces changed keys. */
export function cacheKeys(finder: KeyFinder, bus: RunBus | null): CachedKeys {
  const cachedKeys = new CachedKeys(finder);
  bus?.accept({ forgetKeys: () => cachedKeys.forget() });
  return cachedKeys;
}
