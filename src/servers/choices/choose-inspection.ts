import type { Logger } from "@antiphon/base/logger.ts";
import type { PricedTokens, PriceTable } from "@antiphon/domain/inspection.ts";
import type { Config } from "../../config/load-config.ts";
import { readPrices } from "../../config/prices-file.ts";
import { ExchangeLog } from "../../responses-api/exchanges/exchange-log.ts";
import type { Store } from "../../store/open-store.ts";

const TOKENS_PRICED = 1_000_000;
/** Sums are rounded to this many digits, because prices of single tokens have no exact binary form. */
const DIGITS = 9;

/** Null if the settings store no exchanges. */
export function chooseExchangeLog(
  config: Pick<Config, "keepExchanges">,
  { exchanges }: Pick<Store, "exchanges">,
  log: Logger,
): ExchangeLog | null {
  if (config.keepExchanges === "none") return null;
  return new ExchangeLog(exchanges, (fault) => log.warn({ err: fault }, "an exchange could not be stored"));
}

/** The prices of the settings. Throws `ConfigError` if their file cannot be used. */
export function choosePrices({ pricesFile }: Pick<Config, "pricesFile">): PriceTable {
  const prices = readPrices(pricesFile);
  if (prices === null) return { priceOf: () => null };
  const families = Object.keys(prices.models)
    .filter((name) => name.endsWith("*"))
    .toSorted((one, other) => other.length - one.length);
  return {
    priceOf(model, { inputTokens, cachedTokens = 0, outputTokens }: PricedTokens) {
      const family = families.find((name) => model.startsWith(name.slice(0, -1)));
      const price = prices.models[model] ?? (family === undefined ? undefined : prices.models[family]);
      if (price === undefined) return null;
      const { input, cachedInput, output } = price;
      const sum = (inputTokens - cachedTokens) * input + cachedTokens * cachedInput + outputTokens * output;
      return { amount: Number((sum / TOKENS_PRICED).toFixed(DIGITS)), currency: prices.currency };
    },
  };
}
