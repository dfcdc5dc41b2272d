import type { Logger } from "@antiphon/base/logger.ts";
import type { PricedTokens, PriceTable } from "@antiphon/domain/inspection.ts";
import type { Config } from "../../config/load-config.ts";
import { type ModelPrice, type Prices, readPrices } from "../../config/prices-file.ts";
import { ExchangeLog } from "../../responses-api/exchanges/exchange-log.ts";
import type { Store } from "../../store/open-store.ts";
import type { ModelServers } from "./choose-model-servers.ts";

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
export function choosePrices(
  { pricesFile }: Pick<Config, "pricesFile">,
  servers: Pick<ModelServers, "priceOf"> | null,
): PriceTable {
  const prices = readPrices(pricesFile);
  const listed = prices === null ? { priceOf: () => null } : tableOf(prices);
  if (servers === null) return listed;
  return {
    priceOf: (model, tokens) => {
      const price = servers.priceOf(model);
      return price === null ? listed.priceOf(model, tokens) : priced(price, tokens, price.currency);
    },
  };
}

function tableOf(prices: Prices): PriceTable {
  const families = Object.keys(prices.models)
    .filter((name) => name.endsWith("*"))
    .toSorted((one, other) => other.length - one.length);
  return {
    priceOf(model, tokens) {
      const family = families.find((name) => model.startsWith(name.slice(0, -1)));
      const price = prices.models[model] ?? (family === undefined ? undefined : prices.models[family]);
      return price === undefined ? null : priced(price, tokens, prices.currency);
    },
  };
}

function priced(
  { input, cachedInput, output }: ModelPrice,
  { inputTokens, cachedTokens = 0, outputTokens }: PricedTokens,
  currency: string,
) {
  const sum = (inputTokens - cachedTokens) * input + cachedTokens * cachedInput + outputTokens * output;
  return { amount: Number((sum / TOKENS_PRICED).toFixed(DIGITS)), currency };
}
